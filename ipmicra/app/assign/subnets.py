"""Owners of whole lists of addresses, by what the store knows and without a probe.

Theory of operation
-------------------
Hosts by the hundred million cannot be assigned one by one, and need not be: hosts of one subnet go to one
crawler. So a list is counted first, and then each subnet is given an owner once:

1. A host that is assigned keeps its crawler (`assignment`).
2. A subnet that is delegated belongs to its holder, and so does everything inside it that is not delegated
   by itself (`delegation`).
3. The rest is balanced: each remaining subnet stands for its hosts as one site with so many pages, and
   `balance`, the rule of `ipmicra assign`, assigns them all by samples, coordinates and places (`balance`).
   What crawlers have of the list by 1 and 2 counts as held.

A list may touch millions of subnets. Those with the fewest hosts are then merged into the subnets around
them, until at most `MOST_SUBNETS` are left: nearness is hardly lost, for hosts of a small subnet are mostly
where the rest of its parent is.

What is computed here (`SubnetPlan`) is small and the same for everybody: a table of Parquet is read twice,
once to count and once to write; Spark counts by an aggregation and sends the plan to its workers.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ipmicra.app.assign.backends import assign
from ipmicra.app.assign.expected_trips import StoredExpectations
from ipmicra.app.assign.problem import AssignProblem
from ipmicra.app.assign.round_trips import KnownRoundTrips
from ipmicra.app.assign.trade import chosen_evenness
from ipmicra.assign.balance.config import AuctionConfig
from ipmicra.assign.balance.load import FleetLoads, HeldLoad
from ipmicra.edge.columnar.owners import NOBODY, OwnedRanges, Range
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.store.keys import packed
from ipmicra.edge.store.ports import StorePort
from ipmicra.errors import InputError
from ipmicra.model.address import range_text
from ipmicra.model.crawler import Crawler, CrawlerState
from ipmicra.model.site import Site

MOST_SUBNETS = 20_000
"""Subnets that are balanced at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubnetPlan:
    """The owner of every subnet of a list, by number of the crawler."""

    crawlers: tuple[str, ...]
    ranges: OwnedRanges
    """What is delegated."""
    balanced: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    """Of each row of the hierarchy that nobody holds; -1 where no host of the list is."""

    def owners(self, delegated: NDArray[np.int32], rows: NDArray[np.uint32]) -> NDArray[np.int32]:
        """Return the owner of each address, -1 for none, by who holds it and its row."""
        if not len(self.balanced):
            return delegated
        return np.where(delegated == NOBODY, self.balanced[rows], delegated)


@dataclass(slots=True)
class HostCounts:
    """How many hosts of a list each crawler and each undecided subnet has."""

    held: NDArray[np.int64]
    """By number of the crawler."""
    undecided: NDArray[np.int64]
    """By row of the hierarchy."""

    @classmethod
    def none(cls, plan: SubnetPlan, hierarchy: Hierarchy) -> HostCounts:
        """Start with nothing."""
        return cls(np.zeros(len(plan.crawlers), np.int64), np.zeros(len(hierarchy), np.int64))

    def add(self, owners: NDArray[np.int32], rows: NDArray[np.uint32]) -> None:
        """Count hosts with their owners, -1 for none, and rows."""
        is_open = owners == NOBODY
        self.held += np.bincount(owners[~is_open], minlength=len(self.held))
        np.add.at(self.undecided, rows[is_open], 1)


def delegated_plan(store: StorePort, now_s: float | None = None) -> SubnetPlan:
    """Return who holds what by delegation; expired ones and those of crawlers that left do not count."""
    members = store.crawlers.all()
    names = tuple(one.crawler.name for one in members if one.crawler.state is not CrawlerState.LEFT)
    if not names:
        raise InputError("there is no crawler: add one with `ipmicra crawler add NAME ADDRESS`")
    ranges = OwnedRanges.of_ranges(_delegated(store, names, time.time() if now_s is None else now_s))
    return SubnetPlan(crawlers=names, ranges=ranges)


def _delegated(store: StorePort, names: Sequence[str], now_s: float) -> Iterator[Range]:
    numbers = {name: number for number, name in enumerate(names)}
    for record in store.delegations.all():
        one = record.delegation
        if one.crawler in numbers and one.expires_s > now_s:
            first, last = (int.from_bytes(packed(end)) for end in (one.first, one.last))
            yield first, last, numbers[one.crawler]


def balanced_plan(store: StorePort, hierarchy: Hierarchy, plan: SubnetPlan, counts: HostCounts) -> SubnetPlan:
    """Add the owners of the subnets that nobody holds."""
    joined = [member.crawler for member in store.crawlers.all((CrawlerState.JOINED,))]
    if not joined:
        raise InputError("no crawler takes new sites: add one with `ipmicra crawler add NAME ADDRESS`")
    weights, of_row = _merged(hierarchy, counts.undecided)
    rows = np.flatnonzero(weights)
    owners = np.full(len(hierarchy), NOBODY, np.int32)
    if len(rows):
        taken = _balanced(store, hierarchy, joined, plan, (rows, weights[rows], counts.held))
        owners[rows] = taken
    touched = np.flatnonzero(counts.undecided)
    balanced = np.full(len(hierarchy), NOBODY, np.int32)
    balanced[touched] = owners[of_row[touched]]
    return SubnetPlan(crawlers=plan.crawlers, ranges=plan.ranges, balanced=balanced)


def _merged(
    hierarchy: Hierarchy, counts: NDArray[np.int64], most: int | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Merge small subnets into their parents; return hosts by row, and the row that each row went to.

    Whole generations of small subnets move up at once, those with fewer hosts first; roots stay.
    """
    most = MOST_SUBNETS if most is None else most
    weights, of_row = counts.copy(), np.arange(len(counts))
    small = 1
    while (used := np.flatnonzero(weights)).size > most:
        parents = hierarchy.parent_many(used)
        moves = (weights[used] <= small) & (parents >= 0)
        if moves.any():
            goes, to = used[moves], parents[moves]
            moved = weights[goes]
            np.add.at(weights, to, moved)
            weights[goes] -= moved  # not to nil: who moves up may have got what was below
            into = np.arange(len(counts))
            into[goes] = to
            of_row = into[of_row]
        elif (parents < 0).all():
            break
        small *= 2
    return weights, of_row


def _balanced(
    store: StorePort,
    hierarchy: Hierarchy,
    crawlers: list[Crawler],
    plan: SubnetPlan,
    work: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
) -> NDArray[np.int32]:
    """Assign subnets, each as one site with as many pages as it has hosts."""
    rows, hosts, held = work
    bounds = [hierarchy.bounds(row) for row in rows.tolist()]
    sites = [Site(range_text(first, last), first) for first, last in bounds]
    report = assign(
        AssignProblem(
            sites=sites,
            crawlers=crawlers,
            trips=KnownRoundTrips(samples=store.samples),
            expectations=StoredExpectations(store=store, hierarchy=hierarchy),
            loads=FleetLoads(
                by_crawler={
                    name: HeldLoad(sites=count, sized=count, pages=count)
                    for name, count in zip(plan.crawlers, held.tolist(), strict=True)
                    if count
                }
            ),
            auction=AuctionConfig(evenness=chosen_evenness(store, None).value),
            is_traded=False,
            pages={site.host: float(count) for site, count in zip(sites, hosts.tolist(), strict=True)},
        )
    )
    numbers = {name: number for number, name in enumerate(plan.crawlers)}
    by_host = {one.host: numbers.get(one.crawler or "", NOBODY) for one in report.assignments}
    return np.array([by_host[site.host] for site in sites], np.int32)
