"""Reports from a store: what was delegated, and what `ipmicra assign` made of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from ipmicra.app.assign.trade import kept_trade
from ipmicra.app.report.data import Flag, ReportCrawler, ReportData, ReportSite, ReportSubnet
from ipmicra.edge.store.ports import Bounds, StorePort
from ipmicra.errors import InputError
from ipmicra.model.assignment import Assignment
from ipmicra.model.crawler import CrawlerState
from ipmicra.model.delegation import Decision, Evidence
from ipmicra.model.location import Location

EMPTY = (
    "nothing to report on: no site was delegated or assigned yet. `ipmicra delegate SEEDS` does it; "
    "or name RESULTS of an earlier one, or a --world"
)

EMPTY_BATCH = "nothing to report on: the last `ipmicra delegate` has no results; try without --last"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreContents:
    """The sites of a store, each with what it got last."""

    store: StorePort
    batch: int | None = None
    """Only the sites of this batch, and what was assigned since it began; None for everything."""

    def load(self) -> ReportData:
        """Read everything."""
        fleet = _Crew(self.store)
        results = self._results()
        assigned = self._assigned(results)
        places = _places(self.store)
        sites: list[ReportSite] = []
        for host in sorted({*results, *assigned}):
            whole = _site(fleet, results[host], places) if host in results else None
            if host in assigned:
                sites += self._placed(fleet, whole, assigned[host])
            elif whole is not None:
                sites.append(whole)
        if not sites:
            raise InputError(EMPTY if self.batch is None else EMPTY_BATCH)
        hosts = len({*results, *assigned})
        note = f"{len(assigned):,} of {hosts:,} sites are where `ipmicra assign` put them."
        return ReportData(
            crawlers=tuple(fleet.crawlers),
            sites=tuple(sites),
            policy="assigned" if assigned else "delegated",
            trade=kept_trade(self.store) if assigned else None,
            notes=(note,) if assigned else (),
        )

    def _results(self) -> dict[str, Decision]:
        """Return the last result of each host, with the probes of all."""
        numbers = [self.batch] if self.batch is not None else [one.id for one in self.store.batches.all()]
        found: dict[str, Decision] = {}
        for number in numbers:
            for one in self.store.results.all(number):
                before = found[one.host].probes if one.host in found else 0
                found[one.host] = replace(one, probes=one.probes + before)
        return found

    def _assigned(self, results: Mapping[str, Decision]) -> dict[str, list[Assignment]]:
        """Return the assignments of each host, by piece."""
        begun_s = {one.id: one.started_s for one in self.store.batches.all()}
        since_s = 0.0 if self.batch is None else begun_s[self.batch]
        found: dict[str, list[Assignment]] = {}
        for one in self.store.assignments.all():
            if self.batch is None or (one.host in results and one.assigned_s >= since_s):
                found.setdefault(one.host, []).append(one)
        return found

    def _placed(
        self, fleet: _Crew, whole: ReportSite | None, pieces: Iterable[Assignment]
    ) -> Iterator[ReportSite]:
        """Return a site as it was assigned, each piece by itself."""
        for one in pieces:
            base = whole or ReportSite(host=one.host, address=one.address)
            crawler = fleet.number(one.crawler)
            sample = self.store.samples.latest(one.address).get(one.crawler or "")
            is_probed = sample is not None and sample.rtt_ms is not None
            stays = whole is not None and crawler == whole.crawler
            yield replace(
                base,
                host=_name_of(one),
                crawler=crawler,
                rtt_ms=one.expected_ms,
                is_expected=not is_probed,
                evidence=base.evidence if stays else Evidence.PROBED if is_probed else Evidence.INHERITED,
                probes=base.probes if one.piece == 1 else 0,
                pages=one.pages,
            )


def _name_of(one: Assignment) -> str:
    """Return the host, with its piece and vantage if it has more than one."""
    piece = [] if one.of == 1 else [f"piece {one.piece} of {one.of}"]
    seen = [f"seen from {one.vantage}"] if one.vantage else []
    return f"{one.host} ({', '.join(piece + seen)})" if piece or seen else one.host


@dataclass(slots=True)
class _Crew:
    """Crawlers by name: the registered ones, and any other that has a site."""

    store: StorePort
    crawlers: list[ReportCrawler] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for member in self.store.crawlers.all():
            if member.crawler.state is not CrawlerState.LEFT:
                self.number(member.crawler.name)

    def number(self, name: str | None) -> int | None:
        if name is None:
            return None
        if name not in self.numbers:
            self.numbers[name] = len(self.crawlers)
            member = self.store.crawlers.get(name)
            self.crawlers.append(
                ReportCrawler(name=name)
                if member is None
                else ReportCrawler(
                    name=name,
                    address=member.crawler.address,
                    place=member.crawler.location,
                    capacity=member.crawler.capacity,
                )
            )
        return self.numbers[name]


def _places(store: StorePort) -> dict[Bounds, Location]:
    """Return where the sites of delegated subnets are thought to be."""
    return {
        (one.delegation.first, one.delegation.last): one.location
        for one in store.delegations.all()
        if one.location is not None
    }


def _site(fleet: _Crew, one: Decision, places: Mapping[Bounds, Location]) -> ReportSite:
    is_lost = bool(one.probes) and one.rtt_ms is None
    flag = Flag.UNPROBEABLE if is_lost else None
    label = one.subnet
    return ReportSite(
        host=one.host,
        address=one.address,
        subnet=ReportSubnet(first=one.first, last=one.last, label=label),
        place=places.get((one.first, one.last)),
        crawler=fleet.number(one.crawler),
        rtt_ms=one.rtt_ms,
        is_expected=one.evidence is not Evidence.PROBED,
        evidence=one.evidence,
        probes=one.probes,
        flag=Flag.ANYCAST if one.evidence is Evidence.ANYCAST else flag,
    )
