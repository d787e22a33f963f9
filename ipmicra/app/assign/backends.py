"""Assigning by a backend: the nearest crawler with room (auction), or zones of an overlay (CAN, LBI).

Each backend turns rows of tasks into an array of crawlers; what it chose is written down here, once, as
`Assignment`, the noun that the store keeps and the screen shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ipmicra.app.assign.findings import fleet_findings, page_findings, takeovers, trip_findings
from ipmicra.app.assign.problem import AssignProblem, TaskTable
from ipmicra.app.assign.recrawl import Turn
from ipmicra.app.assign.round_trips import fleet_coordinates
from ipmicra.app.assign.trade import trade_findings, trade_of
from ipmicra.app.assign.zones import OVERLAYS, assign_in_zones
from ipmicra.assign.balance.auction.assigner import assign_sites
from ipmicra.assign.balance.demand import AssignedSites
from ipmicra.assign.balance.trade import Trade
from ipmicra.assign.overlay.kept import KeptOverlay
from ipmicra.errors import InputError
from ipmicra.model.assignment import Assignment
from ipmicra.model.types import NOBODY, Floats, Rows

BACKENDS = (*OVERLAYS, "balance")
CUTTING = {"lbi-split", "balance"}
"""Backends that cut large sites into pieces."""


@dataclass(slots=True)
class AssignReport:
    """Assignments, and what a user should know about them."""

    assignments: list[Assignment]
    findings: list[str] = field(default_factory=list)
    """One sentence each."""
    moved_load: float = 0.0
    """Part of the load that changed crawlers."""
    overlay: KeptOverlay | None = None
    """Zones from which the next call continues, where the backend has any."""
    trade: Trade | None = None
    """What the chosen evenness costs, where the backend has one and there is a choice."""
    turns: list[Turn] = field(default_factory=list)
    """What to do with each assignment now, where a schedule is kept."""

    @property
    def unassigned(self) -> int:
        """Count the assignments without a crawler."""
        return sum(one.crawler is None for one in self.assignments)


def assign(problem: AssignProblem) -> AssignReport:
    """Assign sites to crawlers; what was assigned before stays where it can."""
    check_backend(problem.backend)
    if not problem.crawlers:
        raise InputError("there is no crawler: add one with `ipmicra crawler add NAME ADDRESS`")
    if not problem.sites:
        return AssignReport(assignments=[])
    table = TaskTable(problem, is_cutting=problem.backend in CUTTING)
    if not table.units.any():
        reasons = ["no crawler has any capacity"] * len(table)
        report = _report(table, np.full(len(table), NOBODY), reasons, table.known_ms)
    elif problem.backend == "balance":
        report = _by_auction(table)
    else:
        report = _by_zones(table)
    report.findings += [
        *page_findings(table.counts),
        *fleet_findings(problem.crawlers, table.units, report.assignments),
        *takeovers(problem.crawlers, report.assignments, problem.before, table.loads),
    ]
    return report


def check_backend(name: str) -> None:
    """Refuse a backend that does not exist."""
    if name not in BACKENDS:
        raise InputError(f"no backend named {name!r}; there are {', '.join(BACKENDS)}")


def _by_auction(table: TaskTable) -> AssignReport:
    """Assign by the auction; sites without any sample go where there is room."""
    problem, findings = table.problem, []
    if problem.expectations is not None:
        sites = [task.site for task in table.tasks]
        expected = problem.expectations.filled(sites, problem.crawlers, table.known_ms)
    else:
        found = fleet_coordinates(problem.trips, problem.crawlers, table.known_ms)
        expected = table.known_ms if found is None else found.expected_ms()
        findings = trip_findings(expected)
    expected = table.as_seen(expected)
    is_blind: NDArray[np.bool_] = np.asarray(np.isnan(expected).all(axis=1))
    cost_ms = expected
    if is_blind.any():
        rest = expected[~is_blind]
        cost_ms = np.where(is_blind[:, None], float(np.nanmedian(rest)) if len(rest) else 1.0, expected)
    demand = table.demand(cost_ms, problem.before)
    assigned = assign_sites(demand, problem.auction)
    reasons = _reasons(table, assigned, ("nearest", "is nearer"))
    for row in np.flatnonzero(is_blind & (assigned.crawler >= 0)).tolist():
        reasons[row] = "no sample: where room is"
    report = _report(table, assigned.crawler, reasons, expected)
    report.moved_load = assigned.moved_load
    report.trade = trade_of(table, demand, assigned, expected) if problem.is_traded else None
    report.findings = [*findings, *trade_findings(report.trade)]
    return report


def _by_zones(table: TaskTable) -> AssignReport:
    """Assign by the overlay, whose zones are those of the call before as far as the fleet is the same."""
    found = assign_in_zones(table)
    reasons = list(found.reasons)
    report = _report(
        table, obeyed(table, found.crawler, found.expected_ms, reasons), reasons, found.expected_ms
    )
    report.moved_load, report.overlay, report.findings = found.moved_load, found.zones, found.findings
    return report


def obeyed(table: TaskTable, crawler: Rows, expected_ms: Floats, reasons: list[str]) -> Rows:
    """Move sites whose owner rules forbid to the nearest crawler that they leave; note why in `reasons`.

    Zones know no rules; so load is not balanced among these sites.
    """
    chosen, cost_ms = crawler.copy(), table.left(expected_ms)
    for row, task in enumerate(table.tasks):
        if task.choice is not None and chosen[row] >= 0 and int(chosen[row]) not in task.choice.crawlers:
            is_left = bool(task.choice.crawlers)
            chosen[row] = int(np.nanargmin(cost_ms[row])) if is_left else NOBODY
            owner = table.problem.crawlers[int(crawler[row])].name
            reasons[row] = f"nearest that is left; {owner} owns its zone"
    return chosen


def _reasons(table: TaskTable, assigned: AssignedSites, words: tuple[str, str]) -> list[str]:
    """Explain each choice; `words` say that a crawler is the preferred one, and that another one would be."""
    names = [crawler.name for crawler in table.problem.crawlers]
    own, other = words
    reasons = []
    for taker, preferred, is_kept in zip(
        assigned.crawler.tolist(), assigned.preferred.tolist(), assigned.is_kept.tolist(), strict=True
    ):
        if taker < 0:
            reasons.append("no crawler with capacity has reached it")
        elif taker == preferred:
            reasons.append(own)
        elif is_kept:
            reasons.append(f"kept: {names[preferred]} {other}")
        else:
            reasons.append(f"forwarded from {names[preferred]}: load")
    return reasons


def _report(table: TaskTable, crawler: Rows, reasons: Sequence[str], expected_ms: Floats) -> AssignReport:
    """Make the report of the answers."""
    assignments = []
    for row, task in enumerate(table.tasks):
        number = int(crawler[row])
        reason, rule = reasons[row], task.choice.reason if task.choice else ""
        if task.choice is not None and not task.choice.crawlers:
            reason = f"{rule}: no crawler of the fleet is left"
        ms = float(expected_ms[row, number]) if number >= 0 else np.nan
        host, vantage, piece, of = task.key
        taker = table.problem.crawlers[number].name if number >= 0 else None
        assignments.append(
            Assignment(
                host=host,
                vantage=vantage,
                piece=piece,
                of=of,
                address=table.problem.scattered.address(task.site, taker),
                crawler=taker,
                reason=f"{task.piece.label}, {reason}" if task.piece else reason,
                rule=rule,
                backend=table.problem.backend,
                expected_ms=ms if np.isfinite(ms) else None,
                pages=int(table.load[row]) if task.pages is not None else None,
                filters=task.piece.filters if task.piece else (),
            )
        )
    return AssignReport(assignments=assignments)
