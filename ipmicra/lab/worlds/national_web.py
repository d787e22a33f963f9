"""The web of an invented country: cities, holders, shared addresses, pages and links, from a seed."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ipmicra.partition.config import CostConfig
from ipmicra.partition.links.invented import LinkConfig, generate_links
from ipmicra.partition.links.table import LinkTable
from ipmicra.partition.names import PackedNames
from ipmicra.partition.sites import SiteTable, country_code

_STEPS = 30
"""Of finding the scale at which cut-off page counts have the wanted mean."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NationalWebConfig:
    """Shape of the invented web. What it was modelled on is said where it is not our own choice."""

    hosts: int = 100_000
    cities: int = 300
    """339 cities in Exposto et al. 2005."""
    foreign_cities: int = 40
    foreign_share: float = 0.25
    """Share of addresses that stand abroad; 0.52 in Exposto et al. 2005, counting all foreign hosting."""
    city_exponent: float = 1.0
    """Population of the k-th city is 1/k to this power (Zipf)."""
    south: float = 37.0
    north: float = 42.0
    west: float = -9.5
    east: float = -6.5
    """Degrees; a country of about 550 × 260 km."""
    hosts_per_address: float = 8.0
    """On average; 42,857 hosts on 5,468 addresses in Exposto et al. 2005."""
    largest_address: float = 0.002
    """Share of all hosts on one address at most."""
    holders: int = 150
    addresses_per_subnet: int = 30
    mean_pages: float = 170.0
    page_tail: float = 1.3
    """Pareto exponent of pages per host; smaller is heavier."""
    largest_site: float = 0.003
    """Share of all pages on one host at most."""
    links: LinkConfig = field(default_factory=lambda: LinkConfig(locality=0.5))


@dataclass(frozen=True, slots=True, kw_only=True)
class NationalWeb:
    """Sites and their links."""

    sites: SiteTable
    links: LinkTable


def national_web(config: NationalWebConfig, costs: CostConfig, rng: np.random.Generator) -> NationalWeb:
    """Invent a web."""
    host_address = _addresses(config, rng)
    addresses = int(host_address.max()) + 1
    city, places = _cities(config, addresses, rng)
    holder = rng.choice(config.holders, addresses, p=_zipf(config.holders, 1.0))
    subnet = _subnets(holder, city, config)
    sites = SiteTable(
        hosts=_hosts(config.hosts, rng),
        address=host_address,
        subnets=subnet[:, host_address],
        latitude=places[0][city][host_address],
        longitude=places[1][city][host_address],
        country=_countries(config)[city][host_address],
        holder=holder[host_address].astype(np.int64),
        pages=_pages(config, rng),
    )
    return NationalWeb(sites=sites, links=generate_links(sites, config.links, costs, rng))


def _zipf(count: int, exponent: float) -> NDArray[np.float64]:
    weight = np.arange(1, count + 1) ** -exponent
    share: NDArray[np.float64] = weight / weight.sum()
    return share


def _addresses(config: NationalWebConfig, rng: np.random.Generator) -> NDArray[np.int64]:
    """Put hosts on addresses: many alone, some with hundreds of others; numbers have no gap."""
    most = max(config.largest_address * config.hosts, 1.0)
    tail = 1.0 + 1.0 / max(config.hosts_per_address - 1.0, 1e-9)
    sizes = np.minimum(rng.pareto(tail, config.hosts) + 1.0, most).astype(np.int64)
    chosen = np.repeat(np.arange(len(sizes)), sizes)[: config.hosts]
    return rng.permutation(chosen)


def _cities(
    config: NationalWebConfig, addresses: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Return each address a city, the foreign ones last, and each city a place."""
    home, abroad = config.cities, config.foreign_cities
    latitude = np.concatenate((rng.uniform(config.south, config.north, home), rng.uniform(25, 60, abroad)))
    longitude = np.concatenate((rng.uniform(config.west, config.east, home), rng.uniform(-120, 30, abroad)))
    share = np.concatenate(
        (
            _zipf(home, config.city_exponent) * (1 - config.foreign_share),
            _zipf(abroad, config.city_exponent) * config.foreign_share,
        )
    )
    city = rng.choice(home + abroad, addresses, p=share / share.sum())
    return city.astype(np.int64), (latitude.round(4), longitude.round(4))


def _countries(config: NationalWebConfig) -> NDArray[np.int64]:
    """Return cities their countries: home is XA, codes for private use stand for all others."""
    abroad = [country_code("X" + chr(ord("B") + number % 20)) for number in range(config.foreign_cities)]
    return np.array([country_code("XA")] * config.cities + abroad, np.int64)


def _subnets(
    holder: NDArray[np.int64], city: NDArray[np.int64], config: NationalWebConfig
) -> NDArray[np.int64]:
    """Return addresses subnets of two levels: a holder's in a city, cut small, and all of a holder's."""
    key = holder * (config.cities + config.foreign_cities) + city
    order = np.argsort(key, kind="stable")
    is_first = np.append(True, np.diff(key[order]) != 0)
    begins = np.flatnonzero(is_first)
    rank = np.arange(len(key)) - begins[np.cumsum(is_first) - 1]
    is_new = is_first | (rank % config.addresses_per_subnet == 0)
    narrow = np.empty(len(key), np.int64)
    narrow[order] = np.cumsum(is_new) - 1
    return np.vstack((narrow, narrow.max() + 1 + holder))


def _hosts(count: int, rng: np.random.Generator) -> PackedNames:
    """Invent host names; most start with `www`."""
    label = rng.choice(["www", "web", "portal", "blog", "forum", "loja", "m"], count, p=[0.7, *[0.05] * 6])
    number = rng.permutation(count)
    return PackedNames.pack([f"{a}.site{b}.example" for a, b in zip(label, number, strict=True)])


def _pages(config: NationalWebConfig, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw pages of a heavy tail, cut off above; the mean is near the one asked for."""
    raw = rng.pareto(config.page_tail, config.hosts) + 1.0
    most = max(config.largest_site * config.hosts, 1.0) * config.mean_pages
    scale = config.mean_pages / raw.mean()
    for _ in range(_STEPS):  # what is cut off is distributed over all
        scale *= config.mean_pages / np.minimum(raw * scale, most).mean()
    pages: NDArray[np.float64] = np.maximum(np.minimum(raw * scale, most).round(), 1.0)
    return pages
