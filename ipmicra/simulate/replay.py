"""Drives a delegator through a world and keeps the score."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ipmicra.delegate.actions import Action, AskProbe, Assigned, GaveUp
from ipmicra.delegate.delegator import Delegator
from ipmicra.delegate.events import CrawlerJoined, CrawlerLeft, Event, ProbeLost, SampleReturned, SiteArrived
from ipmicra.model.sample import Loss, Sample
from ipmicra.simulate.world import World

SECONDS_APART = 1.0
"""Time between two sites of a replay."""
NEAR_MS = 2.0
"""What counts as nearly the shortest round trip."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a site got."""

    site: int
    """Index in the world."""
    crawler: str | None
    """None if the delegator gave up."""
    probes: int
    excess_ms: float
    """Beyond the shortest round trip; infinite if its crawler does not reach it, NaN if nobody does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """How well a list of sites was delegated; shares of the sites that anybody reaches."""

    sites: int
    optimal: float
    within_2ms: float
    probes_per_site: float
    mean_excess_ms: float
    """Over the sites whose crawler reaches them."""
    excess_of_suboptimal_ms: float
    """The same over those that another crawler would reach sooner; 0 if there is none."""
    unreached: int
    """Sites whose crawler does not reach them though another would."""


class Replay:
    """A delegator in a world: answers its probes from the matrix."""

    def __init__(self, world: World, delegator: Delegator, *, joined: int | None = None) -> None:
        """Let all crawlers join, or so many of the first ones."""
        self._world, self._delegator = world, delegator
        self._crawlers = {crawler.name: i for i, crawler in enumerate(world.crawlers)}
        self._nearest = world.nearest_ms()
        self._now_s = 0.0
        for crawler in range(len(world.crawlers) if joined is None else joined):
            self.join(crawler)

    def join(self, crawler: int) -> None:
        """Let a crawler of the world join."""
        self._delegator.handle(CrawlerJoined(self._world.crawlers[crawler], self._now_s))

    def leave(self, crawler: int) -> None:
        """Let a crawler leave."""
        self._delegator.handle(CrawlerLeft(self._world.crawlers[crawler].name, self._now_s))

    def run(self, order: Iterable[int]) -> list[Outcome]:
        """Let sites arrive one after another."""
        return [self.arrive(site) for site in order]

    def arrive(self, site: int) -> Outcome:
        """Let one site arrive; give what it got."""
        self._now_s += SECONDS_APART
        pending: deque[Event] = deque([SiteArrived(self._world.sites[site], self._now_s)])
        while pending:
            for action in self._delegator.handle(pending.popleft()):
                if isinstance(action, AskProbe):
                    pending.append(self._answer(action, site))
                elif (outcome := self._outcome(action, site)) is not None:
                    return outcome
        raise AssertionError("a site got no answer")  # the delegator always answers

    def _answer(self, ask: AskProbe, site: int) -> Event:
        rtt_ms = float(self._world.rtt_ms[self._crawlers[ask.crawler], site])
        if np.isnan(rtt_ms):
            return ProbeLost(ask.attempt, ask.crawler, Loss.TIMEOUT, self._now_s)
        sample = Sample(crawler=ask.crawler, address=ask.address, rtt_ms=rtt_ms, taken_s=self._now_s)
        return SampleReturned(ask.attempt, sample, self._now_s)

    def _outcome(self, action: Action, site: int) -> Outcome | None:
        if isinstance(action, GaveUp):
            return Outcome(site, None, 0, float("inf"))
        if not isinstance(action, Assigned):
            return None
        excess = float(self._world.rtt_ms[self._crawlers[action.crawler], site] - self._nearest[site])
        if np.isnan(excess) and not np.isnan(self._nearest[site]):
            excess = float("inf")
        return Outcome(site, action.crawler, action.probes, excess)


def score(outcomes: Sequence[Outcome]) -> Score:
    """Count how many sites got the nearest crawler, and at what cost."""
    excess = np.array([outcome.excess_ms for outcome in outcomes])
    excess = excess[~np.isnan(excess)]
    reached = excess[np.isfinite(excess)]
    worse = reached[reached > 0]
    return Score(
        sites=len(outcomes),
        optimal=float((excess <= 0).mean()) if len(excess) else 0.0,
        within_2ms=float((excess <= NEAR_MS).mean()) if len(excess) else 0.0,
        probes_per_site=float(np.mean([outcome.probes for outcome in outcomes])) if outcomes else 0.0,
        mean_excess_ms=float(reached.mean()) if len(reached) else 0.0,
        excess_of_suboptimal_ms=float(worse.mean()) if len(worse) else 0.0,
        unreached=int(len(excess) - len(reached)),
    )
