"""Synthetic worlds: cities on an Earth with detours, access lines and holders of address space.

How it works
------------
From the ground up: countries are scattered over the Earth and cities around their middles; every subnet of
256 addresses stands in one city; every site has an address of its own in one of the subnets; every crawler
stands in a city. Subnets are numbered by city, so that a country is one block of addresses and the tree has
three levels: root, countries, subnets.

A round trip is light's time in fibre times a detour, which a city shares towards each crawler, plus the
access lines of both ends, times some noise. That is what makes delegating subnets worth while: sites of a
subnet share all but the noise and their own access line. Nothing here knows the model that `predict` uses.

Two sites never share an address. The machine answers by address, so one address with two different round
trips would be a world that cannot exist, in which not even probing from everywhere finds the nearest
crawler.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address

import numpy as np
from numpy.typing import NDArray

from ipmicra.delegate.replay.world import POINT_RADIUS_KM, World
from ipmicra.errors import InputError
from ipmicra.lab.worlds.trees import FIRST_ADDRESS, SUBNET_SIZE, InventedTree, country_code
from ipmicra.model.crawler import Crawler
from ipmicra.model.geo import FIBRE_KM_PER_MS, unit_vectors, vector_distances_km
from ipmicra.model.location import Location
from ipmicra.model.site import Site
from ipmicra.model.types import Floats, Rows

HOSTS_PER_SUBNET = SUBNET_SIZE - 2
"""Neither the first nor the last address of a subnet is a site's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinePlan:
    """The lines of an invented world."""

    detour: float = 1.6
    """Middle ratio of a cable's length to the great circle."""
    detour_spread: float = 0.25
    """Of the logarithm, between pairs of city and crawler."""
    pair_spread: float = 0.1
    """Of the logarithm, between sites of a city."""
    access_ms: float = 1.5
    """Mean of the access lines' exponential delays."""
    loss: float = 0.0
    """Share of pairs whose probes are lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldPlan(LinePlan):
    """What to invent."""

    crawlers: int = 12
    sites: int = 1000
    subnets: int = 400
    countries: int = 20
    cities_per_country: int = 5
    """Cities lie within `country_km` of their country's middle."""
    country_km: float = 400.0
    subnets_per_organisation: int = 4


PAPER_PLAN = WorldPlan(crawlers=12, sites=1000, subnets=700)
"""As many crawlers and sites as Papapetrou & Samaras 2004 had: 650 to train with and 350 to test."""
BIG_PLAN = WorldPlan(crawlers=50, sites=1_000_000, subnets=200_000, countries=100, cities_per_country=10)
"""A fleet of some size and a web of some size."""


def invent(plan: WorldPlan, rng: np.random.Generator) -> tuple[World, InventedTree]:
    """Invent a world and its hierarchy."""
    city_places, city_countries = scatter_cities(plan, rng)
    subnet_cities = np.sort(rng.integers(len(city_places), size=plan.subnets))
    countries = city_countries[subnet_cities]
    organisations = 1 + np.arange(plan.subnets) // plan.subnets_per_organisation
    tree = InventedTree(countries, organisations)
    addresses = _addresses(plan, rng)
    sites = tuple(Site(f"s{i}.example", IPv4Address(number)) for i, number in enumerate(addresses.tolist()))
    crawler_cities = rng.choice(
        len(city_places), size=plan.crawlers, replace=plan.crawlers > len(city_places)
    )
    locations = [
        location_of_city(place, int(land)) for place, land in zip(city_places, city_countries, strict=True)
    ]
    crawlers = tuple(
        Crawler(name=f"c{i:02}", address=IPv4Address(250 * 2**24 + i), location=locations[city])
        for i, city in enumerate(crawler_cities)
    )
    cities = subnet_cities[(addresses - FIRST_ADDRESS) // SUBNET_SIZE]
    rtt_ms = round_trips(plan, rng, city_places, cities, crawler_cities)
    lands = tuple(country_code(int(land)) for land in city_countries[cities])
    return World("invented", crawlers, sites, rtt_ms, tuple(locations[city] for city in cities), lands), tree


def scatter_cities(plan: WorldPlan, rng: np.random.Generator) -> tuple[Floats, Rows]:
    """Scatter countries between 60 degrees north and south, and cities around their middles."""
    middles = np.stack(
        [rng.uniform(-60, 60, size=plan.countries), rng.uniform(-180, 180, size=plan.countries)], axis=1
    )
    reach = plan.country_km / 111.0
    places = np.repeat(middles, plan.cities_per_country, axis=0)
    places = places + rng.uniform(-reach, reach, size=places.shape)
    places[:, 1] = (places[:, 1] + 180) % 360 - 180
    return places, np.repeat(np.arange(plan.countries), plan.cities_per_country)


def _addresses(plan: WorldPlan, rng: np.random.Generator) -> Rows:
    """Draw an address for each site; one that is taken already becomes the next free one."""
    if plan.sites > plan.subnets * HOSTS_PER_SUBNET:
        raise InputError(f"{plan.sites} sites do not fit into {plan.subnets} subnets: plan more subnets")
    homes = rng.integers(plan.subnets, size=plan.sites)
    drawn = homes * HOSTS_PER_SUBNET + rng.integers(HOSTS_PER_SUBNET, size=plan.sites)
    taken: dict[int, None] = {}
    for number in drawn.tolist():
        while number in taken:
            number = (number + 1) % (plan.subnets * HOSTS_PER_SUBNET)  # noqa: PLW2901 - a walk
        taken[number] = None
    subnets, hosts = np.divmod(np.array(list(taken), np.int64), HOSTS_PER_SUBNET)
    return FIRST_ADDRESS + subnets * SUBNET_SIZE + 1 + hosts


def round_trips(
    plan: LinePlan,
    rng: np.random.Generator,
    places: Floats,
    cities: Rows,
    crawler_cities: Rows,
) -> NDArray[np.float32]:
    """Return round trips in ms, (crawler, site); `places` are degrees north and east, by number of city."""
    points = unit_vectors(places[:, 0], places[:, 1])
    straight = vector_distances_km(points[crawler_cities], points) / FIBRE_KM_PER_MS
    detours = plan.detour * np.exp(plan.detour_spread * rng.standard_normal(straight.shape))
    towards = (
        straight * np.maximum(detours, 1.0) + rng.exponential(plan.access_ms, (len(crawler_cities), 1))
    ).astype(np.float32)
    access = rng.exponential(plan.access_ms, len(cities)).astype(np.float32)
    rtt_ms = np.empty((len(crawler_cities), len(cities)), np.float32)
    for crawler in range(len(crawler_cities)):
        noise = np.exp(plan.pair_spread * np.abs(rng.standard_normal(len(cities), np.float32)))
        rtt_ms[crawler] = (towards[crawler, cities] + access + 0.1) * noise
    if plan.loss:
        rtt_ms[rng.random(rtt_ms.shape) < plan.loss] = np.nan
    return rtt_ms


def location_of_city(place: Floats, country: int) -> Location:
    """Return the place of a city; `place` is degrees north and east."""
    return Location(
        latitude=float(np.clip(place[0], -90, 90)),
        longitude=float(place[1]),
        radius_km=POINT_RADIUS_KM,
        country=country_code(country),
    )
