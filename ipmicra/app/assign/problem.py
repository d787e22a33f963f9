"""What is to be assigned, with all that is known, and how it becomes the rows of a demand.

Theory of operation
-------------------
Assigners know rows and columns of numbers (`Demand`); users know hosts, crawlers and rules. `TaskTable`
stands between them. A row is a task: a site, or a piece of a large site, and that once for each vantage
that rules ask for. A column is a crawler.

    cost      round trips measured or expected, in ms; infinite for crawlers that rules exclude
    load      pages, believed where none were counted
    group     rows of one address, which stay together: one machine should see one crawler
    previous  who had the row before; moving it has a price
    held      what crawlers hold of sites that are not asked for now, so that loads are those of everything

Pieces are cut from known URLs. If none are given, sites that were cut before are cut in the same way again,
read back from the filters of their assignments.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ipmicra.app.assign.round_trips import Expectations, RoundTrips
from ipmicra.app.assign.scattered import ScatteredTrips
from ipmicra.app.assign.whereabouts import Whereabouts
from ipmicra.assign.balance.config import AuctionConfig, PieceConfig
from ipmicra.assign.balance.demand import Demand
from ipmicra.assign.balance.load import FleetLoads, PageCounts, believed_pages, fleet_loads, units_of
from ipmicra.assign.balance.pieces import Piece, cut_site, directories_of
from ipmicra.assign.overlay.kept import KeptOverlay
from ipmicra.assign.rules.rules import Choice
from ipmicra.model.assignment import Assignment, TaskKey
from ipmicra.model.crawler import Crawler
from ipmicra.model.site import Site
from ipmicra.model.types import NOBODY, Floats, Rows


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneWishes:
    """Options of backends with an overlay; None leaves an option as it is."""

    scheme: str | None = None
    """How zones are split; by default as before, MP for new zones."""
    dimensions: int | None = None
    """Of coordinate space; by default as before, 3 for new zones."""
    moved: float | None = None
    """Share of the known coordinates outside the bounds of the space, from which λ follows; 0.05."""
    overload: float | None = None
    """Relative task load above which a crawler without a limit of its own is overloaded; OT, 11."""
    hops: int | None = None
    """Times that a task is forwarded at most; TTL, 3."""
    download_time: bool | None = None
    """Whether distances are round trips plus download times of main pages; else round trips alone."""
    distance_weight: float | None = None
    """What distance counts beside load when a neighbour is chosen; 0 for LBI, 0.5 for LBI_RTT."""

    def given(self, *names: str) -> dict[str, Any]:
        """Return the options that were given, of those named."""
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignProblem:
    """Sites to assign to crawlers, what is known about them, and how to do it."""

    sites: Sequence[Site]
    crawlers: Sequence[Crawler]
    trips: RoundTrips
    expectations: Expectations | None = None
    """Estimates unmeasured round trips; without it, coordinates do so if crawlers measured each other."""
    before: Sequence[Assignment] = ()
    """Earlier assignments of these sites, which stay where they can; all of them, if nobody counts loads."""
    loads: FleetLoads | None = None
    """What crawlers hold, `before` included, where somebody keeps count; else counted in `before`."""
    backend: str = "balance"
    pages: Mapping[str, float] = field(default_factory=dict)
    """Pages of hosts, by the last crawl."""
    piece_pages: Mapping[TaskKey, int] = field(default_factory=dict)
    """Pages of pieces, by the last crawl."""
    urls: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Known URLs of hosts, by which large ones are cut into pieces; without any, earlier pieces stay."""
    pieces: PieceConfig = field(default_factory=PieceConfig)
    auction: AuctionConfig = field(default_factory=AuctionConfig)
    """Tuning of `balance`; its evenness trades nearness for load."""
    is_traded: bool = True
    """Whether the report says what the evenness costs, which takes an auction for each point."""
    choices: Mapping[str, Sequence[Choice]] = field(default_factory=dict)
    """Who may own a host, for each of its vantages, where rules limit it."""
    overlay: KeptOverlay | None = None
    """Zones of the call before, from which backends with an overlay continue."""
    zones: ZoneWishes = field(default_factory=ZoneWishes)
    scattered: ScatteredTrips = field(default_factory=ScatteredTrips)
    """Round trips of sites that crawlers see at different addresses."""
    whereabouts: Whereabouts | None = None
    """Tells backends with an overlay where sites are that have too few samples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A site or a piece of one, before it has a crawler."""

    site: Site
    piece: Piece | None = None
    pages: float | None = None
    """None if nothing is known."""
    choice: Choice | None = None
    """What rules leave of the fleet; None if no rule matches."""

    @property
    def vantage(self) -> str:
        """Where the site is seen from; empty without a rule."""
        return self.choice.vantage if self.choice else ""

    @property
    def key(self) -> TaskKey:
        """What identifies its assignment."""
        number, of = (self.piece.number, self.piece.of) if self.piece else (1, 1)
        return self.site.host, self.vantage, number, of


class TaskTable:
    """The tasks of a problem in rows, with their loads and what crawlers hold besides."""

    def __init__(self, problem: AssignProblem, *, is_cutting: bool) -> None:
        """Cut large sites where the backend does, and work out loads and capacities."""
        self.problem = problem
        self.tasks = _tasks(problem, is_cutting=is_cutting)
        self.counts: PageCounts = believed_pages([task.pages for task in self.tasks])
        self.load: Floats = self.counts.pages.astype(np.float64)
        self.units = units_of([crawler.capacity for crawler in problem.crawlers])
        self.loads = fleet_loads(problem.before) if problem.loads is None else problem.loads
        addresses = [task.site.address for task in self.tasks]
        self.known_ms = self.as_seen(problem.trips.expected_ms(addresses, problem.crawlers))

    def __len__(self) -> int:
        """Count the tasks."""
        return len(self.tasks)

    def as_seen(self, expected_ms: Floats) -> Floats:
        """Put in what crawlers measured of scattered sites: those that do not see one must not get it."""
        hosts = [task.site.host for task in self.tasks]
        return self.problem.scattered.applied(hosts, self.problem.crawlers, expected_ms)

    def demand(self, cost_ms: Floats, before: Sequence[Assignment]) -> Demand:
        """Return what an assigner is asked; `before` are the assignments that it continues from."""
        held_sites, held = self._held()
        return Demand(
            cost_ms=self.left(cost_ms),
            load=self.load,
            units=self.units,
            group=self._groups(),
            previous=self._previous(before),
            held=held,
            held_sites=held_sites,
        )

    def left(self, cost_ms: Floats) -> Floats:
        """Put crawlers out of reach that rules do not leave; any that are left can take a site."""
        rows = [row for row, task in enumerate(self.tasks) if task.choice is not None]
        if not rows:
            return cost_ms
        found = cost_ms.astype(np.float64)
        usual = float(np.median(cost_ms[np.isfinite(cost_ms)])) if np.isfinite(cost_ms).any() else 1.0
        for row in rows:
            choice = self.tasks[row].choice
            left = list(choice.crawlers) if choice else []
            costs = found[row, left]
            found[row] = np.inf
            # Nothing is known of those that are left: then all are as good as any.
            found[row, left] = costs if np.isfinite(costs).any() else usual
        return found

    def _held(self) -> tuple[Floats, Floats]:
        """Count tasks and pages that crawlers hold of sites that are not asked for now."""
        asked = {task.site.host for task in self.tasks}
        return self.loads.held(
            [one.name for one in self.problem.crawlers],
            without=(one for one in self.problem.before if one.host in asked),
        )

    def _groups(self) -> Rows:
        """Number tasks by address, so that hosts of one address stay together if they may.

        Each piece stands alone, and so does each scattered site, which has no address of its own.
        """
        numbers: dict[Any, int] = {}
        apart = self.problem.scattered.sites
        keys = [
            task.key
            if task.piece is not None or task.site.host in apart
            else (task.site.address, task.choice and task.choice.crawlers)
            for task in self.tasks
        ]
        return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)

    def _previous(self, before: Sequence[Assignment]) -> Rows | None:
        """Return the crawler that had each task, by number; None if nothing was ever assigned."""
        column = self._columns()
        had = {one.key: column.get(one.crawler or "", NOBODY) for one in before}
        if not had and not self.loads.by_crawler:
            return None
        return np.array([had.get(task.key, NOBODY) for task in self.tasks], dtype=np.int64)

    def _columns(self) -> dict[str, int]:
        return {crawler.name: number for number, crawler in enumerate(self.problem.crawlers)}


def _tasks(problem: AssignProblem, *, is_cutting: bool) -> list[Task]:
    """Return one task per site, or per piece of a large one, and that for each vantage."""
    remembered = {one.host: one.pages for one in problem.before if one.of == 1 and one.pages is not None}
    earlier = earlier_pieces(problem.before)
    tasks = []
    for site in {site.host: site for site in problem.sites}.values():
        pages = problem.pages.get(site.host, remembered.get(site.host))
        urls = problem.urls.get(site.host, ()) if is_cutting else ()
        pieces = cut_site(directories_of(urls), problem.pieces) if urls else earlier.get(site.host, [])
        is_cut = is_cutting and 1 < len(pieces) <= problem.pieces.most
        for choice in problem.choices.get(site.host, (None,)):
            if is_cut:
                tasks += [_task_of_piece(problem, site, choice, one) for one in pieces]
            else:
                counted = pages if pages is not None else len(urls) or None
                tasks.append(Task(site=site, pages=counted, choice=choice))
    return tasks


def _task_of_piece(problem: AssignProblem, site: Site, choice: Choice | None, piece: Piece) -> Task:
    """Return the task of a piece; page counts of earlier calls are remembered."""
    task = Task(site=site, piece=piece, choice=choice)
    return replace(task, pages=problem.piece_pages.get(task.key, piece.pages))


def earlier_pieces(before: Iterable[Assignment]) -> dict[str, list[Piece]]:
    """Return the pieces into which hosts were cut before; hosts that are whole are left out."""
    found: dict[str, dict[int, Piece]] = {}
    for one in before:
        if one.of > 1:
            found.setdefault(one.host, {})[one.piece] = _piece_of(one)
    return {host: list(pieces.values()) for host, pieces in found.items()}


def _piece_of(one: Assignment) -> Piece:
    """Read a piece back from its filters; only the rest piece names directories that are not part of it."""
    others = tuple(name[1:] for name in one.filters if name.startswith("-"))
    return Piece(
        number=one.piece,
        of=one.of,
        directories=tuple(name for name in one.filters if not name.startswith("-")),
        is_rest=bool(others),
        others=others,
        pages=int(believed_pages([one.pages]).pages[0]),
    )
