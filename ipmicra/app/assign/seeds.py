"""`ipmicra assign` from seeds and files to assignments kept in the store."""

from __future__ import annotations

import asyncio
import csv
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ipmicra.app.assign.assigning import BACKENDS, AssignOptions, AssignReport, assign, stamped
from ipmicra.app.assign.expected_trips import StoredExpectations
from ipmicra.app.assign.recrawl import (
    ScheduleState,
    crawled_pages,
    crawled_pieces,
    delay_findings,
    due_hosts,
    turns_of,
)
from ipmicra.app.assign.round_trips import DelegatedRoundTrips, SampledRoundTrips
from ipmicra.assign.balance.kept_overlay import KeptOverlay
from ipmicra.assign.balance.piece_report import urls_of_sitemap
from ipmicra.assign.balance.pieces import PieceConfig
from ipmicra.edge.dns.bulk import BulkResolver, Seed, read_seed
from ipmicra.edge.dns.client import DnsClient, DnsConfig
from ipmicra.edge.dns.one_by_one import REASONS
from ipmicra.edge.files.targets import host_of
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.store.ports import StorePort
from ipmicra.errors import CorruptStateError, InputError
from ipmicra.model.address import Address
from ipmicra.model.crawler import CrawlerState
from ipmicra.model.site import Site

Unresolved = list[tuple[str, str]]
"""Seeds without an address, and why."""
_OVERLAY = "assign overlay"
"""Name of the saved zones that backends with an overlay go on from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignRequest:
    """What a user asked for."""

    texts: Sequence[str]
    backend: str = "balance"
    pages: Path | None = None
    urls: tuple[Path, ...] = ()
    pieces: int = 4
    is_kept: bool = True
    every_s: float | None = None
    """How often these sites are crawled; None leaves that as it is."""
    is_due_only: bool = False
    """Take the sites that are due for seeds, and tell only what is to be done."""
    dns: DnsConfig = field(default_factory=DnsConfig)


def assign_seeds(
    store: StorePort,
    request: AssignRequest,
    hierarchy: Hierarchy | None = None,
    clock: Callable[[], float] = time.time,
) -> tuple[AssignReport, Unresolved]:
    """Assign seeds by the samples and delegations in the store; keep the result unless told otherwise.

    With a hierarchy the delegator's model says what to expect where nothing was measured.
    """
    if request.backend not in BACKENDS:
        raise InputError(f"no backend named {request.backend!r}; there are {', '.join(BACKENDS)}")
    now_s, schedule, before = clock(), store.recrawls.all(), store.assignments.all()
    overlay, damaged = _kept_overlay(store)
    options = AssignOptions(
        backend=request.backend,
        pages=crawled_pages(schedule) | (read_pages(request.pages) if request.pages else {}),
        piece_pages=crawled_pieces(schedule),
        urls=read_urls(request.urls),
        pieces=PieceConfig(most=request.pieces),
        overlay=overlay,
    )
    crawlers = [member.crawler for member in store.crawlers.all((CrawlerState.JOINED,))]
    state = ScheduleState(schedule=schedule, before=before, there={one.name for one in crawlers})
    if request.is_due_only:
        request = replace(request, texts=[*request.texts, *due_hosts(state, now_s)])
    sites, unresolved = _sites(store, request)
    report = assign(
        sites,
        crawlers,
        DelegatedRoundTrips(
            measured=SampledRoundTrips(samples=store.samples), delegated=_delegated(store, sites)
        ),
        options,
        before,
        None if hierarchy is None else StoredExpectations(store=store, hierarchy=hierarchy, clock=clock),
    )
    report.turns = turns_of(report.assignments, state, now_s, request.every_s)
    if request.is_kept:
        with store.transaction():
            store.assignments.put_many(stamped(report, now_s))
            store.recrawls.put_many(turn.recrawl for turn in report.turns if turn.recrawl is not None)
            if report.overlay is not None:
                store.states.put(_OVERLAY, report.overlay.to_bytes(), now_s)
    report.findings += [*damaged, *delay_findings(report.turns)]
    return (only_due(report) if request.is_due_only else report), unresolved


def only_due(report: AssignReport) -> AssignReport:
    """Leave out what is not to be done now."""
    rows = [row for row, turn in enumerate(report.turns) if turn.step is not None]
    return replace(
        report,
        assignments=[report.assignments[row] for row in rows],
        turns=[report.turns[row] for row in rows],
    )


def _kept_overlay(store: StorePort) -> tuple[KeptOverlay | None, list[str]]:
    """Give the zones of the call before; damaged ones are drawn anew, and that is told."""
    saved = store.states.get(_OVERLAY)
    try:
        return (KeptOverlay.from_bytes(saved) if saved is not None else None), []
    except CorruptStateError as error:
        return None, [f"{error}: zones are drawn anew, so that more sites may move than must"]


def _delegated(store: StorePort, sites: list[Site]) -> dict[Address, tuple[str, float]]:
    """Give the crawler that each site was delegated to, and the round trip that this rests on."""
    found = {}
    for site in sites:
        result = store.results.latest(site.host)
        if result is not None and result.rtt_ms is not None:
            found[site.address] = result.crawler, result.rtt_ms
    return found


def _sites(store: StorePort, request: AssignRequest) -> tuple[list[Site], Unresolved]:
    """Give the sites of seeds: pinned ones from the store, addresses as they are, others by the DNS."""
    sites: dict[str, Site] = {}
    ask: list[str] = []
    for text in request.texts:
        seed = read_seed(text)
        pinned = store.sites.get(seed.host) if isinstance(seed, Seed) else None
        if pinned is not None:
            sites[text] = pinned
        elif isinstance(seed, Seed) and seed.address is not None:
            sites[text] = Site(seed.host, seed.address, seed.scheme, seed.port)
        else:
            ask.append(text)
    resolved, unresolved = asyncio.run(_resolved(store, ask, request.dns)) if ask else ({}, [])
    store.sites.put_many(resolved.values(), time.time())
    sites |= resolved
    return [sites[text] for text in request.texts if text in sites], unresolved


async def _resolved(
    store: StorePort, texts: Sequence[str], dns: DnsConfig
) -> tuple[dict[str, Site], Unresolved]:
    found: dict[str, Site] = {}
    unresolved: Unresolved = []
    async with DnsClient(dns) as client:
        names = iter(texts)
        async for answer in BulkResolver(client, store.names).resolve(texts):
            text = next(names)
            if isinstance(answer, Site):
                pinned = store.sites.get(answer.host)
                found[text] = answer if pinned is None else replace(answer, address=pinned.address)
            else:
                unresolved.append((answer.text, REASONS[answer.status.value]))
    return found, unresolved


def read_pages(path: Path) -> dict[str, float]:
    """Read page counts: lines of `host,pages`; a number that cannot be read is kept as NaN and estimated."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = [row for row in csv.reader(file) if row and not row[0].startswith("#")]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: give a CSV with lines of host,pages") from error
    if rows and rows[0][0].strip().lower() == "host":
        rows = rows[1:]
    return {row[0].strip().lower().rstrip("."): _count(row[1]) for row in rows if len(row) > 1}


def _count(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def read_urls(paths: Sequence[Path]) -> Mapping[str, list[str]]:
    """Read lists of URLs and sitemaps; give the URLs of each host."""
    found: dict[str, list[str]] = {}
    for path in paths:
        try:
            urls = urls_of_sitemap(path.read_text(encoding="utf-8", errors="replace"))
        except OSError as error:
            raise InputError(f"{path}: cannot be read: give a list of URLs or a sitemap") from error
        for url in urls:
            found.setdefault(host_of(url).lower().rstrip("."), []).append(url)
    return found
