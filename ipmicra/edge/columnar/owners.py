"""Who owns many addresses at once: ranges of addresses, nested or apart, each with a number.

The ranges are flattened into segments, in which one narrowest range decides, so that a look-up is one
bisection: in IPv4 by numpy, in IPv6 by sorting addresses among the segments, as no number has 128 bits.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ipmicra.hierarchy.finder import LOW_WORD, MAPPED

NOBODY = -1
Range = tuple[int, int, int]
"""First and last address as numbers of 128 bits, IPv4 as IPv4-mapped IPv6, and a number from 0 on."""


@dataclass(frozen=True, slots=True)
class OwnedRanges:
    """Segments of address space with the number of their narrowest range."""

    high: NDArray[np.uint64]
    low: NDArray[np.uint64]
    """Words of the first address of each segment, in order."""
    owner: NDArray[np.int32]
    """Of each segment; -1 for nobody."""

    @classmethod
    def of_ranges(cls, ranges: Iterable[Range]) -> OwnedRanges:
        """Flatten ranges that are nested or apart; of two with the same bounds the later counts."""
        segments: list[tuple[int, int]] = [(0, NOBODY)]
        around: list[tuple[int, int]] = []
        for first, last, number in sorted(ranges, key=lambda one: (one[0], -one[1])):
            _close(around, segments, before=first)
            _begin(segments, first, number)
            around.append((last, number))
        _close(around, segments, before=1 << 128)
        starts = [divmod(start, LOW_WORD + 1) for start, _ in segments]
        return cls(
            high=np.array([high for high, _ in starts], np.uint64),
            low=np.array([low for _, low in starts], np.uint64),
            owner=np.array([number for _, number in segments], np.int32),
        )

    def of(self, words: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Return the number of the narrowest range of each address; -1 for none."""
        found = np.empty(len(words), np.int32)
        is_narrow = (words[:, 0] == 0) & (words[:, 1] >> np.uint64(32) == MAPPED >> 32)
        begin = int(np.searchsorted(self.high, 0, "left"))
        end = int(np.searchsorted(self.high, 0, "right"))
        at = np.searchsorted(self.low[begin:end], words[is_narrow, 1], "right") - 1
        found[is_narrow] = self.owner[begin + at]
        found[~is_narrow] = self.owner[self._among(words[~is_narrow])]
        return found

    def _among(self, words: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the segment of each address."""
        count = len(self.high)
        high, low = np.concatenate([self.high, words[:, 0]]), np.concatenate([self.low, words[:, 1]])
        is_address = np.arange(len(high)) >= count
        order = np.lexsort((is_address, low, high))
        behind = np.cumsum(~is_address[order]) - 1
        found = np.empty(len(high), np.int64)
        found[order] = behind
        return found[count:]


def _begin(segments: list[tuple[int, int]], start: int, number: int) -> None:
    """Begin a segment; one that begins at the same address gives way."""
    if segments[-1][0] == start:
        segments.pop()
    segments.append((start, number))


def _close(around: list[tuple[int, int]], segments: list[tuple[int, int]], *, before: int) -> None:
    """End the ranges that end before an address; what is around them goes on."""
    while around and around[-1][0] < before:
        last, _ = around.pop()
        if last + 1 < 1 << 128:
            _begin(segments, last + 1, around[-1][1] if around else NOBODY)
