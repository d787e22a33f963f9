"""Assigning by zones of an overlay (CAN, LBI): where everybody stands, who owns what, who hands on.

How it works
------------
1. The fleet gets coordinates from its mutual round trips (`fleet_space.py`). A crawler with too few of them
   has no zone and no sites; a single crawler has everything.
2. Each site stands somewhere (`standing.py`): by its own samples, its subnet's, at the holder of its subnet,
   at the nearest crawler that measured it, at its place. The first of these that is known counts, and the
   reason of the assignment names it.
3. Zones are those of the call before as far as fleet and options are the same; else they are drawn anew.
   A site belongs to the owner of the zone that it stands in.
4. Under LBI an owner above its threshold hands a site on to the neighbour with the least load, a limited
   number of times.

Sites that stand nowhere have no zone. They go where the load is least, and the findings say so.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from ipmicra.app.assign.fleet_space import MEASURE, FleetSpace, fit_fleet
from ipmicra.app.assign.problem import AssignProblem, TaskTable, ZoneWishes
from ipmicra.app.assign.standing import Locating, SitesInSpace, Source
from ipmicra.assign.balance.config import LBI_RTT, LbiConfig
from ipmicra.assign.balance.demand import Demand
from ipmicra.assign.balance.lbi import ZoneAnswer, Zoning, assign_by_zones
from ipmicra.assign.balance.load import relative, thresholds_of
from ipmicra.assign.overlay.config import ZoneConfig
from ipmicra.assign.overlay.kept import KeptOverlay, Standing
from ipmicra.errors import InputError
from ipmicra.model.types import NOBODY, Floats, Rows

OVERLAYS: dict[str, LbiConfig | None] = {
    "can": None,
    "lbi": LbiConfig(),
    "lbi-rtt": LBI_RTT,
    "lbi-split": LbiConfig(),
}
"""Backends that answer from the overlay, with how they balance."""
ALONE = "the only crawler"
BY_LOAD = "unknown where it is: where load is least"


_DRAWING, _BALANCING = ("scheme", "dimensions", "moved"), ("overload", "hops", "distance_weight")
"""Options of zones, and of load balancing on INSERT."""


@dataclass(slots=True)
class ZonedTasks:
    """Who takes each task, and what is to be told."""

    crawler: Rows
    reasons: list[str]
    expected_ms: Floats
    findings: list[str]
    zones: KeptOverlay | None = None
    moved_load: float = 0.0


def check_wishes(wishes: ZoneWishes, backend: str) -> None:
    """Refuse options that the backend does not have, and numbers that make no sense."""
    drawing, balancing = wishes.given(*_DRAWING), wishes.given(*_BALANCING)
    zoned = drawing | balancing | wishes.given("download_time")
    if backend not in OVERLAYS and zoned:
        raise InputError(f"{_options(zoned)}: for zones, as of --backend can or --backend lbi")
    if OVERLAYS.get(backend) is None and balancing:
        raise InputError(f"{_options(balancing)}: for load balancing on INSERT, as of --backend lbi")
    ZoneConfig(**drawing)
    _balanced(LbiConfig(), wishes)


def _options(given: Iterable[str]) -> str:
    return ", ".join(f"--{name.replace('_', '-')}" for name in given)


def _balanced(lbi: LbiConfig, wishes: ZoneWishes) -> LbiConfig:
    """Change what the user wants otherwise."""
    given = wishes.given(*_BALANCING)
    return replace(lbi, **{"threshold" if name == "overload" else name: one for name, one in given.items()})


def assign_in_zones(table: TaskTable) -> ZonedTasks:
    """Assign tasks to the owners of their zones."""
    problem = table.problem
    if len(problem.crawlers) == 1:
        return _to_the_only_one(table)
    config = replace(_kept_config(problem), **problem.zones.given(*_DRAWING))
    fleet = fit_fleet(problem.trips, problem.crawlers, config.dimensions)
    units = np.where(fleet.is_placed, table.units, 0.0)
    if not units.any():
        raise InputError(f"no crawler with capacity has a coordinate: {MEASURE}")
    sites = [task.site for task in table.tasks]
    stand = Locating(sites, problem.crawlers, table.known_ms, fleet, problem.whereabouts).located()
    same = [one for one in problem.before if one.backend == problem.backend]
    demand = replace(table.demand(stand.expected_ms, same), units=units)
    found = _Zoned(table, demand, stand, fleet).assigned(_zoning(problem, fleet, config))
    found.findings += [*_fleet_findings(problem, fleet, config), *_source_findings(stand, fleet)]
    return found


def _to_the_only_one(table: TaskTable) -> ZonedTasks:
    count = len(table)
    reasons = [ALONE] * count
    return ZonedTasks(np.zeros(count, np.int64), reasons, table.known_ms, [], table.problem.overlay)


def _kept_config(problem: AssignProblem) -> ZoneConfig:
    return (problem.overlay.config if problem.overlay is not None else None) or ZoneConfig()


def _zoning(problem: AssignProblem, fleet: FleetSpace, config: ZoneConfig) -> Zoning:
    """Put together how zones are drawn and load is handed on."""
    lbi, about = OVERLAYS[problem.backend], problem.whereabouts
    lbi = None if lbi is None else _balanced(lbi, problem.zones)
    limits = None if lbi is None else thresholds_of([one.capacity for one in problem.crawlers], lbi)

    def history() -> Standing:
        nothing = np.empty((0, len(problem.crawlers)))
        medians = nothing if about is None else about.history_ms(problem.crawlers)
        medians = medians[fleet.heard(medians) >= fleet.needed]
        return Standing(
            names=[""] * len(medians),
            points=fleet.placed(medians),
            is_known=np.ones(len(medians), bool),
            away_ms=medians,
        )

    return Zoning(lbi=lbi, thresholds=limits, config=config, kept=problem.overlay, history=history)


class _Zoned:
    """The tasks of a problem between their coordinates and their crawlers."""

    def __init__(self, table: TaskTable, demand: Demand, stand: SitesInSpace, fleet: FleetSpace) -> None:
        self._table, self._demand, self._stand, self._fleet = table, demand, stand, fleet
        self._names = [crawler.name for crawler in table.problem.crawlers]

    def assigned(self, how: Zoning) -> ZonedTasks:
        """Assign those with a coordinate by zones, then the others by load."""
        demand, is_somewhere = self._demand, self._stand.is_somewhere
        lost = np.flatnonzero(~is_somewhere)
        taker = np.full(len(demand.load), NOBODY)
        taker[lost] = self._staying(lost)
        rows = np.flatnonzero(is_somewhere)
        found = ZonedTasks(taker, [""] * len(taker), self._stand.expected_ms, [], how.kept)
        if len(rows):
            answer = assign_by_zones(self._part(rows, taker), *self._standing(rows), how)
            taker[rows] = answer.assigned.crawler
            found.zones = answer.zones
            for number, row in enumerate(rows.tolist()):
                found.reasons[row] = f"{self._reason(answer, number)}; {self._stand.labels[row]}"
            if answer.zones.reason:
                found.findings.append(f"zones are drawn anew, so sites may move: {answer.zones.reason}")
        self._by_load(lost, taker)
        for row in lost.tolist():
            found.reasons[row] = BY_LOAD
        has_moved = (demand.before >= 0) & (taker != demand.before)
        found.moved_load = float(demand.load[has_moved].sum() / max(demand.load.sum(), 1.0))
        return found

    def _staying(self, lost: Rows) -> Rows:
        """Return the crawler with which each site stays that is nowhere; -1 for those that have none."""
        before, units = self._demand.before[lost], self._demand.units
        return np.where((before >= 0) & (units[np.maximum(before, 0)] > 0), before, NOBODY)

    def _part(self, rows: Rows, taker: Rows) -> Demand:
        """Return the demand of some rows; what stays of the others is held besides."""
        demand = self._demand
        held, held_sites = self._held(taker)
        return replace(
            demand,
            cost_ms=demand.cost_ms[rows],
            load=demand.load[rows],
            group=None if demand.group is None else demand.group[rows],
            previous=None if demand.previous is None else demand.previous[rows],
            held=held,
            held_sites=held_sites,
        )

    def _held(self, taker: Rows) -> tuple[Floats, Floats]:
        """Return load and number of sites that crawlers have, with those that have a taker."""
        demand, count = self._demand, len(self._demand.units)
        nothing, has = np.zeros(count), taker >= 0
        held = nothing if demand.held is None else demand.held
        held_sites = nothing if demand.held_sites is None else demand.held_sites
        return (
            held + np.bincount(taker[has], demand.load[has], count),
            held_sites + np.bincount(taker[has], minlength=count),
        )

    def _standing(self, rows: Rows) -> tuple[Standing, Standing]:
        """Return where crawlers and tasks stand; tasks of one address stand in one place."""
        stand, tasks = self._stand, self._table.tasks
        return (
            Standing(names=self._names, points=self._fleet.points, is_known=np.ones(len(self._names), bool)),
            Standing(
                names=[str(tasks[row].site.address) for row in rows.tolist()],
                points=stand.points[rows],
                is_known=stand.is_firm[rows],
                labels=[stand.labels[row] for row in rows.tolist()],
                away_ms=stand.expected_ms[rows],
            ),
        )

    def _reason(self, answer: ZoneAnswer, number: int) -> str:
        assigned, path = answer.assigned, answer.paths[number]
        owner = self._names[int(assigned.preferred[number])]
        if assigned.crawler[number] == assigned.preferred[number]:
            return "owner of its zone"
        if assigned.is_kept[number]:
            return f"kept: {owner} owns its zone"
        via = "".join(f" via {self._names[one]}" for one in path[1:-1])
        return f"forwarded from {owner}{via}: load"

    def _by_load(self, lost: Rows, taker: Rows) -> None:
        """Assign the rest to whom has the least load by capacity; sites of one address stay together."""
        demand, chosen = self._demand, dict[int, int]()
        pages = self._held(taker)[0]
        groups = np.arange(len(demand.load)) if demand.group is None else demand.group
        for row in lost.tolist():
            group = int(groups[row])
            if taker[row] < 0:
                taker[row] = chosen.get(group, int(relative(pages, demand.units).argmin()))
                pages[taker[row]] += demand.load[row]
            chosen[group] = int(taker[row])


def _fleet_findings(problem: AssignProblem, fleet: FleetSpace, config: ZoneConfig) -> list[str]:
    findings = []
    left_out = [one.name for one, has in zip(problem.crawlers, fleet.is_placed, strict=True) if not has]
    if left_out:
        who = ", ".join(left_out)
        findings.append(
            f"too few round trips to the other crawlers, so no zone and no sites: {who}; {MEASURE}"
        )
    if fleet.dimensions < config.dimensions:
        few = f"{len(fleet.part)} crawlers allow for {fleet.dimensions}"
        findings.append(
            f"coordinates have {fleet.dimensions} dimensions instead of {config.dimensions}: {few}"
        )
    return findings


def _source_findings(stand: SitesInSpace, fleet: FleetSpace) -> list[str]:
    """Count the sites that do not stand by samples of their own, and say what would help."""
    counts = {source: stand.sources.count(source) for source in Source}
    words = {
        Source.SUBNET: "by samples of their subnet",
        Source.HOLDER: "at the crawler that holds their subnet",
        Source.NEAREST: "at the nearest of the few crawlers that measured them",
        Source.PLACE: "by their place",
    }
    indirect = [f"{counts[source]} {text}" for source, text in words.items() if counts[source]]
    findings = []
    probe = (
        f"`ipmicra probe SEEDS --from landmarks` takes the samples of {fleet.needed} crawlers that fix one"
    )
    if indirect and not counts[Source.UNKNOWN]:
        findings.append(f"coordinates not by samples of their own: {', '.join(indirect)}; {probe}")
    elif counts[Source.UNKNOWN]:
        rest = f" ({', '.join(indirect)})" if indirect else ""
        findings.append(
            f"{counts[Source.UNKNOWN]} of {len(stand.sources)} are nowhere: no sample, no delegation and no "
            f"place, so they go where load is least{rest}; {probe}"
        )
    return findings
