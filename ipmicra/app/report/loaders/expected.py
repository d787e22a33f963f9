"""Baselines for reports without true round trips: what a site hash and a random crawler would have got.

Crawlers measured some pairs; the delegator's model, taught with these samples and the places of the sites,
says what to expect of the others. Baselines are worked out for an even sample of the sites: the model takes
about a millisecond per site, and a mean over two thousand is as good as one over a million.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address, ip_address

import numpy as np

from ipmicra.app.report.columns import crawler_by_hash
from ipmicra.app.report.data import ReportCrawler, ReportData, ReportSite
from ipmicra.delegate.policies.predict.expecting import ExpectedTrips
from ipmicra.delegate.subnets import SubnetTree
from ipmicra.edge.geodata.countries import CountrySettlements, country_middles
from ipmicra.edge.store.ports import StorePort
from ipmicra.model.address import Address
from ipmicra.model.crawler import Crawler
from ipmicra.model.location import Location
from ipmicra.model.types import Floats

MODELLED = 2_000
"""Sites for which baselines are worked out."""
TAUGHT = 20_000
"""Newest samples that teach the model."""
_NOWHERE = ip_address("192.0.2.1")
"""Stands for the address of a crawler that is known by name alone."""
Trips = Mapping[Address, Mapping[str, float]]
"""Measured round trips by address and crawler, in milliseconds."""


class NoHierarchy:
    """The tree of a report without a hierarchy: one subnet per family, so that sites are taken by slices."""

    def row_of(self, address: str) -> int:
        """Return the family's row."""
        return 0 if ip_address(address).version == 4 else 1  # noqa: PLR2004

    def parent(self, row: int) -> int | None:  # noqa: ARG002 - rows of this tree are roots
        """Return None: both rows are roots."""
        return None

    def descendants(self, row: int) -> Sequence[int]:  # noqa: ARG002 - as above
        """Return nothing: roots are empty."""
        return ()

    def bounds(self, row: int) -> tuple[Address, Address]:
        """Return first and last address of a family."""
        if row == 0:
            return IPv4Address(0), IPv4Address(2**32 - 1)
        return IPv6Address(0), IPv6Address(2**128 - 1)

    def organisation_number(self, row: int) -> int:  # noqa: ARG002 - as above
        """Return 0: nobody holds a whole family."""
        return 0

    def country(self, row: int) -> str | None:  # noqa: ARG002 - as above
        """Return None: a family is everywhere."""
        return None

    def registry_number(self, row: int) -> int:  # noqa: ARG002 - as above
        """Return 0: no registry has a whole family."""
        return 0

    def status_number(self, row: int) -> int:  # noqa: ARG002 - as above
        """Return 0: there is no registration."""
        return 0


def stored_trips(store: StorePort) -> dict[Address, dict[str, float]]:
    """Return the newest round trips of a store."""
    found: dict[Address, dict[str, float]] = {}
    for sample in store.samples.newest(TAUGHT):
        if sample.rtt_ms is not None:
            found.setdefault(sample.address, {}).setdefault(sample.crawler, sample.rtt_ms)
    return found


def reported_trips(data: ReportData) -> dict[Address, dict[str, float]]:
    """Return the round trips that the sites of a report say were measured."""
    found: dict[Address, dict[str, float]] = {}
    for site in data.sites[:TAUGHT]:
        if site.address is None or site.crawler is None or site.rtt_ms is None or site.is_expected:
            continue
        found.setdefault(site.address, {})[data.crawlers[site.crawler].name] = site.rtt_ms
    return found


def with_expected_baselines(data: ReportData, tree: SubnetTree | None, trips: Trips) -> ReportData:
    """Add what a hash and a random crawler would have got; sites of which nothing is known stay without."""
    if data.true_rtt_ms is not None or not data.crawlers or data.baselines.hash_ms is not None:
        return data
    places = {site.address: site.place or _country_place(site) for site in data.sites if site.address}
    expected = ExpectedTrips(tree or NoHierarchy(), map(_crawler, data.crawlers), CountrySettlements())
    for address, samples in trips.items():
        expected.learn(address, places.get(address), samples)
    count = len(data.sites)
    hash_ms, random_ms = np.full(count, np.nan), np.full(count, np.nan)
    picked = np.unique(np.linspace(0, count - 1, min(count, MODELLED)).round().astype(int)).tolist()
    chosen = crawler_by_hash([data.sites[i].host for i in picked], len(data.crawlers)).tolist()
    for i, crawler in zip(picked, chosen, strict=True):
        row = _row(expected, data.sites[i], places, trips)
        if row is not None:
            hash_ms[i], random_ms[i] = row[crawler], row.mean()
    if not np.isfinite(hash_ms).any():
        return data
    baselines = replace(data.baselines, hash_ms=hash_ms, random_ms=random_ms, is_expected=True)
    return replace(data, baselines=baselines)


def _row(
    expected: ExpectedTrips, site: ReportSite, places: Mapping[Address, Location | None], trips: Trips
) -> Floats | None:
    if site.address is None:
        return None
    return expected.expected_ms(site.address, places[site.address], trips.get(site.address, {}))


def _country_place(site: ReportSite) -> Location | None:
    """Return where a site is if its country is all that is known."""
    return country_middles().get(site.country) if site.country else None


def _crawler(one: ReportCrawler) -> Crawler:
    return Crawler(name=one.name, address=one.address or _NOWHERE, location=one.place)
