"""Assignments as a use case: sites in, a crawler and a reason for each out, incremental from call to call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ipmicra.app.assign.findings import fleet_findings, page_findings, takeovers, trip_findings
from ipmicra.app.assign.pieces import earlier_pieces, filters_of
from ipmicra.app.assign.recrawl import Turn
from ipmicra.app.assign.round_trips import Expectations, RoundTrips, fleet_coordinates
from ipmicra.app.assign.zones import OVERLAYS, ZoneQuestion, by_zones
from ipmicra.assign.balance.assigner import Demand, assign_sites
from ipmicra.assign.balance.by_overlay import Burden
from ipmicra.assign.balance.config import AuctionConfig
from ipmicra.assign.balance.kept_overlay import KeptOverlay
from ipmicra.assign.balance.load import believed_pages, units_of
from ipmicra.assign.balance.pieces import Piece, PieceConfig, cut_site, directories_of
from ipmicra.errors import InputError
from ipmicra.model.assignment import Assignment
from ipmicra.model.crawler import Crawler
from ipmicra.model.site import Site
from ipmicra.model.types import Floats, Rows

BACKENDS = (*OVERLAYS, "balance")
CUTTING = {"lbi-split", "balance"}
"""Backends that cut large sites into pieces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignOptions:
    """What a user wants."""

    backend: str = "balance"
    pages: Mapping[str, float] = field(default_factory=dict)
    """Pages of hosts, by the last crawl."""
    piece_pages: Mapping[tuple[str, int, int], int] = field(default_factory=dict)
    """Pages of pieces (host, number, pieces in all), by the last crawl."""
    urls: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Known URLs of hosts, by which large ones are cut into pieces; without any, earlier pieces stay."""
    pieces: PieceConfig = field(default_factory=PieceConfig)
    auction: AuctionConfig = field(default_factory=AuctionConfig)
    overlay: KeptOverlay | None = None
    """Zones of the call before, which overlays go on from."""


@dataclass(slots=True)
class AssignReport:
    """What came of it."""

    assignments: list[Assignment]
    findings: list[str] = field(default_factory=list)
    """What a user should know, one sentence each."""
    moved_load: float = 0.0
    """Part of the load that changed crawlers."""
    overlay: KeptOverlay | None = None
    """Zones to go on from at the next call, where the backend has any."""
    turns: list[Turn] = field(default_factory=list)
    """What to do with each assignment now, where a schedule is kept."""

    @property
    def unassigned(self) -> int:
        """Count what nobody takes."""
        return sum(one.crawler is None for one in self.assignments)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A site or a piece of it, before it has a crawler."""

    site: Site
    piece: Piece | None
    pages: float | None


def assign(
    sites: Sequence[Site],
    crawlers: Sequence[Crawler],
    trips: RoundTrips,
    options: AssignOptions,
    before: Sequence[Assignment] = (),
    expectations: Expectations | None = None,
) -> AssignReport:
    """Assign sites to crawlers; what was assigned before stays where it can.

    Round trips that nobody measured are as `expectations` say; without them, as coordinates say if crawlers
    have measured each other.
    """
    if options.backend not in BACKENDS:
        raise InputError(f"no backend named {options.backend!r}; there are {', '.join(BACKENDS)}")
    if not crawlers:
        raise InputError("there is no crawler: add one with `ipmicra crawler add NAME ADDRESS`")
    tasks = _tasks(list({site.host: site for site in sites}.values()), options, before)
    if not tasks:
        return AssignReport(assignments=[])
    counts = believed_pages([task.pages for task in tasks])
    units = units_of([crawler.capacity for crawler in crawlers])
    known = trips.expected_ms([task.site.address for task in tasks], crawlers)
    problem = _Problem(
        tasks=tasks,
        crawlers=crawlers,
        known_ms=known,
        load=counts.pages.astype(np.float64),
        burden=_burden(tasks, crawlers, units, before),
    )
    report = _balanced(problem, trips, options, before, expectations)
    report.findings += [
        *page_findings(counts.estimated, counts.refused),
        *fleet_findings(crawlers, units, report.assignments),
        *takeovers(crawlers, report.assignments, before),
    ]
    return report


@dataclass(frozen=True, slots=True, kw_only=True)
class _Problem:
    tasks: list[Task]
    crawlers: Sequence[Crawler]
    known_ms: Floats
    load: Floats
    burden: Burden

    @property
    def units(self) -> Floats:
        """What each crawler can bear."""
        return self.burden.units


def _burden(
    tasks: Sequence[Task], crawlers: Sequence[Crawler], units: Floats, before: Sequence[Assignment]
) -> Burden:
    """Sum up what crawlers hold of sites that are not asked for now."""
    asked = {task.site.host for task in tasks}
    column = {crawler.name: number for number, crawler in enumerate(crawlers)}
    others = [one for one in before if one.host not in asked and one.crawler in column]
    rows = np.array([column[one.crawler or ""] for one in others], dtype=np.int64)
    pages = believed_pages([one.pages for one in others]).pages
    count = len(crawlers)
    return Burden(
        units=units,
        tasks=np.bincount(rows, minlength=count).astype(np.float64),
        pages=np.bincount(rows, pages, count).astype(np.float64),
    )


def _tasks(sites: Sequence[Site], options: AssignOptions, before: Sequence[Assignment]) -> list[Task]:
    """Cut what is to be cut; page counts of an earlier call are remembered."""
    remembered = {one.host: one.pages for one in before if one.of == 1 and one.pages is not None}
    earlier = earlier_pieces(before)
    tasks = []
    for site in sites:
        pages = options.pages.get(site.host, remembered.get(site.host))
        urls = options.urls.get(site.host, ()) if options.backend in CUTTING else ()
        is_cutting = options.backend in CUTTING
        pieces = cut_site(directories_of(urls), options.pieces) if urls else earlier.get(site.host, [])
        if is_cutting and 1 < len(pieces) <= options.pieces.most:
            told = options.piece_pages
            tasks += [
                Task(site=site, piece=one, pages=told.get((site.host, one.number, one.of), one.pages))
                for one in pieces
            ]
        else:
            tasks.append(Task(site=site, piece=None, pages=pages if pages is not None else len(urls) or None))
    return tasks


def _balanced(
    problem: _Problem,
    trips: RoundTrips,
    options: AssignOptions,
    before: Sequence[Assignment],
    expectations: Expectations | None,
) -> AssignReport:
    """Ask the backend."""
    if not problem.units.any():
        nobody = np.full(len(problem.tasks), -1)
        reasons = ["no crawler has any capacity"] * len(problem.tasks)
        return _report(problem, nobody, reasons, problem.known_ms, options)
    if options.backend == "balance" and expectations is not None:
        sites = [task.site for task in problem.tasks]
        expected = expectations.filled(sites, problem.crawlers, problem.known_ms)
        return _by_auction(problem, expected, options, before)
    found = fleet_coordinates(trips, problem.crawlers, problem.known_ms)
    expected = problem.known_ms if found is None else found.expected_ms()
    if options.backend == "balance":
        report = _by_auction(problem, expected, options, before)
        report.findings = trip_findings(expected)
        return report
    if found is None:
        raise InputError(
            f"{options.backend} needs round trips between at least four crawlers: "
            "`ipmicra probe ADDRESS... --from all` with the crawlers' own addresses"
        )
    same = [one for one in before if one.backend == options.backend]
    question = ZoneQuestion(
        names=[crawler.name for crawler in problem.crawlers],
        addresses=[task.site.address for task in problem.tasks],
        load=problem.load,
        burden=problem.burden,
        previous=_previous(problem, same),
    )
    placed = by_zones(found, question, options.backend, options.overlay)
    report = _report(problem, placed.taker, placed.reasons, expected, options)
    report.moved_load, report.overlay = placed.moved_load, placed.overlay
    return report


def _by_auction(
    problem: _Problem, expected: Floats, options: AssignOptions, before: Sequence[Assignment]
) -> AssignReport:
    """Assign by the auction; sites without any sample go where room is."""
    is_blind: NDArray[np.bool_] = np.asarray(np.isnan(expected).all(axis=1))
    rest = expected[~is_blind]
    usual = float(np.nanmedian(rest)) if len(rest) else 1.0
    cost = np.where(is_blind[:, None], usual, expected)
    previous = _previous(problem, before)
    placement = assign_sites(
        Demand(
            cost_ms=cost,
            load=problem.load,
            units=problem.units,
            group=_groups(problem.tasks),
            previous=previous,
            held=problem.burden.pages,
        ),
        options.auction,
    )
    names = [crawler.name for crawler in problem.crawlers]
    reasons = []
    for row, (taker, nearest) in enumerate(
        zip(placement.crawler.tolist(), placement.nearest.tolist(), strict=True)
    ):
        if taker < 0:
            reasons.append("no crawler with capacity has reached it")
        elif is_blind[row]:
            reasons.append("no sample: where room is")
        elif taker == nearest:
            reasons.append("nearest")
        elif placement.is_kept[row]:
            reasons.append(f"kept: {names[nearest]} is nearer")
        else:
            reasons.append(f"forwarded from {names[nearest]}: load")
    report = _report(problem, placement.crawler, reasons, expected, options)
    report.moved_load = placement.moved_load
    return report


def _groups(tasks: Sequence[Task]) -> Rows:
    """Number tasks by address, so that hosts of one address stay together; each piece stands alone."""
    numbers: dict[Any, int] = {}
    keys = [
        task.site.address if task.piece is None else (task.site.host, task.piece.number) for task in tasks
    ]
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


def _previous(problem: _Problem, before: Sequence[Assignment]) -> Rows | None:
    """Give who had each task before, by the crawlers' numbers."""
    column = {crawler.name: number for number, crawler in enumerate(problem.crawlers)}
    had = {(one.host, one.piece, one.of): column.get(one.crawler or "", -1) for one in before}
    if not had:
        return None
    keys = [
        (task.site.host, task.piece.number if task.piece else 1, task.piece.of if task.piece else 1)
        for task in problem.tasks
    ]
    return np.array([had.get(key, -1) for key in keys], dtype=np.int64)


def _report(
    problem: _Problem, taker: Rows, reasons: list[str], expected: Floats, options: AssignOptions
) -> AssignReport:
    """Write the answers down."""
    assignments = []
    for row, task in enumerate(problem.tasks):
        number = int(taker[row])
        ms = float(expected[row, number]) if number >= 0 else np.nan
        piece = task.piece
        assignments.append(
            Assignment(
                host=task.site.host,
                piece=piece.number if piece else 1,
                of=piece.of if piece else 1,
                address=task.site.address,
                crawler=problem.crawlers[number].name if number >= 0 else None,
                reason=f"{piece.label}, {reasons[row]}" if piece else reasons[row],
                backend=options.backend,
                expected_ms=ms if np.isfinite(ms) else None,
                pages=int(problem.load[row]) if task.pages is not None else None,
                filters=filters_of(piece) if piece else (),
            )
        )
    return AssignReport(assignments=assignments)


def stamped(report: AssignReport, now_s: float) -> list[Assignment]:
    """Give the assignments with the time at which they are kept."""
    return [replace(one, assigned_s=now_s) for one in report.assignments]
