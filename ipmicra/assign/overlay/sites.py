"""Which crawler holds which sites."""

from __future__ import annotations

import numpy as np

from ipmicra.model.types import Floats, Rows


class Sites:
    """Sites that were inserted: where they are, and who holds each."""

    def __init__(self, dimensions: int) -> None:
        """Start empty."""
        self.points = np.empty((0, dimensions))
        self.originals = np.empty((0, dimensions))
        """Before they were clamped to the space."""
        self.holder = np.empty(0, np.int64)
        self._held: dict[int, list[int]] = {}

    def __len__(self) -> int:
        """Count the sites."""
        return len(self.holder)

    def add(self, points: Floats, originals: Floats, holders: Rows) -> Rows:
        """Add sites; return their numbers."""
        numbers = np.arange(len(self), len(self) + len(points))
        self.points = np.concatenate([self.points, points])
        self.originals = np.concatenate([self.originals, originals])
        self.holder = np.concatenate([self.holder, holders])
        for number, holder in zip(numbers.tolist(), holders.tolist(), strict=True):
            self._held.setdefault(holder, []).append(number)
        return numbers

    def of(self, crawler: int) -> list[int]:
        """Return the sites that a crawler holds."""
        return self._held.get(crawler, [])

    def load(self, crawler: int) -> int:
        """Count the sites that a crawler holds."""
        return len(self._held.get(crawler, ()))

    def within(self, crawler: int, low: Floats, high: Floats) -> list[int]:
        """Return the sites of a crawler that lie in a box; the caller knows that boxes are half-open."""
        held = self.of(crawler)
        if not held:
            return []
        places = self.points[held]
        is_in = np.asarray(((places >= low) & (places <= high)).all(axis=1))
        return [number for number, inside in zip(held, is_in, strict=True) if inside]

    def move(self, numbers: list[int], crawler: int) -> None:
        """Assign sites to a crawler."""
        for number in numbers:
            self._held[int(self.holder[number])].remove(number)
            self._held.setdefault(crawler, []).append(number)
        self.holder[numbers] = crawler

    def hand_over(self, crawler: int, takers: Rows) -> list[int]:
        """Hand the sites of a leaving crawler to others, one per site; return the sites."""
        moved = self._held.pop(crawler, [])
        for number, taker in zip(moved, takers.tolist(), strict=True):
            self._held.setdefault(taker, []).append(number)
        self.holder[moved] = takers
        return moved

    @property
    def busiest(self) -> int | None:
        """Return the crawler with most sites, the earliest among equals; None where there are no sites."""
        if not self._held:
            return None
        return min(self._held, key=lambda crawler: (-len(self._held[crawler]), crawler))
