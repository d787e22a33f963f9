"""Replaying a delegation in a world whose round trips are known.

How it works
------------
The machine takes events and returns actions; its driver decides what an event is. Here the driver is
a loop without a network: a site arrives, the machine asks for probes, the answers are looked up in the
world's matrix and handed back as events, until the machine assigns the site or gives up. Exactly the code
that runs in production decides, only the answers are known beforehand and come at once.

- Sites arrive one after another, `SECONDS_APART`, and each is settled before the next one arrives. What the
  machine learns from one it may use for all later ones, so the order of arrival matters: policies
  are compared on the same orders.
- A NaN in the matrix is a lost probe.
- In a world where not every pair was measured, a site is offered only to the crawlers that measured it: for
  the others the truth is unknown, and a wrong guess could not be distinguished from a right one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ipmicra.delegate.actions import Action, AskProbe, Assigned, Delegated, GaveUp
from ipmicra.delegate.events import CrawlerJoined, CrawlerLeft, Event, ProbeLost, SampleReturned, SiteArrived
from ipmicra.delegate.machine import DelegationMachine
from ipmicra.delegate.replay.quality import GroundTruth, SiteOutcome
from ipmicra.delegate.replay.world import World
from ipmicra.model.sample import Loss, Sample

SECONDS_APART = 1.0
"""Time between two sites of a replay."""


class Replay:
    """A delegator in a world: answers its probes from the matrix."""

    def __init__(
        self,
        world: World,
        delegator: DelegationMachine,
        *,
        joined: int | None = None,
        asks_chance: bool = False,
    ) -> None:
        """Let all crawlers join, or so many of the first ones.

        With `asks_chance` the policy says of each decision how sure it is, which takes time.
        """
        self._asks_chance = asks_chance
        self._world, self._delegator = world, delegator
        self._crawlers = {crawler.name: i for i, crawler in enumerate(world.crawlers)}
        self._truth = GroundTruth(world)
        self._now_s = 0.0
        for crawler in range(len(world.crawlers) if joined is None else joined):
            self.join(crawler)
        self._teach_mutual()

    def _teach_mutual(self) -> None:
        """Let the delegator learn from the round trips between crawlers, where the world has them."""
        mutual_ms, crawlers = self._world.mutual_ms, self._world.crawlers
        if mutual_ms is None:
            return
        for i, j in np.argwhere(mutual_ms > 0).tolist():
            if i != j:
                sample = Sample(
                    crawler=crawlers[i].name, address=crawlers[j].address, rtt_ms=float(mutual_ms[i, j])
                )
                self._delegator.learn([sample])

    def join(self, crawler: int) -> None:
        """Let a crawler of the world join."""
        self._delegator.handle(CrawlerJoined(self._world.crawlers[crawler], self._now_s))

    def leave(self, crawler: int) -> None:
        """Let a crawler leave."""
        self._delegator.handle(CrawlerLeft(self._world.crawlers[crawler].name, self._now_s))

    def run(self, order: Iterable[int]) -> list[SiteOutcome]:
        """Let sites arrive one after another."""
        return [self.arrive(site) for site in order]

    def arrive(self, site: int) -> SiteOutcome:
        """Let one site arrive; return what it got."""
        self._now_s += SECONDS_APART
        if self._world.measured is not None:
            crawlers = self._world.crawlers
            self._delegator.roster.limit(crawlers[i].name for i in self._world.measured_from(site))
        pending: deque[Event] = deque([SiteArrived(self._world.sites[site], self._now_s)])
        chance: float | None = None
        while pending:
            for action in self._delegator.handle(pending.popleft()):
                if isinstance(action, AskProbe):
                    pending.append(self._answer(action, site))
                elif isinstance(action, Delegated) and self._asks_chance and action.account.chance:
                    chance = action.account.chance()
                elif (outcome := self._outcome(action, site)) is not None:
                    return replace(outcome, chance=chance)
        raise AssertionError("a site got no answer")  # the delegator always answers

    def _answer(self, ask: AskProbe, site: int) -> Event:
        crawler, address = ask.probe.crawler, self._world.sites[site].address
        rtt_ms = float(self._world.rtt_ms[self._crawlers[crawler], site])
        if np.isnan(rtt_ms):
            return ProbeLost(ask.attempt, crawler, Loss.TIMEOUT, self._now_s)
        sample = Sample(crawler=crawler, address=address, rtt_ms=rtt_ms, taken_s=self._now_s)
        return SampleReturned(ask.attempt, sample, self._now_s)

    def _outcome(self, action: Action, site: int) -> SiteOutcome | None:
        if isinstance(action, GaveUp):
            return self._truth.outcome(site, None, 0)
        if not isinstance(action, Assigned):
            return None
        decision = action.decision
        outcome = self._truth.outcome(site, self._crawlers[decision.crawler], decision.probes)
        return replace(outcome, evidence=decision.evidence)
