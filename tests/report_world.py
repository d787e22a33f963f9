"""An invented world for reports: crawlers in real cities, sites scattered round others, all names made up."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, ip_network

import numpy as np
from numpy.typing import NDArray

from ipmicra.app.report.data import (
    Flag,
    ReportCrawler,
    ReportData,
    ReportSite,
    ReportSubnet,
)
from ipmicra.model.crawler import Capacity
from ipmicra.model.delegation import Evidence
from ipmicra.model.location import Location
from tests.reference.slow_geodesy import slow_distance_km

CITIES = {
    "Athens": (37.98, 23.73, "GR"),
    "Frankfurt": (50.11, 8.68, "DE"),
    "London": (51.51, -0.13, "GB"),
    "New York": (40.71, -74.01, "US"),
    "San Jose": (37.34, -121.89, "US"),
    "Sao Paulo": (-23.55, -46.63, "BR"),
    "Johannesburg": (-26.2, 28.05, "ZA"),
    "Mumbai": (19.08, 72.88, "IN"),
    "Singapore": (1.35, 103.82, "SG"),
    "Tokyo": (35.68, 139.65, "JP"),
    "Sydney": (-33.87, 151.21, "AU"),
    "Auckland": (-36.85, 174.76, "NZ"),
}
"""Where the crawlers are."""
REGIONS = [
    *CITIES.values(),
    (48.86, 2.35, "FR"),
    (55.75, 37.62, "RU"),
    (6.52, 3.38, "NG"),
    (19.43, -99.13, "MX"),
]
"""Round which the sites are."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in degrees."""

    latitude: float
    longitude: float

    def km_to(self, other: Spot) -> float:
        return slow_distance_km(self.latitude, self.longitude, other.latitude, other.longitude)


def invented_crawlers(count: int = 12) -> tuple[ReportCrawler, ...]:
    """Crawlers in different cities; after the last city they come a second time."""
    found = []
    for i in range(count):
        city, (latitude, longitude, country) = list(CITIES.items())[i % len(CITIES)]
        place = Location(latitude=latitude, longitude=longitude, radius_km=25, city=city, country=country)
        name = city.lower().replace(" ", "-") + ("" if i < len(CITIES) else f"-{i // len(CITIES) + 1}")
        capacity = Capacity(bandwidth_mbps=100.0 + 50 * (i % 3), connections=5 + i % 4)
        address = IPv4Address((192 << 24) + 256 * i + 1)
        found.append(
            ReportCrawler(
                name=name, address=address, place=place, capacity=capacity, load=0.2 + 0.05 * (i % 12)
            )
        )
    return tuple(found)


def invented_data(sites: int, *, crawlers: int = 12, seed: int = 1, has_truth: bool = True) -> ReportData:
    """Sites with places, holders and subnets; of nine subnets in ten each goes to its nearest crawler."""
    rng = np.random.default_rng(seed)
    fleet = invented_crawlers(crawlers)
    holders = rng.zipf(1.35, size=sites) % max(sites // 8, 1)
    regions = holders * 5 % len(REGIONS)
    spots = [
        Spot(float(np.clip(REGIONS[r][0] + dy, -85, 85)), float(np.clip(REGIONS[r][1] + dx, -179, 179)))
        for r, dy, dx in zip(regions, rng.normal(0, 4, sites), rng.normal(0, 5, sites), strict=True)
    ]
    true_ms = invented_round_trips(fleet, spots, rng)
    nearest = true_ms.argmin(axis=0)
    blocks = rng.integers(16, size=sites)
    strays = holders * 31 + blocks * 17
    picked = np.where(strays % 10 > 0, nearest, strays % crawlers)
    found = []
    for i in range(sites):
        holder = int(holders[i])
        network = ip_network(
            (_first_address(holder, int(regions[i])) + 1024 * int(blocks[i]), 22), strict=False
        )
        address = IPv4Address(int(network.network_address) + int(rng.integers(1, 1000)))
        label = str(network)
        subnet = ReportSubnet(first=network[0], last=network[-1], label=label)
        probes = int(rng.poisson(1.4))
        found.append(
            ReportSite(
                host=f"www.site{i}.example",
                address=address,
                subnet=subnet,
                organisation=f"Invented Networks {holder}",
                country=REGIONS[regions[i]][2],
                place=Location(latitude=spots[i].latitude, longitude=spots[i].longitude, radius_km=50),
                crawler=int(picked[i]),
                rtt_ms=float(true_ms[picked[i], i]),
                is_expected=probes == 0,
                evidence=Evidence.PROBED if probes else Evidence.INHERITED,
                probes=probes,
                pages=int(rng.pareto(1.3) * 200) + 1,
                flag=Flag.ANYCAST if i % 97 == 5 else Flag.UNPROBEABLE if i % 89 == 7 else None,
            )
        )
    return ReportData(
        crawlers=fleet,
        sites=tuple(found),
        title="Invented world",
        policy="predict",
        when="2026-01-02 03:04 UTC",
        command="ipmicra delegate seeds.txt",
        true_rtt_ms=true_ms if has_truth else None,
    )


def _first_address(holder: int, region: int) -> int:
    """Each holder has a /18 of its own, each region a few first bytes."""
    return (11 + 13 * region + holder % 7 << 24) + (holder * 7919 % 1024 << 14)


def invented_round_trips(
    fleet: tuple[ReportCrawler, ...], spots: list[Spot], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Round trips by distance with noise; never below what light allows."""
    places = [Spot(one.place.latitude, one.place.longitude) for one in fleet if one.place]
    away = np.array([[place.km_to(spot) for spot in spots] for place in places])
    return 2 + away * 0.0135 * (1 + rng.gamma(2, 0.15, away.shape)) + rng.exponential(2, away.shape)
