"""Nesting half-open ranges into a tree, and flattening the tree into segments.

Where two ranges overlap in part, the narrower one is cut at the end of the wider one that lies inside it.
One part then lies inside the wider range and the other outside of it, so that the tree stays a tree, no
address is lost, and the lineage of an address is exactly the ranges that hold it, widest first. Of two
equally wide ranges the one that starts later counts as narrower.
"""

from __future__ import annotations

import heapq

import numba
import numpy as np

from ipmicra.parse.kernels.bytescan import borrow

ALL_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)
DEEPEST = 1 << 16
"""Levels of nesting that the stack holds at first; it grows."""


@numba.njit(nogil=True, cache=True)
def _width(widths, first, end, i):
    """Give the width of a whole range, or its rank where widths do not fit a word."""
    return widths[i] if widths.size else end[i] - first[i]


@numba.njit(nogil=True, cache=True)
def _next_range(pending, first, end, widths, i):
    """Give the next range or piece as (start, end, width of the whole, source), source -1 for none.

    The order is that of starts, then the widest whole first, then the earliest: a piece may be shorter than
    a range of the same start that is narrower than what the piece was cut from, and yet comes above it.
    """
    if i == first.size:
        is_piece = pending[0][2] >= 0
    else:
        is_piece = pending[0] < (first[i], ALL_ONES - _width(widths, first, end, i), np.int64(i), end[i])
    if is_piece:
        start, inverse_width, source, stop = heapq.heappop(pending)
        return start, stop, ALL_ONES - inverse_width, source
    if i == first.size:
        return ALL_ONES, ALL_ONES, ALL_ONES, np.int64(-1)
    return first[i], end[i], _width(widths, first, end, i), np.int64(i)


@numba.njit(nogil=True, cache=True)
def _cut(pending, out_end, top, top_source, top_width, part, is_top_narrower):
    """Cut the narrower of two ranges that overlap in part; what is cut off waits for its turn."""
    start, stop, width, source = part
    if is_top_narrower:
        heapq.heappush(pending, (start, ALL_ONES - top_width, top_source, out_end[top]))
        out_end[top] = start
    else:
        heapq.heappush(pending, (start, ALL_ONES - width, source, out_end[top]))
        heapq.heappush(pending, (out_end[top], ALL_ONES - width, source, stop))


@numba.njit(nogil=True, cache=True)
def _owner_of_end(stack, depth, out_end):
    """Give the row whose own end the top of the stack has: what lies inside may have been cut there."""
    while depth > 1 and out_end[stack[depth - 2]] == out_end[stack[depth - 1]]:
        depth -= 1
    return stack[depth - 1]


@numba.njit(nogil=True, cache=True)
def nest(first, end, widths, out_source, out_first, out_end, out_parent, cuts):
    """Nest ranges sorted by first and widest end; the first of them holds all others.

    Writes for each subnet the range it came from, its bounds and its parent, in preorder, and for each cut
    the range that was cut and the one that cut it. Gives (subnets, cuts); -1 where the room was too small.
    """
    first, end, widths, out_source = borrow(first), borrow(end), borrow(widths), borrow(out_source)
    out_first, out_end, out_parent = borrow(out_first), borrow(out_end), borrow(out_parent)
    stack = np.empty(DEEPEST, np.int64)
    depth = 0
    rows = 0
    cut_count = 0
    pending = [(ALL_ONES, ALL_ONES, np.int64(-1), ALL_ONES)]  # a sentinel behind everything
    i = 0
    while True:
        if i < first.size and len(pending) == 1:
            start, stop, width, source = first[i], end[i], _width(widths, first, end, i), np.int64(i)
        else:
            start, stop, width, source = _next_range(pending, first, end, widths, i)
            if source < 0:
                return rows, cut_count
        i += source == i
        is_whole = True
        while is_whole and depth > 0 and out_end[stack[depth - 1]] < stop:
            top = stack[depth - 1]
            if out_end[top] > start:  # overlaps in part
                if cut_count == len(cuts):
                    return np.int64(-1), cut_count
                over = np.int64(out_source[top])
                over_width = _width(widths, first, end, over)
                is_whole = over_width < width or (over_width == width and first[over] > first[source])
                if is_whole:
                    cuts[cut_count, 0], cuts[cut_count, 1] = over, source
                else:
                    bound = _owner_of_end(stack, depth, out_end)
                    cuts[cut_count, 0], cuts[cut_count, 1] = source, out_source[bound]
                cut_count += 1
                _cut(pending, out_end, top, over, over_width, (start, stop, width, source), is_whole)
            depth -= is_whole
        if is_whole:
            if rows == out_source.size:
                return np.int64(-1), cut_count
            out_source[rows], out_first[rows], out_end[rows] = source, start, stop
            out_parent[rows] = stack[depth - 1] if depth > 0 else 0
            if depth == stack.size:
                stack = np.concatenate((stack, np.empty_like(stack)))
            stack[depth] = rows
            depth += 1
            rows += 1


@numba.njit(nogil=True, cache=True)
def depths(parent, out):
    """Write each subnet's depth, 0 for the root; give the largest."""
    deepest = 0
    out[0] = 0
    for i in range(1, parent.size):
        out[i] = out[parent[i]] + 1
        deepest = max(deepest, out[i])
    return deepest


@numba.njit(nogil=True, cache=True)
def flatten(first, end, parent, segments):
    """Write the pieces of address space that belong to one narrowest subnet, as start << 32 | row.

    10.0.0.0/8 with 10.1.0.0/16 inside gives: 0 → root, 10.0.0.0 → /8, 10.1.0.0 → /16, 10.2.0.0 → /8,
    11.0.0.0 → root.
    """
    count = 0
    top = 0
    last = first.size
    for i in range(last + 1):
        start = first[i] if i < last else end[0]
        while top != 0 and end[top] <= start:
            stop = end[top]
            top = np.int64(parent[top])
            if stop < start:
                count = _add_segment(segments, count, stop, top)
        if i < last:
            count = _add_segment(segments, count, start, i)
            top = i
    return count


@numba.njit(nogil=True, cache=True)
def _add_segment(segments, count, start, row):
    """Append a segment, in place of one that starts at the same address."""
    word = np.uint64(start) << np.uint64(32) | np.uint64(row)
    if count and segments[count - 1] >> np.uint64(32) == np.uint64(start):
        segments[count - 1] = word
        return count
    segments[count] = word
    return count + 1
