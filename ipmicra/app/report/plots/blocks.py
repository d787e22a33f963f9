"""Choose the blocks of IPv4 that the Hilbert map shows when most of the space is empty.

Some hundred sites fill a thousandth of the whole map: it would show dots on a sheet. So the map is cut into
blocks: each is a square of the curve, as narrow as the addresses in it allow, drawn as large as all others.

- Blocks have even prefix lengths, because only those are squares of the curve.
- The widest block is split into its four quarters as long as there is room for more blocks.
- A block is divided into as many squares as its addresses fill to a quarter. A block is never narrower than
  its addresses need, so that at least two of its quarters are filled (all of it, if there is one address).
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BITS = 32
NARROWEST = 24
"""Longest prefix of a block: all hosts of a /24 are drawn apart already."""
MOST_ORDER = 4
"""A block has at most 16 × 16 squares."""
FILLED = 4
"""One square in so many is filled, at least."""


@dataclass(frozen=True, slots=True, order=True)
class Block:
    """A square of the curve, by its prefix; and how finely it is divided."""

    length: int
    first: int
    order: int
    """It has 2^order squares per side."""

    @property
    def bits(self) -> int:
        """Prefix length of its squares."""
        return self.length + 2 * self.order


def blocks_in_use(addresses: NDArray[np.int64], most: int) -> list[Block]:
    """Cover addresses by at most so many blocks, in the order of addresses; at least four are allowed."""
    left = np.unique(addresses)
    if not len(left):
        return []
    found: list[tuple[int, int, NDArray[np.int64]]] = [_around(left)]
    while found[0][0] < NARROWEST:
        length, first, inside = found[0]
        quarters = [part for part in np.split(inside, _cuts(inside, length, first)) if len(part)]
        if len(found) - 1 + len(quarters) > most:
            break
        heapq.heapreplace(found, _around(quarters[0]))
        for part in quarters[1:]:
            heapq.heappush(found, _around(part))
    return sorted((_divided(*one) for one in found), key=lambda block: block.first)


def _around(inside: NDArray[np.int64]) -> tuple[int, int, NDArray[np.int64]]:
    """Return the narrowest square that holds rising addresses: its length and first address.

    10.1.0.1 and 10.2.0.1 differ in the last 18 bits: 14 are common, so it is 10.0.0.0/14.
    """
    low, high = int(inside[0]), int(inside[-1])
    length = min((BITS - (low ^ high).bit_length()) // 2 * 2, NARROWEST)
    return length, low >> BITS - length << BITS - length, inside


def _cuts(inside: NDArray[np.int64], length: int, first: int) -> NDArray[np.int64]:
    quarter = 1 << BITS - length - 2
    return np.searchsorted(inside, first + quarter * np.arange(1, 4))


def _divided(length: int, first: int, inside: NDArray[np.int64]) -> Block:
    """Choose the finest division of which enough is filled."""
    for order in range(MOST_ORDER, 0, -1):
        filled = len(np.unique(inside >> BITS - length - 2 * order))
        if filled * FILLED >= 4**order:
            return Block(length, first, order)
    return Block(length, first, 1)
