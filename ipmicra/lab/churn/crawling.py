"""Who crawls what at the moment: queues, running tasks, loads."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ipmicra.lab.churn.config import ChurnConfig
from ipmicra.lab.churn.population import ChurnWorld, Work
from ipmicra.model.types import NOBODY

IDLE, QUEUED, EXECUTING = 0, 1, 2
"""States of a piece: unassigned, waiting at a crawler, being downloaded."""


class Crawling:
    """State of all pieces and crawlers; times are in steps.

    A piece is with one crawler at most, and one connection at most downloads it.
    """

    def __init__(self, world: ChurnWorld, work: Work, config: ChurnConfig) -> None:
        """Start without crawlers and without work."""
        self.work = work
        self._pages: list[int] = work.pages.tolist()
        self._connections = config.connections
        self.steps: NDArray[np.float64] = (
            (world.rtt_ms[:, work.site] + config.fixed_ms) * work.pages / config.step_ms
        )
        """What each crawler (row) needs for each piece (column)."""
        self.state = np.zeros(len(work), dtype=np.int8)
        self.holder = np.full(len(work), NOBODY)
        self.last_crawler = np.full(len(work), NOBODY)
        """Who executed a piece last."""
        self.is_there = np.zeros(world.crawlers, dtype=bool)
        self.executing = np.zeros(world.crawlers, dtype=np.int64)
        """Connections in use."""
        self.free = np.zeros(world.crawlers, dtype=np.int64)
        """Connections not in use, of crawlers that are there."""
        self.held = np.zeros(world.crawlers, dtype=np.int64)
        """Pieces executing or queued."""
        self.held_pages = np.zeros(world.crawlers)
        self.queues: list[dict[int, None]] = [{} for _ in range(world.crawlers)]
        """First come, first served; a dictionary because pieces are taken out of the middle too."""
        self.running: list[dict[int, float]] = [{} for _ in range(world.crawlers)]
        """When each executing piece was started."""

    def join(self, crawler: int) -> None:
        """Mark a crawler as present."""
        self.is_there[crawler], self.free[crawler] = True, self._connections

    def leave(self, crawler: int) -> None:
        """Mark a crawler as gone; the caller drops what it holds."""
        self.is_there[crawler], self.free[crawler] = False, 0

    def queue(self, piece: int, crawler: int) -> None:
        """Let a crawler hold a piece."""
        self.state[piece], self.holder[piece] = QUEUED, crawler
        self.queues[crawler][piece] = None
        self._weigh(piece, crawler, 1)

    def start(self, piece: int, crawler: int, now: float) -> float:
        """Start a queued piece, here or taken over from another's queue; return when it will be done."""
        if self.holder[piece] != crawler:
            self.drop(piece)
            self._weigh(piece, crawler, 1)
        else:
            del self.queues[crawler][piece]
        self.state[piece], self.holder[piece] = EXECUTING, crawler
        self.executing[crawler] += 1
        self.free[crawler] -= 1
        self.running[crawler][piece] = now
        self.last_crawler[piece] = crawler
        return float(now + self.steps[crawler, piece])

    def drop(self, piece: int) -> int:
        """Take a piece from its crawler; return that crawler."""
        crawler = int(self.holder[piece])
        if self.state[piece] == EXECUTING:
            del self.running[crawler][piece]
            self.executing[crawler] -= 1
            self.free[crawler] += int(self.is_there[crawler])
        else:
            del self.queues[crawler][piece]
        self.state[piece], self.holder[piece] = IDLE, NOBODY
        self._weigh(piece, crawler, -1)
        return crawler

    def done_share(self, piece: int, now: float) -> float:
        """Return which part of an executing piece is downloaded."""
        crawler = int(self.holder[piece])
        return float((now - self.running[crawler][piece]) / self.steps[crawler, piece])

    def has_free_connection(self, crawler: int) -> bool:
        """Return whether a crawler can start something."""
        return bool(self.free[crawler] > 0)

    def _weigh(self, piece: int, crawler: int, sign: int) -> None:
        self.held[crawler] += sign
        self.held_pages[crawler] += sign * self._pages[piece]
