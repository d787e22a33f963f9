"""Choosing among registrations of the same range, and among organisations of the same handle."""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(nogil=True, cache=True)
def _detail(lengths, country, date, row):
    """Count the fields that say something."""
    count = (country[row] != 0) + (date[row] != 0)
    for column in range(lengths.shape[1]):
        count += lengths[row, column] != 0
    return count


@numba.njit(nogil=True, cache=True)
def _compare_text(text, starts, lengths, a, b):
    """Order two rows by their texts: -1, 0 or 1."""
    a_at, b_at = np.int64(starts[a]), np.int64(starts[b])
    for column in range(lengths.shape[1]):
        a_size, b_size = np.int64(lengths[a, column]), np.int64(lengths[b, column])
        for i in range(min(a_size, b_size)):
            if text[a_at + i] != text[b_at + i]:
                return -1 if text[a_at + i] < text[b_at + i] else 1
        if a_size != b_size:
            return -1 if a_size < b_size else 1
        a_at += a_size
        b_at += b_size
    return 0


@numba.njit(nogil=True, cache=True)
def is_better(text, starts, lengths, country, date, registry, holder, a, b):
    """Tell whether row a wins over row b: more detail, then newer, then by content alone.

    Content is compared in the order registry, country, kind of handle, texts; the smaller wins. The input's
    order decides nothing, so that the same dumps always give the same hierarchy.
    """
    detail = _detail(lengths, country, date, a) - _detail(lengths, country, date, b)
    if detail != 0:
        return detail > 0
    if date[a] != date[b]:
        return date[a] > date[b]
    if registry[a] != registry[b]:
        return registry[a] < registry[b]
    if country[a] != country[b]:
        return country[a] < country[b]
    if holder[a] != holder[b]:
        return holder[a] < holder[b]
    return _compare_text(text, starts, lengths, a, b) < 0


@numba.njit(nogil=True, cache=True)
def pick_winners(order, is_same, text, starts, lengths, country, date, registry, holder, out, losers):
    """Keep one row of each run of same ranges; `is_same[i]` says that row i equals the one before.

    Writes the winners in order, and (loser, winner) for the others. Gives (winners, losers).
    """
    winners = 0
    lost = 0
    i = 0
    while i < order.size:
        stop = i + 1
        while stop < order.size and is_same[stop]:
            stop += 1
        best = np.int64(order[i])
        for k in range(i + 1, stop):
            row = np.int64(order[k])
            if is_better(text, starts, lengths, country, date, registry, holder, row, best):
                best = row
        for k in range(i, stop):
            row = np.int64(order[k])
            if row != best:
                losers[lost, 0], losers[lost, 1] = row, best
                lost += 1
        out[winners] = best
        winners += 1
        i = stop
    return winners, lost
