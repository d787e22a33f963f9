"""The world that is played: sites in the hierarchy's subnets, round trips by geography.

A subnet's servers stand in the city of its holder's postal address, or in a large city of its country where
none is registered; some of them stand astray in another. What the delegation knows of places is only what
`locate` finds out, often no more than the country.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from ipaddress import IPv4Address

import numpy as np
from numpy.typing import NDArray

from ipmicra.delegate.replay.world import POINT_RADIUS_KM, World
from ipmicra.edge.geodata.places import load_gazetteer
from ipmicra.errors import InputError
from ipmicra.hierarchy.hierarchy import Hierarchy
from ipmicra.lab.demo.config import FLEET, DemoConfig
from ipmicra.lab.worlds.synthetic import round_trips
from ipmicra.locate.gazetteer import Place
from ipmicra.locate.places import location_of
from ipmicra.locate.registry import read_postal
from ipmicra.model.crawler import Crawler
from ipmicra.model.location import Location
from ipmicra.model.site import Site
from ipmicra.model.subnet import Subnet

CRAWLERS_FIRST = IPv4Address("198.51.100.1")
"""Addresses of the crawlers, from the block for documentation: no site is near them."""
SMALLEST, LARGEST = 8, 1 << 14
"""Addresses of a subnet that sites are put into."""
LEAST_DEPTH = 2
"""Below the registries' own blocks."""
LARGE_CITY = 1_000_000
"""People of a city that may be a holder's seat if none is registered."""


@dataclass(frozen=True, slots=True)
class DemoWorld:
    """A world, with the pages of its sites."""

    world: World
    pages: NDArray[np.int64]


def invent_world(hierarchy: Hierarchy, config: DemoConfig) -> DemoWorld:
    """Invent sites, crawlers and round trips; the same hierarchy and seed give the same world."""
    rng = np.random.default_rng(config.seed)
    homes = _homes(hierarchy, config, rng)
    seats = _gone_astray([seat for _subnet, seat in homes], config.astray, rng)
    chosen = rng.integers(len(homes), size=config.sites)
    sites = _sites([homes[i][0] for i in chosen], rng)
    places = [seats[i] for i in chosen]
    crawlers = _crawlers(config.crawlers)
    world = World(
        "demo",
        crawlers,
        sites,
        _round_trips(config, rng, crawlers, places),
        tuple(places),
        tuple(place.country for place in places),
        mutual_ms=_mutual(config, crawlers),
    )
    pages = np.exp(rng.normal(np.log(config.pages_median), config.pages_spread, len(sites)))
    return DemoWorld(world, np.maximum(1, pages).astype(np.int64))


def _homes(
    hierarchy: Hierarchy, config: DemoConfig, rng: np.random.Generator
) -> list[tuple[Subnet, Location]]:
    """Draw subnets for the sites, with the seats of their holders."""
    wanted = max(1, round(config.sites * config.subnets_per_site))
    homes = []
    for home in _subnets_with_seats(hierarchy, rng):
        homes.append(home)
        if len(homes) == wanted:
            return homes
    if not homes:
        raise InputError(
            "no subnet of these dumps has a holder with a city or country, so that no world can be made: "
            "run `ipmicra demo` without --dumps"
        )
    return homes


def _subnets_with_seats(hierarchy: Hierarchy, rng: np.random.Generator) -> Iterator[tuple[Subnet, Location]]:
    for row in rng.permutation(len(hierarchy)):
        subnet = hierarchy.subnet(int(row))
        size = int(subnet.last) - int(subnet.first) + 1
        if subnet.first.version != 4 or subnet.depth < LEAST_DEPTH or not SMALLEST <= size <= LARGEST:  # noqa: PLR2004 - IPv4
            continue
        lineage = hierarchy.lineage(subnet.first)
        seat = _registered_seat(lineage) or _some_seat(subnet.country, lineage[LEAST_DEPTH].row)
        if seat is not None:
            yield subnet, seat


def _registered_seat(lineage: list[Subnet]) -> Location | None:
    """Return the city of the narrowest holder that has a postal address with one."""
    for subnet in reversed(lineage):
        holder = subnet.organisation
        if holder is not None and holder.address:
            found = read_postal(load_gazetteer(), holder.address, holder.country or subnet.country)
            if found is not None and found.city:
                return found
    return None


def _some_seat(country: str | None, holder: int) -> Location | None:
    """Return a large city of the country where no postal address is registered: to each holder its own."""
    cities = _large_cities().get(country or "")
    return location_of(cities[holder % len(cities)]) if cities else None


@cache
def _large_cities() -> dict[str, list[Place]]:
    """Return the large cities by country."""
    gazetteer = load_gazetteer()
    cities: dict[str, list[Place]] = {}
    for place in map(gazetteer.city, gazetteer.largest(LARGE_CITY)):
        cities.setdefault(place.country, []).append(place)
    return cities


def _gone_astray(seats: list[Location], share: float, rng: np.random.Generator) -> list[Location]:
    """Let a share of the subnets' servers stand in another holder's city."""
    is_astray = rng.random(len(seats)) < share
    others = rng.integers(len(seats), size=len(seats))
    return [seats[other] if is_away else seat for seat, other, is_away in zip(seats, others, is_astray)]  # noqa: B905 - all as many


def _sites(homes: list[Subnet], rng: np.random.Generator) -> tuple[Site, ...]:
    """Put a site at a random address of each home, no two at the same."""
    taken: set[int] = set()
    sites = []
    for number, home in enumerate(homes, 1):
        address = int(rng.integers(int(home.first) + 1, int(home.last)))
        while address in taken:
            address = int(home.first) + (address + 1 - int(home.first)) % (int(home.last) - int(home.first))
        taken.add(address)
        sites.append(Site(f"w{number}.{_word(home)}.example", IPv4Address(address)))
    return tuple(sites)


def _word(subnet: Subnet) -> str:
    """Make a domain's word of the holder's name."""
    label = subnet.organisation.label if subnet.organisation else subnet.netname or "site"
    return "-".join(re.findall(r"[a-z]+", label.lower())[:1]) or "site"


def _crawlers(count: int) -> tuple[Crawler, ...]:
    return tuple(
        Crawler(
            name=name,
            address=CRAWLERS_FIRST + number,
            location=Location(
                latitude=latitude, longitude=longitude, radius_km=POINT_RADIUS_KM, city=city, country=country
            ),
        )
        for number, (name, city, country, latitude, longitude) in enumerate(FLEET[:count])
    )


def _round_trips(
    config: DemoConfig, rng: np.random.Generator, crawlers: tuple[Crawler, ...], places: list[Location]
) -> NDArray[np.float64]:
    """Return round trips in ms, (crawler, site); sites of a city share their way to each crawler."""
    numbers: dict[Location, int] = {}
    cities = np.array([numbers.setdefault(place, len(numbers)) for place in places])
    stations = [crawler.location for crawler in crawlers if crawler.location is not None]
    points = np.array([(one.latitude, one.longitude) for one in [*numbers, *stations]])
    at = np.arange(len(numbers), len(points))
    return round_trips(config.plan, rng, points, cities, at).astype(np.float64).round(3)


def _mutual(config: DemoConfig, crawlers: tuple[Crawler, ...]) -> NDArray[np.float64]:
    """Return round trips between crawlers in ms, the same both ways; sites do not depend on the draws."""
    rng = np.random.default_rng([config.seed, len(crawlers)])
    places = [crawler.location for crawler in crawlers if crawler.location is not None]
    found = _round_trips(config, rng, crawlers, places)
    mutual = np.triu(found, 1) + np.triu(found, 1).T
    np.fill_diagonal(mutual, np.nan)
    return mutual
