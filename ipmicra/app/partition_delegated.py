"""The delegator as a method of partitioning: it delegates the list in a world, with its own probes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ipmicra.app.partition_inputs import Gathered
from ipmicra.delegate.delegator import Delegator
from ipmicra.delegate.policies.predict import Predict
from ipmicra.errors import InputError
from ipmicra.model.crawler import Crawler
from ipmicra.model.location import Location
from ipmicra.model.site import Site
from ipmicra.partition.crawlers import CrawlerTable
from ipmicra.partition.problem import Column, Problem
from ipmicra.partition.sites import SiteTable
from ipmicra.simulate.replay import Replay
from ipmicra.simulate.world import LocationKind, World, locations_of

EXACT_KM = 5.0
"""Radius of a place that a file gives as latitude and longitude."""


def delegated_by(gathered: Gathered) -> Callable[[Problem], Column]:
    """Make the function that delegates the sites; a problem may have fewer crawlers than were gathered."""

    def delegate(problem: Problem) -> Column:
        world = _world(gathered, problem)
        tree = gathered.hierarchy
        if tree is None:
            raise InputError("delegated needs a hierarchy: name it with --hierarchy FILE")
        places = locations_of(world, LocationKind.WORLD, {})
        outcomes = Replay(world, Delegator(tree, Predict(), locations=places)).run(range(len(world.sites)))
        numbers = {crawler.name: number for number, crawler in enumerate(world.crawlers)}
        return np.array([numbers[one.crawler] if one.crawler else 0 for one in outcomes], np.int32)

    return delegate


def _world(gathered: Gathered, problem: Problem) -> World:
    """Make a world of what was gathered."""
    fleet = gathered.crawler_addresses[: problem.parts]
    if problem.rtt_ms is None or None in gathered.addresses or None in fleet:
        raise InputError("delegated needs round trips, and an address of every site and crawler (--world)")
    crawlers, sites = problem.crawlers, problem.sites
    return World(
        name="the list",
        crawlers=tuple(
            Crawler(name=name, address=address, location=_place(crawlers, i))
            for i, (name, address) in enumerate(zip(crawlers.names, fleet, strict=True))
            if address is not None
        ),
        sites=tuple(
            Site(host, address)
            for host, address in zip(gathered.hosts, gathered.addresses, strict=True)
            if address is not None
        ),
        rtt_ms=problem.rtt_ms.T,
        places=tuple(_place(sites, i) for i in range(len(sites))),
        countries=(None,) * len(sites),
    )


def _place(table: SiteTable | CrawlerTable, row: int) -> Location | None:
    """Give a place of a table, None where it has none."""
    latitude, longitude = float(table.latitude[row]), float(table.longitude[row])
    if not (np.isfinite(latitude) and np.isfinite(longitude)):
        return None
    return Location(latitude=latitude, longitude=longitude, radius_km=EXACT_KM)
