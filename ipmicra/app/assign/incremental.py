"""Assign sites as they come, at a cost that depends on what is new and not on what exists.

Theory of operation
-------------------
`assign_seeds` reads the loads of the fleet, schedules and many samples for every call: right for a list, too
much for a single host. Here loads are read once and kept in memory; each site or list then costs

- one look for other hosts at its address: they stay together, so that polite delays hold in one place;
- the samples of its own address, and what the delegator's model expects for the crawlers that have none;
- an auction of these sites alone, against the load that everybody holds (`Demand.held`).

The rule is `balance`, with the evenness that was last chosen. What was assigned stays: only a site without an
owner, or whose owner left, is assigned here. Whoever changes assignments by other means calls `count` again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from ipmicra.app.assign.backends import assign
from ipmicra.app.assign.problem import AssignProblem
from ipmicra.app.assign.round_trips import KnownRoundTrips
from ipmicra.app.assign.scattered import scattered_trips
from ipmicra.app.assign.trade import chosen_evenness
from ipmicra.app.rules import SiteRules
from ipmicra.assign.balance.config import AuctionConfig
from ipmicra.assign.balance.load import FleetLoads, HeldLoad
from ipmicra.assign.rules.rules import Choice
from ipmicra.delegate.expecting import Expecting
from ipmicra.edge.store.ports import StorePort
from ipmicra.model.address import Address
from ipmicra.model.assignment import Assignment
from ipmicra.model.crawler import Crawler, CrawlerState
from ipmicra.model.delegation import Decision
from ipmicra.model.site import Site

BACKEND = "balance"
AHEAD = 16.0
"""Sites that a crawler may have above its share: the first hosts of a young fleet go to their nearest
crawler, and load evens out among those that follow."""
NEIGHBOURS = 8
"""Assignments of an address that are looked at for a crawler that is still there."""


@dataclass(slots=True)
class _Load:
    """What a crawler holds."""

    sites: int = 0
    pages: float = 0.0


@dataclass(slots=True)
class IncrementalAssigner:
    """Assigns new sites by `balance`; keeps count of what crawlers hold."""

    store: StorePort
    rules: SiteRules | None = None
    clock: Callable[[], float] = time.time
    _loads: dict[str, _Load] = field(default_factory=dict)
    _page: float = 1.0
    """Pages that a site of unknown size counts for."""

    def count(self) -> None:
        """Read what crawlers hold; once, and again after assignments were changed by others."""
        loads = self.store.assignments.loads()
        self._page = float(loads.usual)
        self._loads = {
            name: _Load(one.sites, one.total(loads.usual)) for name, one in loads.by_crawler.items()
        }

    def _add(self, one: Assignment, pages: float, sign: int = 1) -> None:
        if one.crawler is not None:
            load = self._loads.setdefault(one.crawler, _Load())
            load.sites += sign
            load.pages = max(0.0, load.pages + sign * pages)

    def loads(self) -> dict[str, tuple[int, float]]:
        """Return the sites and pages that each crawler holds."""
        return {name: (one.sites, one.pages) for name, one in self._loads.items()}

    def choices(self, site: Site, crawlers: Sequence[Crawler]) -> tuple[Choice, ...]:
        """Return what rules leave for a site, for each vantage; nothing if no rule matches."""
        return () if self.rules is None else self.rules.choices([site], crawlers).get(site.host, ())

    def crawlers(self) -> list[Crawler]:
        """Return those that may be given sites."""
        return [member.crawler for member in self.store.crawlers.all((CrawlerState.JOINED,))]

    def assign(
        self, decided: Iterable[tuple[Site, Decision]], expecting: Expecting | None = None
    ) -> list[Assignment]:
        """Assign sites whose subnets have just been delegated, and keep that; inside a transaction.

        A site may have been assigned since somebody found it without an owner: a request that comes twice, or
        late, moves nothing.
        """
        pairs = {site.host: (site, decision) for site, decision in decided}
        crawlers = self.crawlers()
        if not pairs or not crawlers:
            return []
        choices = {
            host: found for host, (site, _) in pairs.items() if (found := self.choices(site, crawlers))
        }
        before = self.store.assignments.of_many(list(pairs))
        for host in self._holding(before, choices):
            del pairs[host], before[host]
        for one in (one for found in before.values() for one in found):
            self._add(one, self._page if one.pages is None else one.pages, -1)
        sites = [site for site, _ in pairs.values()]
        names = {one.name for one in crawlers}
        made = [self._beside(site, names) for site in sites if site.host not in choices]
        kept = [one for one in made if one is not None]
        settled = {one.host for one in kept}
        rest = [site for site in sites if site.host not in settled]
        if rest:
            trips = {site.address: decision for site, decision in pairs.values()}
            kept += self._by_auction(rest, crawlers, choices, trips, expecting)
        now_s = self.clock()
        kept = [replace(one, assigned_s=now_s) for one in kept]
        self.store.assignments.put_many(kept)
        for one in kept:
            self._add(one, self._page if one.pages is None else one.pages)
        return kept

    def _holding(
        self, held: Mapping[str, Sequence[Assignment]], choices: Mapping[str, Sequence[Choice]]
    ) -> list[str]:
        """Return the hosts whose assignments hold: their crawlers are there, for the vantages of today."""
        if not held:
            return []
        members = [member.crawler for member in self.store.crawlers.all()]
        there = {one.name for one in members if one.state is not CrawlerState.LEFT}
        return [
            host
            for host, assigned in held.items()
            if there.issuperset(one.crawler for one in assigned)
            and {one.vantage for one in assigned} == ({one.vantage for one in choices.get(host, ())} or {""})
        ]

    def _beside(self, site: Site, names: AbstractSet[str]) -> Assignment | None:
        """Return the assignment of a site to the crawler that has other hosts of its address."""
        for one in self.store.assignments.at(site.address, NEIGHBOURS):
            if one.crawler in names and one.of == 1 and not one.vantage and one.host != site.host:
                return replace(
                    one,
                    host=site.host,
                    reason="has other hosts of this address",
                    backend=BACKEND,
                    pages=None,
                    rule="",
                )
        return None

    def _by_auction(
        self,
        sites: list[Site],
        crawlers: list[Crawler],
        choices: Mapping[str, Sequence[Choice]],
        trips: Mapping[Address, Decision],
        expecting: Expecting | None,
    ) -> list[Assignment]:
        delegated = {
            address: (one.crawler, one.rtt_ms) for address, one in trips.items() if one.rtt_ms is not None
        }
        report = assign(
            AssignProblem(
                sites=sites,
                crawlers=crawlers,
                trips=KnownRoundTrips(samples=self.store.samples, delegated=delegated),
                expectations=expecting,
                loads=FleetLoads(
                    by_crawler={
                        one.name: HeldLoad(sites=held.sites, sized=held.sites, pages=held.pages)
                        for one in crawlers
                        if (held := self._loads.get(one.name)) is not None
                    }
                ),
                backend=BACKEND,
                auction=AuctionConfig(
                    evenness=chosen_evenness(self.store, None).value,
                    slack=AuctionConfig().tolerance,
                    ahead=AHEAD,
                ),
                is_traded=False,
                scattered=scattered_trips(self.store, sites, self.clock()),
                choices=choices,
            )
        )
        return report.assignments
