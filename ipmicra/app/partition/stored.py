"""What the store of a home knows about sites and crawlers: fleet, addresses, places, pages, round trips."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from ipmicra.app.assign.expected_trips import StoredExpectations
from ipmicra.app.assign.recrawl import crawled_pages
from ipmicra.app.assign.round_trips import KnownRoundTrips
from ipmicra.assign.balance.load import units_of
from ipmicra.edge.files.crawlers import CrawlerRow
from ipmicra.edge.files.sites import SiteRows
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.store.ports import DelegationRecord, StorePort
from ipmicra.model.address import Address
from ipmicra.model.crawler import CrawlerState
from ipmicra.model.site import Site
from ipmicra.model.types import Floats
from ipmicra.partition.problem import Column


@dataclass(frozen=True, slots=True)
class StoredKnowledge:
    """A home's store, as far as a partition can use it."""

    store: StorePort

    def fleet(self, notes: list[str]) -> list[CrawlerRow]:
        """Return the crawlers that have joined; those without capacity are left out, with a note."""
        crawlers = [member.crawler for member in self.store.crawlers.all((CrawlerState.JOINED,))]
        shares = units_of([one.capacity for one in crawlers]).tolist()
        idle = [one.name for one, share in zip(crawlers, shares, strict=True) if share <= 0]
        if idle:
            notes.append(f"without capacity, so left out: {', '.join(idle)}")
        return [
            CrawlerRow(
                where="the fleet",
                name=one.name,
                address=one.address,
                location=one.location,
                country=one.location.country if one.location else None,
                capacity=one.capacity,
                share=share,
            )
            for one, share in zip(crawlers, shares, strict=True)
            if share > 0
        ]

    def sites(self) -> SiteRows:
        """Return all sites that the store knows."""
        rows = SiteRows()
        for site in self.store.sites.all():
            rows.append(site.host, site.address)
        return rows

    def _pages(self, hosts: Sequence[str]) -> dict[str, float]:
        """Return the pages of hosts as far as they are known; of other hosts nothing is read."""
        assigned = chain.from_iterable(self.store.assignments.of_many(hosts).values())
        crawled = chain.from_iterable(self.store.recrawls.of_many(hosts).values())
        expected = {one.host: float(one.pages) for one in assigned if one.of == 1 and one.pages}
        return expected | crawled_pages(crawled)

    def fill(self, rows: SiteRows, notes: list[str]) -> dict[Address, DelegationRecord]:
        """Fill in addresses, places and pages that files do not have; return delegations by address."""
        pages = self._pages(rows.hosts)
        for row, host in enumerate(rows.hosts):
            if rows.addresses[row] is None and (site := self.store.sites.get(host)) is not None:
                rows.addresses[row] = site.address
            if host in pages and rows.pages[row] == 1:
                rows.pages[row] = float(pages[host])
        known = [one for one in rows.addresses if one is not None]
        held = narrowest(self.store.delegations.all(), known)
        placed = 0
        for row, address in enumerate(rows.addresses):
            place = held[address].location if address in held else None
            if place is not None and np.isnan(rows.latitude[row]):
                rows.latitude[row], rows.longitude[row] = place.latitude, place.longitude
                rows.country[row] = rows.country[row] or place.country or ""
                placed += 1
        if placed:
            notes.append(f"{placed:,} sites are placed where their delegation says")
        return held

    def round_trips(
        self,
        rows: SiteRows,
        fleet: Sequence[CrawlerRow],
        held: Mapping[Address, DelegationRecord],
        hierarchy: Hierarchy | None,
        notes: list[str],
    ) -> Floats | None:
        """Return measured round trips, (site, crawler), and with a hierarchy expected ones for the rest."""
        if not self.store.samples.count():
            return None
        crawlers = [row.crawler for row in fleet if row.address is not None]
        numbers = [number for number, row in enumerate(fleet) if row.address is not None]
        at = [row for row, one in enumerate(rows.addresses) if one is not None]
        sites = [Site(rows.hosts[row], one) for row in at if (one := rows.addresses[row]) is not None]
        rests_on = {
            one: (record.delegation.crawler, record.delegation.rtt_ms)
            for one, record in held.items()
            if record.delegation.rtt_ms is not None
        }
        trips = KnownRoundTrips(samples=self.store.samples, delegated=rests_on)
        measured = trips.expected_ms([one.address for one in sites], crawlers)
        filled = measured
        if hierarchy is not None:
            learning = StoredExpectations(store=self.store, hierarchy=hierarchy)
            filled = learning.filled(sites, crawlers, measured)
        found = np.full((len(rows.hosts), len(fleet)), np.nan)
        found[np.ix_(at, numbers)] = filled
        known, all_known = int(np.isfinite(measured).sum()), int(np.isfinite(found).sum())
        if not all_known:
            return None
        rest = found.size - all_known
        notes.append(
            f"round trips: {known:,} from the store, {all_known - known:,} expected by the model"
            + (f", {rest:,} unknown" if rest else "")
        )
        return found


def delegated_column(
    rows: SiteRows, fleet: Sequence[CrawlerRow], held: dict[Address, DelegationRecord]
) -> Column | str:
    """Return the crawler that each site is delegated to, or why that is not known for all."""
    numbers = {row.name: number for number, row in enumerate(fleet)}
    column = [
        numbers.get(held[one].delegation.crawler, -1) if one is not None and one in held else -1
        for one in rows.addresses
    ]
    lacking = column.count(-1)
    if lacking:
        whose = "not delegated to a crawler of the fleet (`ipmicra delegate`)"
        return f"{lacking:,} of {len(column):,} sites are {whose}"
    return np.array(column, np.int32)


def narrowest(
    records: Iterable[DelegationRecord], addresses: Iterable[Address]
) -> dict[Address, DelegationRecord]:
    """Return the narrowest delegation that holds each address, of those that one holds.

    Records come by address, the wider before the narrower, and nest: one pass over both, with the open
    delegations on a stack.
    """
    found: dict[Address, DelegationRecord] = {}
    wanted = sorted(set(addresses), key=lambda one: (one.version, int(one)))
    at, stack = 0, list[DelegationRecord]()

    def settle(until: tuple[int, int] | None) -> None:
        nonlocal at
        while at < len(wanted) and (until is None or (wanted[at].version, int(wanted[at])) < until):
            here = wanted[at].version, int(wanted[at])
            while stack and _end(stack[-1]) < here:
                stack.pop()
            if stack:
                found[wanted[at]] = stack[-1]
            at += 1

    for record in records:
        first = record.delegation.first
        settle((first.version, int(first)))
        while stack and _end(stack[-1]) < (first.version, int(first)):
            stack.pop()
        stack.append(record)
    settle(None)
    return found


def _end(record: DelegationRecord) -> tuple[int, int]:
    last = record.delegation.last
    return last.version, int(last)
