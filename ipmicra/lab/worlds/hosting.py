"""An invented world with hosting: a third of its subnets span continents.

How it works
------------
Cities and round trips are those of `ipmicra.lab.worlds.synthetic`; what differs is how addresses are held. A
subnet is a block of a few slices (256 addresses each), registered in one city:

- a block of an *access provider* is in that city, with all of its sites;
- a block of a *hosting company* has a city of its own for each slice, anywhere on Earth, whatever its
  registration says. A holder is of one kind, and one holder in three is a hosting company.

All that is known of a site's place is where its block is registered, give or take a few hundred kilometres.
So two places in three are right and the rest mostly wrong, and nothing marks which. That is what a crawl
meets whose only source is the registries.

Everything is drawn from one generator: a plan and a seed make one world.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from ipaddress import IPv4Address

import numpy as np

from ipmicra.delegate.replay.world import World
from ipmicra.errors import InputError
from ipmicra.lab.worlds.synthetic import WorldPlan, location_of_city, round_trips, scatter_cities
from ipmicra.lab.worlds.trees import (
    FIRST_ADDRESS,
    SUBNET_SIZE,
    RegisteredRanges,
    Registrations,
    Span,
    country_code,
    span_of_subnets,
)
from ipmicra.model.crawler import Crawler
from ipmicra.model.site import Site
from ipmicra.model.types import Rows

REGISTERED_KM = 300.0
"""How well a registration says where a block is, if it is right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostingPlan(WorldPlan):
    """What to invent."""

    slices: int = 4
    """Slices of a subnet."""
    hosting: float = 1 / 3
    """Share of the holders that are hosting companies."""


HOSTING_PLAN = HostingPlan(
    crawlers=50, sites=1_000_000, subnets=200_000, countries=100, cities_per_country=10
)
"""A fleet of some size and a web of some size."""


def invent_hosting(plan: HostingPlan, rng: np.random.Generator) -> tuple[World, RegisteredRanges]:
    """Invent a world and its hierarchy; the places of its sites are those of their registrations."""
    places, lands = scatter_cities(plan, rng)
    registered = np.sort(rng.integers(len(places), size=plan.subnets))
    holders = 1 + np.arange(plan.subnets) // plan.subnets_per_organisation
    is_hosting = rng.random(int(holders[-1]) + 1) < plan.hosting
    cities = np.repeat(registered, plan.slices)
    elsewhere = np.repeat(is_hosting[holders], plan.slices)
    cities[elsewhere] = rng.integers(len(places), size=int(elsewhere.sum()))
    drawn = _addresses(plan, rng)
    of_slice = drawn // SUBNET_SIZE
    crawler_cities = rng.choice(len(places), size=plan.crawlers, replace=plan.crawlers > len(places))
    at = [location_of_city(place, int(land)) for place, land in zip(places, lands, strict=True)]
    about = [replace(place, radius_km=REGISTERED_KM, source="registry") for place in at]
    homes = registered[of_slice // plan.slices].tolist()
    world = World(
        "invented-hosting",
        tuple(
            Crawler(name=f"c{i:02}", address=IPv4Address(250 * 2**24 + i), location=at[city])
            for i, city in enumerate(crawler_cities.tolist())
        ),
        tuple(
            Site(f"s{i}.example", IPv4Address(FIRST_ADDRESS + one)) for i, one in enumerate(drawn.tolist())
        ),
        round_trips(plan, rng, places, cities[of_slice], crawler_cities),
        tuple(about[home] for home in homes),
        tuple(country_code(int(lands[home])) for home in homes),
    )
    return world, _tree(plan, lands[registered], holders)


def _addresses(plan: HostingPlan, rng: np.random.Generator) -> Rows:
    """Draw a different address for each site, beyond the first of all."""
    room = plan.subnets * plan.slices * SUBNET_SIZE
    if plan.sites * 2 > room:
        raise InputError(f"{plan.sites} sites do not fit into {plan.subnets} subnets: plan more subnets")
    drawn = np.unique(rng.integers(room, size=plan.sites + plan.sites // 2))
    while len(drawn) < plan.sites:
        drawn = np.unique(np.concatenate((drawn, rng.integers(room, size=plan.sites))))
    return rng.permutation(drawn)[: plan.sites]


def _tree(plan: HostingPlan, countries: Rows, holders: Rows) -> RegisteredRanges:
    """Return three levels: the root, a range for each country, its blocks."""
    spans: list[Span] = [(4, 0, 2**32 - 1)]
    numbers, lands = [0], [-1]
    starts = np.flatnonzero(np.diff(countries, prepend=-1)).tolist()
    for start, end in zip(starts, [*starts[1:], len(countries)], strict=True):
        spans.append(span_of_subnets(start * plan.slices, end * plan.slices))
        spans += [span_of_subnets(one * plan.slices, (one + 1) * plan.slices) for one in range(start, end)]
        numbers += [0, *holders[start:end].tolist()]
        lands += [int(countries[start])] * (1 + end - start)
    registries = [land % 5 + 1 for land in lands]
    return RegisteredRanges(
        spans, Registrations(organisations=numbers, countries=lands, registries=registries)
    )
