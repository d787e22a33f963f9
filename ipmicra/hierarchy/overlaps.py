"""Count into how many pieces the rule of docs/overlaps.md cuts each range, without cutting it.

Theory of operation
-------------------
A range is cut at every bound of a wider range that lies strictly inside it. A wider range cannot lie inside
a narrower one, so any such bound belongs to a partial overlap, and nothing but its position has to be
checked: the pieces of a range are one more than the distinct bounds of wider ranges inside it.

n ranges, each a step to the right of the one before, are cut into n²/2 pieces. Counting them takes n log n
steps: each distinct bound gets the turn, widest range first, at which it first occurs; the cuts of a range
are the bounds between its own two whose turn is earlier than its own. `_count_below` answers all these
questions together. It sorts the bounds by one bit of their turn after the other (a wavelet matrix) and
follows where each question's interval goes.

Only order matters, so ranks may stand for bounds and widths, as they do for IPv6.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]


def count_pieces(
    start: NDArray[np.uint64], end: NDArray[np.uint64], widths: NDArray[np.uint64]
) -> NDArray[np.int64]:
    """Return the number of pieces of each half-open range; ranges are sorted by start, none occurs twice."""
    count = len(start)
    turns = np.empty(count, np.int64)
    turns[np.argsort(~widths, kind="stable")] = np.arange(count)  # the widest first, then the earliest
    bounds, ranks = np.unique(np.concatenate((start, end)), return_inverse=True)
    first_turn = np.full(len(bounds), count)
    np.minimum.at(first_turn, ranks, np.concatenate((turns, turns)))
    return 1 + _count_below(first_turn, ranks[:count] + 1, ranks[count:], turns)


def _count_below(values: Counts, low: Counts, high: Counts, limits: Counts) -> Counts:
    """Return for each question how many of values[low:high] are below its limit."""
    found = np.zeros(len(limits), np.int64)
    for bit in reversed(range(int(max(values.max(), limits.max())).bit_length())):
        has_bit = (values >> bit & 1).astype(np.bool_)
        without = np.concatenate(([0], np.cumsum(~has_bit)))
        low_without, high_without = without[low], without[high]
        is_set = (limits >> bit & 1).astype(np.bool_)
        found += np.where(is_set, high_without - low_without, 0)
        low = np.where(is_set, without[-1] + low - low_without, low_without)
        high = np.where(is_set, without[-1] + high - high_without, high_without)
        values = np.concatenate((values[~has_bit], values[has_bit]))
    return found
