"""`ipmicra assign`: from seeds and files to assignments kept in the store.

`seeds.py` reads what the user named, `problem.py` holds it with what the store knows, `backends.py` assigns,
and here the result is kept. The answer is `model.Assignment` from the backend to the store and the screen.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from ipmicra.app.assign.backends import AssignReport, assign, check_backend
from ipmicra.app.assign.expected_trips import StoredExpectations
from ipmicra.app.assign.problem import AssignProblem, ZoneWishes
from ipmicra.app.assign.recrawl import (
    ScheduleState,
    crawled_pages,
    crawled_pieces,
    delay_findings,
    due_hosts,
    turns_of,
)
from ipmicra.app.assign.round_trips import KnownRoundTrips, MedianRoundTrips, RoundTrips
from ipmicra.app.assign.scattered import scattered_trips
from ipmicra.app.assign.trade import chosen_evenness, keep_trade
from ipmicra.app.assign.whereabouts import StoredWhereabouts
from ipmicra.app.assign.zones import OVERLAYS, check_wishes
from ipmicra.app.rules import SiteRules
from ipmicra.assign.balance.config import AuctionConfig, PieceConfig
from ipmicra.assign.overlay.kept import KeptOverlay
from ipmicra.assign.rules.rules import Rules
from ipmicra.edge.dns.bulk import find_sites
from ipmicra.edge.dns.client import DnsConfig
from ipmicra.edge.files.pages import read_pages, read_urls
from ipmicra.edge.files.seeds import UnresolvedSeed
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.store.ports import StorePort
from ipmicra.errors import CorruptStateError, InputError
from ipmicra.model.address import Address
from ipmicra.model.crawler import CrawlerState
from ipmicra.model.site import Site

OVERLAY = "assign overlay"
"""Name of the saved zones from which backends with an overlay continue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignRequest:
    """What a user asked for."""

    texts: Sequence[str] = ()
    backend: str = "balance"
    evenness: float | None = None
    """Of `balance`: 0 is the nearest crawler, 1 equal load. None: as chosen before, else the default."""
    pages: Path | None = None
    urls: tuple[Path, ...] = ()
    pieces: int = 4
    is_kept: bool = True
    every_s: float | None = None
    """How often these sites are crawled; None leaves that as it is."""
    is_due_only: bool = False
    """Also take the sites that are due, and report only those with something to do."""
    zones: ZoneWishes = field(default_factory=ZoneWishes)
    rules: Rules | None = None
    """Who may own which sites; None for no rules."""
    dns: DnsConfig = field(default_factory=DnsConfig)


def assign_seeds(
    store: StorePort,
    request: AssignRequest,
    hierarchy: Hierarchy | None = None,
    clock: Callable[[], float] = time.time,
) -> tuple[AssignReport, list[UnresolvedSeed]]:
    """Assign seeds by the samples and delegations in the store; keep the result unless asked not to.

    With a hierarchy, the delegator's model estimates round trips where nothing was measured.
    """
    check_request(request)
    check_wishes(request.zones, request.backend)
    evenness = chosen_evenness(store, request.evenness)
    now_s = clock()
    overlay, damaged = kept_overlay(store)
    pages, urls = (read_pages(request.pages) if request.pages else {}), read_urls(request.urls)
    crawlers = [member.crawler for member in store.crawlers.all((CrawlerState.JOINED,))]
    there = {one.name for one in crawlers}
    due = due_hosts(store, there, now_s) if request.is_due_only else []
    sites, unresolved = find_sites([*request.texts, *due], store, request.dns)
    state = _state(store, sites, there)
    about = StoredWhereabouts(store, hierarchy, clock) if request.backend in OVERLAYS else None
    learning = (
        None if hierarchy is None else StoredExpectations(store=store, hierarchy=hierarchy, clock=clock)
    )
    report = assign(
        AssignProblem(
            sites=sites,
            crawlers=crawlers,
            trips=_trips(store, sites, request),
            expectations=learning,
            before=state.before,
            loads=store.assignments.loads(),
            backend=request.backend,
            auction=AuctionConfig(evenness=evenness.value, is_anew=evenness.is_changed),
            is_traded=not request.is_due_only,
            pages=crawled_pages(state.schedule) | pages,
            piece_pages=crawled_pieces(state.schedule),
            urls=urls,
            pieces=PieceConfig(most=request.pieces),
            overlay=overlay,
            zones=request.zones,
            scattered=scattered_trips(store, sites, now_s),
            whereabouts=about,
            choices=SiteRules(request.rules, hierarchy).choices(sites, crawlers) if request.rules else {},
        )
    )
    report.turns = turns_of(report.assignments, state, now_s, request.every_s)
    if request.is_kept:
        _keep(store, report, about, now_s)
        if request.backend == "balance":
            keep_trade(store, evenness.value, report.trade, now_s)
    report.findings += [*damaged, *evenness.findings, *delay_findings(report.turns)]
    return (only_due(report) if request.is_due_only else report), unresolved


def _state(store: StorePort, sites: Sequence[Site], there: Collection[str]) -> ScheduleState:
    """Read what was assigned and scheduled of these sites; what exists besides is not read."""
    hosts = list(dict.fromkeys(site.host for site in sites))
    return ScheduleState(
        schedule=list(chain.from_iterable(store.recrawls.of_many(hosts).values())),
        before=list(chain.from_iterable(store.assignments.of_many(hosts).values())),
        there=there,
    )


def check_request(request: AssignRequest) -> None:
    """Refuse a backend that does not exist, and an evenness where it has no effect."""
    check_backend(request.backend)
    if request.evenness is not None and request.backend != "balance":
        raise InputError(f"evenness is an option of balance: {request.backend} has its own rule for load")


def only_due(report: AssignReport) -> AssignReport:
    """Leave out assignments with nothing to do now."""
    rows = [row for row, turn in enumerate(report.turns) if turn.step is not None]
    return replace(
        report,
        assignments=[report.assignments[row] for row in rows],
        turns=[report.turns[row] for row in rows],
    )


def _keep(store: StorePort, report: AssignReport, about: StoredWhereabouts | None, now_s: float) -> None:
    """Store assignments, schedules, zones and the round trips of subnets together."""
    with store.transaction():
        if about is not None:
            about.ledger.save()
        store.assignments.put_many([replace(one, assigned_s=now_s) for one in report.assignments])
        store.recrawls.put_many(turn.recrawl for turn in report.turns if turn.recrawl is not None)
        if report.overlay is not None:
            store.states.put(OVERLAY, report.overlay.to_bytes(), now_s)


def kept_overlay(store: StorePort) -> tuple[KeptOverlay | None, list[str]]:
    """Return the zones of the previous call; damaged ones are computed again, with a finding."""
    saved = store.states.get(OVERLAY)
    try:
        return (KeptOverlay.from_bytes(saved) if saved is not None else None), []
    except CorruptStateError as error:
        return None, [f"{error}: zones are computed again, so more sites may move than necessary"]


def _trips(store: StorePort, sites: list[Site], request: AssignRequest) -> RoundTrips:
    """Return the round trips that a backend works from: zones take medians and leave delegations apart."""
    if request.backend in OVERLAYS:
        return MedianRoundTrips(
            samples=store.samples,
            rejected=frozenset((one.crawler, one.address) for one in store.track_records.rejected()),
            has_downloads=bool(request.zones.download_time),
        )
    return KnownRoundTrips(samples=store.samples, delegated=_delegated(store, sites))


def _delegated(store: StorePort, sites: list[Site]) -> dict[Address, tuple[str, float]]:
    """Return the crawler that each site was delegated to, and the round trip that this rests on."""
    found = {}
    for site in sites:
        result = store.results.latest(site.host)
        if result is not None and result.rtt_ms is not None:
            found[site.address] = result.crawler, result.rtt_ms
    return found
