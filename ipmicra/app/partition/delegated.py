"""The delegator as a method of partitioning: it delegates the list in a world, with its own probes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ipmicra.delegate.machine import DelegationMachine
from ipmicra.delegate.policies.predict.policy import Predict
from ipmicra.delegate.replay.quality import SiteOutcome
from ipmicra.delegate.replay.replay import Replay
from ipmicra.delegate.replay.world import LocationKind, World, locations_of
from ipmicra.delegate.subnets import SubnetTree
from ipmicra.errors import InputError
from ipmicra.model.address import Address
from ipmicra.model.crawler import Crawler
from ipmicra.model.location import Location
from ipmicra.model.site import Site
from ipmicra.partition.crawlers import CrawlerTable
from ipmicra.partition.problem import Column, Problem
from ipmicra.partition.sites import SiteTable

EXACT_KM = 5.0
"""Radius of a place that a file gives as latitude and longitude."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldDecider:
    """The delegator, answered from a problem's true round trips; crawlers may be fewer than the fleet."""

    tree: SubnetTree
    sites: Sequence[Site]
    fleet: Sequence[Address]
    """Addresses of the crawlers, in the order of joining."""

    def decide(self, problem: Problem) -> Column:
        """Delegate all sites, one after another."""
        replay = self._replay(problem, problem.parts)
        return _column(replay.run(range(len(self.sites))), problem)

    def decide_again(self, before: Problem, after: Problem) -> Column:
        """Delegate, let the last crawler join or leave, and ask for all sites once more.

        What was delegated is carried over. The delegator asks a newcomer where it may be nearer, and decides
        anew what a leaver held.
        """
        larger = max(before, after, key=lambda one: one.parts)
        replay = self._replay(larger, before.parts)
        replay.run(range(len(self.sites)))
        for crawler in range(before.parts, after.parts):
            replay.join(crawler)
        for crawler in range(after.parts, before.parts):
            replay.leave(crawler)
        return _column(replay.run(range(len(self.sites))), larger)

    def _replay(self, problem: Problem, joined: int) -> Replay:
        world = self._world(problem)
        places = locations_of(world, LocationKind.WORLD, {})
        return Replay(world, DelegationMachine(self.tree, Predict(), locations=places), joined=joined)

    def _world(self, problem: Problem) -> World:
        """Make a world of the problem."""
        if problem.rtt_ms is None:
            raise InputError("delegated needs round trips (--world)")
        crawlers, sites = problem.crawlers, problem.sites
        named = zip(crawlers.names, self.fleet, strict=False)
        return World(
            name="the list",
            crawlers=tuple(
                Crawler(name=name, address=address, location=_place(crawlers, i))
                for i, (name, address) in enumerate(named)
            ),
            sites=tuple(self.sites),
            rtt_ms=problem.rtt_ms.T,
            places=tuple(_place(sites, i) for i in range(len(sites))),
            countries=(None,) * len(sites),
        )


def _column(outcomes: Iterable[SiteOutcome], problem: Problem) -> Column:
    """Number the crawlers of outcomes; an unassigned site counts for the first."""
    numbers = {name: number for number, name in enumerate(problem.crawlers.names)}
    return np.array([numbers[one.crawler] if one.crawler else 0 for one in outcomes], np.int32)


def _place(table: SiteTable | CrawlerTable, row: int) -> Location | None:
    """Return a place of a table, None where it has none."""
    latitude, longitude = float(table.latitude[row]), float(table.longitude[row])
    if not (np.isfinite(latitude) and np.isfinite(longitude)):
        return None
    return Location(latitude=latitude, longitude=longitude, radius_km=EXACT_KM)
