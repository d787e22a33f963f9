"""Drives a delegator through a world and keeps the score."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ipmicra.delegate.actions import Action, AskProbe, Assigned, GaveUp
from ipmicra.delegate.events import CrawlerJoined, CrawlerLeft, Event, ProbeLost, SampleReturned, SiteArrived
from ipmicra.delegate.machine import DelegationMachine
from ipmicra.delegate.replay.world import World
from ipmicra.model.sample import Loss, Sample
from ipmicra.model.types import Floats

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
    rtt_ms: float
    """From its crawler; NaN if that does not reach it or never measured it."""
    excess_ms: float
    """Beyond the shortest round trip; infinite if its crawler does not reach it, NaN if nobody does or the
    pair was never measured."""
    is_judged: bool
    """Whether the pair was measured."""
    askable: int
    """Crawlers that measured the site."""


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
    mean_rtt_ms: float
    """Over the sites whose crawler reaches them."""
    judged: float
    """Share of the sites whose crawler measured them; the others count for nothing but their probes."""
    everyone_probes_per_site: float
    """What it takes to ask every crawler that measured a site."""
    saved_ms: dict[str, float]
    """Mean round trip that is saved on other ways to assign, by name, over sites where both are known."""
    others_ms: dict[str, float]
    """Mean round trip of those other ways, over the sites that they reach."""


class Replay:
    """A delegator in a world: answers its probes from the matrix."""

    def __init__(self, world: World, delegator: DelegationMachine, *, joined: int | None = None) -> None:
        """Let all crawlers join, or so many of the first ones."""
        self._world, self._delegator = world, delegator
        self._crawlers = {crawler.name: i for i, crawler in enumerate(world.crawlers)}
        self._judge = Judge(world)
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
        if self._world.measured is not None:
            crawlers = self._world.crawlers
            self._delegator.roster.limit(crawlers[i].name for i in self._world.measured_from(site))
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
            return self._judge.outcome(site, None, 0)
        if not isinstance(action, Assigned):
            return None
        return self._judge.outcome(site, self._crawlers[action.crawler], action.probes)


class Judge:
    """Says what a crawler is worth to a site, by the world's round trips."""

    def __init__(self, world: World) -> None:
        """Find each site's shortest round trip."""
        self._world = world
        self._nearest_ms, self._askable = world.nearest_ms(), world.pairs_per_site()

    def outcome(self, site: int, crawler: int | None, probes: int) -> Outcome:
        """Judge the crawler that a site is given; None for nobody."""
        askable = int(self._askable[site])
        if crawler is None:
            return Outcome(site, None, probes, float("nan"), float("inf"), True, askable)  # noqa: FBT003
        rtt_ms, nearest_ms = float(self._world.rtt_ms[crawler, site]), float(self._nearest_ms[site])
        is_judged = self._world.is_measured(crawler, site)
        excess = rtt_ms - nearest_ms
        if is_judged and np.isnan(rtt_ms) and not np.isnan(nearest_ms):
            excess = float("inf")
        name = self._world.crawlers[crawler].name
        return Outcome(site, name, probes, rtt_ms, excess, is_judged, askable)


def score(outcomes: Sequence[Outcome], others_ms: Mapping[str, Floats] | None = None) -> Score:
    """Count how many sites got the nearest crawler, and at what cost; `others_ms` has round trips by site."""
    sites = np.array([outcome.site for outcome in outcomes], np.int64)
    rtt_ms = np.array([outcome.rtt_ms for outcome in outcomes])
    others = others_ms or {}
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
        mean_rtt_ms=_mean(rtt_ms),
        judged=float(np.mean([outcome.is_judged for outcome in outcomes])) if outcomes else 0.0,
        everyone_probes_per_site=_mean(np.array([outcome.askable for outcome in outcomes], np.float64)),
        saved_ms={name: _mean(other[sites] - rtt_ms) for name, other in others.items()},
        others_ms={name: _mean(other[sites]) for name, other in others.items()},
    )


def _mean(values: Floats) -> float:
    """Give the mean of what is known; NaN if nothing is."""
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")
