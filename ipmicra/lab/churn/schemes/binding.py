"""Our schemes: late binding from one pool (central), and among neighbours (decentral)."""

from __future__ import annotations

import numpy as np

from ipmicra.assign.balance.binding import Binder, BindingWorld
from ipmicra.assign.balance.config import BindingConfig
from ipmicra.lab.churn.crawling import QUEUED
from ipmicra.lab.churn.scheme import Fifo, SchemeView
from ipmicra.lab.churn.schemes.zones import Lbi

_MANY = 1 << 40
"""More pieces than anybody holds."""


def binder_of(setting: SchemeView, config: BindingConfig) -> Binder:
    """Make a binder that knows what coordinates predict and learns what crawls show."""
    work, churn = setting.crawling.work, setting.config
    known = BindingWorld(
        expected_ms=setting.world.expected_ms.copy(),
        site=work.site,
        pages=work.pages,
        last_crawler=setting.crawling.last_crawler,
        fixed_ms=churn.fixed_ms,
        step_ms=churn.step_ms,
    )
    return Binder(known, config)


class Pool(Fifo):
    """All waiting pieces are one pool; a free connection takes what suits it best. Needs a central view."""

    def __init__(self, setting: SchemeView, config: BindingConfig | None = None) -> None:
        """Start without experience."""
        super().__init__(setting)
        self.binder = binder_of(setting, config or BindingConfig())

    def joined(self, crawler: int, now: float) -> None:
        """Note the start."""
        self.binder.joined(crawler, now)

    def left(self, crawler: int, now: float) -> None:
        """Learn from the end."""
        self.binder.left(crawler, now)

    def choose(self, piece: int, now: float) -> int:
        """Return the best crawler with a free connection; without one, who holds least keeps it for all."""
        crawling = self.crawling
        free = np.flatnonzero(crawling.free)
        found = self.binder.crawler_for(piece, free, now) if len(free) else None
        if found is not None:
            return found
        return int(np.where(crawling.is_there, crawling.held, _MANY).argmin())

    def heir(self, piece: int, leaver: int, now: float) -> int:  # noqa: ARG002
        """Treat the pieces of a leaving crawler as if they were submitted again."""
        return self.choose(piece, now)

    def next_for(self, crawler: int, now: float) -> int | None:
        """Take the best of all that wait anywhere."""
        return self.binder.piece_for(crawler, np.flatnonzero(self.crawling.state == QUEUED), now)

    def measured(self, piece: int, crawler: int, rtt_ms: float) -> None:
        """Remember the round trip that a crawl has shown."""
        self.binder.world.expected_ms[crawler, self.crawling.work.site[piece]] = rtt_ms


class Neighbourly(Lbi):
    """LBI, with pieces offered to and taken from neighbours: no crawler needs to know all queues."""

    def __init__(self, setting: SchemeView, config: BindingConfig | None = None) -> None:
        """Start without experience."""
        super().__init__(setting)
        self.binder = binder_of(setting, config or BindingConfig())

    def joined(self, crawler: int, now: float) -> None:
        """Note the start."""
        super().joined(crawler, now)
        self.binder.joined(crawler, now)

    def left(self, crawler: int, now: float) -> None:
        """Learn from the end."""
        super().left(crawler, now)
        self.binder.left(crawler, now)

    def choose(self, piece: int, now: float) -> int:
        """Offer a piece to nearby crawlers with a free connection; else forward it as LBI does."""
        around = np.append(self.neighbours(self.owner(piece)), self.owner(piece))
        free = around[self.crawling.free[around] > 0]
        found = self.binder.crawler_for(piece, free, now)
        return super().choose(piece, now) if found is None else found

    def next_for(self, crawler: int, now: float) -> int | None:
        """Take the best of the own queue; if it is empty, of the neighbours' queues."""
        queues = self.crawling.queues
        waiting = list(queues[crawler])
        if not waiting:
            waiting = [piece for other in self.neighbours(crawler).tolist() for piece in queues[other]]
        return self.binder.piece_for(crawler, np.array(waiting, dtype=np.int64), now)

    def measured(self, piece: int, crawler: int, rtt_ms: float) -> None:
        """Remember the round trip that a crawl has shown."""
        self.binder.world.expected_ms[crawler, self.crawling.work.site[piece]] = rtt_ms
