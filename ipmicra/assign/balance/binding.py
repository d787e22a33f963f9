"""Late binding: a piece is bound to a crawler when a connection is free, not when it is submitted."""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ipmicra.assign.balance.config import BindingConfig
from ipmicra.model.types import Floats, Rows
from ipmicra.native import kernels

_AGES = 1024
"""Steps of age in which lives are counted, up to the longest one."""
_LEAST_LIFE = 1e-9
_PER_AGE = 4
"""Place of the steps of age per unit of time among the weights that compiled code takes."""
_NO_LIVES: Rows = np.zeros(0, dtype=np.int64)


class Lives:
    """How long crawlers stayed, as far as observed: the basis for how long those of now will stay."""

    def __init__(self) -> None:
        """Start without experience."""
        self._ended: list[float] = []
        self.counts: Rows = np.zeros(0, dtype=np.int64)
        """Lives that ended at or before each step of age; empty while none ended."""
        self.width = 1.0
        """A step of age."""

    def __len__(self) -> int:
        """Count the ended lives."""
        return len(self._ended)

    def end(self, life: float) -> None:
        """Record how long a crawler stayed."""
        insort(self._ended, life)
        self.width = max(self._ended[-1], _LEAST_LIFE) / _AGES
        grid = np.arange(_AGES + 1) * self.width
        self.counts = np.searchsorted(np.array(self._ended), grid, side="right")
        self.counts[-1] = len(self._ended)  # whatever rounding made of the longest


@dataclass(frozen=True, slots=True, kw_only=True)
class BindingWorld:
    """What is known about pieces and crawlers; its arrays may change between calls."""

    expected_ms: Floats
    """Expected round trip from each crawler (row) to each site (column)."""
    site: Rows
    """Site of each piece."""
    pages: Rows
    """Pages of each piece."""
    last_crawler: Rows
    """The crawler that crawled each piece last; -1 for none."""
    fixed_ms: float
    """Time of a page beside the round trip."""
    step_ms: float
    """Length of the unit of time."""


class Binder:
    """Chooses pieces for free connections, and free connections for pieces.

    It prefers near pieces, those that the crawler crawled before, and long ones; it avoids what will probably
    not be done before the crawler leaves. Times are in the unit of `BindingWorld.step_ms`.
    """

    def __init__(self, world: BindingWorld, config: BindingConfig) -> None:
        """Start with crawlers whose lives are unknown."""
        self.world = world
        self.config = config
        self.lives = Lives()
        self._since = np.zeros(len(world.expected_ms))
        per_step = 1 / world.step_ms
        length = config.long_first * world.pages * per_step  # what a millisecond of each page is worth
        self._slope, self._offset = 1 - length, -length * world.fixed_ms
        self._weights = np.array([config.stay_ms, config.risk, world.fixed_ms, per_step, 1.0])
        self._counts = _NO_LIVES

    def joined(self, crawler: int, now: float) -> None:
        """Record when a crawler joined."""
        self._since[crawler] = now

    def left(self, crawler: int, now: float) -> None:
        """Learn from a crawler's end."""
        self.lives.end(now - float(self._since[crawler]))
        if len(self.lives) >= self.config.least_lives:
            self._counts, self._weights[_PER_AGE] = self.lives.counts, 1 / self.lives.width

    def piece_for(self, crawler: int, waiting: Rows, now: float) -> int | None:
        """Choose one of the waiting pieces; None if there is none."""
        found = kernels.best_piece(crawler, waiting, now, self._since, self._counts, *self._arrays())
        return found if found >= 0 else None

    def crawler_for(self, piece: int, free: Rows, now: float) -> int | None:
        """Choose one of the crawlers that have a free connection; None if there is none."""
        found = kernels.best_crawler(piece, free, now, self._since, self._counts, *self._arrays())
        return found if found >= 0 else None

    def _arrays(self) -> tuple[NDArray[Any], ...]:
        world = self.world
        return (
            world.expected_ms,
            world.site,
            world.pages,
            self._slope,
            self._offset,
            world.last_crawler,
            self._weights,
        )
