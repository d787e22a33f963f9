"""What the experiment asks of a scheme, and what a scheme gets to see."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ipmicra.lab.churn.config import ChurnConfig
from ipmicra.lab.churn.crawling import Crawling
from ipmicra.lab.churn.population import ChurnWorld


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemeView:
    """What a scheme works with; it must not look at `world.rtt_ms`, the truth."""

    world: ChurnWorld
    crawling: Crawling
    config: ChurnConfig
    rng: np.random.Generator


class SchemePolicy(Protocol):
    """Who crawls a piece. The experiment calls, the policy answers; it moves nothing itself."""

    def joined(self, crawler: int, now: float) -> None:
        """Note that a crawler joined."""

    def left(self, crawler: int, now: float) -> None:
        """Note that a crawler left."""

    def choose(self, piece: int, now: float) -> int:
        """Return the crawler that gets a submitted piece; at least one is present."""

    def heir(self, piece: int, leaver: int, now: float) -> int:
        """Return the crawler that repeats a leaving crawler's piece; at least one is present."""

    def next_for(self, crawler: int, now: float) -> int | None:
        """Return the queued piece that a crawler's free connection starts, or none."""

    def measured(self, piece: int, crawler: int, rtt_ms: float) -> None:
        """Note the round trip that a completed crawl has shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheme:
    """A named way to distribute work."""

    name: str
    make: Callable[[SchemeView], SchemePolicy]
    is_split: bool = False
    """Whether larger sites are crawled in pieces."""
    is_central: bool = False
    """Whether it needs one place that knows all queues."""


class Fifo:
    """What most policies share: queues are served in order, at home, and nothing is learnt."""

    def __init__(self, setting: SchemeView) -> None:
        """Keep what there is to see."""
        self.setting = setting
        self.crawling = setting.crawling

    def next_for(self, crawler: int, now: float) -> int | None:  # noqa: ARG002
        """Start what has waited longest here."""
        return next(iter(self.crawling.queues[crawler]), None)

    def measured(self, piece: int, crawler: int, rtt_ms: float) -> None:
        """Learn nothing."""
