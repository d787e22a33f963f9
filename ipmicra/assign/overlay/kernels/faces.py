"""Who borders whom, and routing hop by hop."""

from __future__ import annotations

import numba
import numpy as np

from ipmicra.assign.overlay.kernels.tree import leaf_of

DEPTH = 4096
"""Room for zones still to be looked at; a path down the tree leaves at most one on each level."""


@numba.njit(nogil=True, cache=True)
def _shares_face(tree, zone, low, high):
    """Tell whether a zone and a box touch in one dimension and overlap in all others."""
    touching = 0
    for k in range(len(low)):
        if tree.high[zone, k] == low[k] or tree.low[zone, k] == high[k]:
            touching += 1
        elif tree.high[zone, k] < low[k] or tree.low[zone, k] > high[k]:
            return False
    return touching == 1


@numba.njit(nogil=True, cache=True)
def _gather(tree, zone, low, high, found, count):
    """Append the leaves that share a face with a box; beyond the room of `found` they are only counted."""
    stack = np.empty(DEPTH, np.int32)
    stack[0] = 0
    size = 1
    while size:
        size -= 1
        here = stack[size]
        axis = tree.axis[here]
        if axis < 0:
            if here != zone and _shares_face(tree, here, low, high):
                if count < len(found):
                    found[count] = here
                count += 1
            continue
        if low[axis] <= tree.cut[here]:
            stack[size] = tree.child[here]
            size += 1
        if high[axis] >= tree.cut[here]:
            stack[size] = tree.child[here] + 1
            size += 1
    return count


@numba.njit(nogil=True, cache=True)
def neighbours_of(tree, zone, is_torus, found):
    """Write the zones that share a face with a zone; give how many there are.

    On a torus opposite ends of the space touch; a zone may then border another on two sides and is named
    twice.
    """
    low, high = tree.low[zone].copy(), tree.high[zone].copy()
    count = _gather(tree, zone, low, high, found, 0)
    if not is_torus:
        return count
    for k in range(len(low)):
        span = tree.high[0, k] - tree.low[0, k]
        keep_low, keep_high = low[k], high[k]
        if keep_low == tree.low[0, k] and keep_high < tree.high[0, k]:
            low[k], high[k] = tree.high[0, k], tree.high[0, k] + span
            count = _gather(tree, zone, low, high, found, count)
        if keep_high == tree.high[0, k] and keep_low > tree.low[0, k]:
            low[k], high[k] = tree.low[0, k] - span, tree.low[0, k]
            count = _gather(tree, zone, low, high, found, count)
        low[k], high[k] = keep_low, keep_high
    return count


@numba.njit(nogil=True, cache=True)
def distance_to(tree, zone, point, is_torus):
    """Give the squared distance from a point to a zone."""
    total = 0.0
    for k in range(len(point)):
        low, high = tree.low[zone, k], tree.high[zone, k]
        away = max(low - point[k], point[k] - high, 0.0)
        if is_torus and away > 0:
            span = tree.high[0, k] - tree.low[0, k]
            away = min(away, max(low - point[k] + span, 0.0), max(point[k] + span - high, 0.0))
        total += away * away
    return total


@numba.njit(nogil=True, cache=True)
def _is_within(tree, zone, point, k):
    """Tell whether a zone holds a point as far as one dimension goes."""
    is_below_end = point[k] < tree.high[zone, k] or tree.high[zone, k] == tree.high[0, k]
    return tree.low[zone, k] <= point[k] and is_below_end


@numba.njit(nogil=True, cache=True)
def _holds(tree, zone, point):
    """Tell whether a zone holds a point."""
    for k in range(len(point)):
        if not _is_within(tree, zone, point, k):
            return False
    return True


@numba.njit(nogil=True, cache=True)
def _across(tree, zone, point, is_torus):
    """Give the neighbour across the first face beyond which a point lies.

    Compares bounds only, so that it also tells zones apart whose distances are rounded to the same number.
    """
    inside = np.empty(len(point))
    axis = -1
    for k in range(len(point)):
        low, high = tree.low[zone, k], tree.high[zone, k]
        if axis < 0 and not _is_within(tree, zone, point, k):
            axis = k
        inside[k] = min(max(point[k], low), np.nextafter(high, low))
    low, high = tree.low[zone, axis], tree.high[zone, axis]
    start, end = tree.low[0, axis], tree.high[0, axis]
    is_up = point[axis] >= high
    if is_torus:
        straight = point[axis] - high if is_up else low - point[axis]
        around = low - point[axis] + (end - start) if is_up else point[axis] + (end - start) - high
        is_up = is_up == (straight <= around)
    if is_up:
        inside[axis] = high if high < end else start
    else:
        inside[axis] = np.nextafter(low, -np.inf) if low > start else end
    return leaf_of(tree, inside)


@numba.njit(nogil=True, cache=True)
def route(tree, start, point, is_torus, path):
    """Walk from a zone to the one that holds a point, always to the neighbour nearest to it; give the hops.

    A hop uses nothing but the zones of one's neighbours, as a real crawler would. The zone across the face on
    the way to the point is always nearer, so the walk ends. -1 if `path` is too short.
    """
    found = np.empty(256, np.int32)
    here = start
    hops = 0
    while not _holds(tree, here, point):
        if hops == len(path):
            return -1
        count = neighbours_of(tree, here, is_torus, found)
        if count > len(found):
            found = np.empty(2 * count, np.int32)
            neighbours_of(tree, here, is_torus, found)
        left = distance_to(tree, here, point, is_torus)
        best = here
        for i in range(count):
            away = distance_to(tree, found[i], point, is_torus)
            if away < left or (away == 0 and _holds(tree, found[i], point)):
                best, left = found[i], away
        here = best if best != here else _across(tree, here, point, is_torus)
        path[hops] = here
        hops += 1
    return hops


@numba.njit(nogil=True, cache=True)
def hops_of_many(tree, starts, points, is_torus, hops):
    """Count the hops of many walks."""
    path = np.empty(tree.counts[0] + 1, np.int32)
    for i in range(len(starts)):
        hops[i] = route(tree, starts[i], points[i], is_torus, path)
