"""Crawling again as a use case: keep what crawlers report, and say what is due."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from ipmicra.assign.balance.recrawl import (
    Step,
    expected_delay_s,
    next_step,
    noted,
    recut,
    submitted,
)
from ipmicra.edge.store.ports import StorePort
from ipmicra.model.assignment import Assignment, TaskKey
from ipmicra.model.recrawl import Crawled, Recrawl


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What is to be done with one assignment now, and its schedule after that."""

    step: Step | None
    """None if it is not due."""
    recrawl: Recrawl | None
    """None if it has no crawler and never had."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleState:
    """The schedules and assignments of some sites, and the fleet, before a call."""

    schedule: Sequence[Recrawl]
    before: Sequence[Assignment]
    there: Collection[str]
    """Crawlers of the fleet, by name."""


def note_crawled(store: StorePort, reports: Iterable[Crawled]) -> tuple[list[Recrawl], list[str]]:
    """Keep what crawlers report; return the schedules that changed, and what was refused."""
    changed: dict[str, dict[tuple[str, int], Recrawl]] = {}
    touched: set[tuple[str, tuple[str, int]]] = set()
    refused = []
    with store.transaction():
        for report in reports:
            if report.host not in changed:
                changed[report.host] = {
                    (one.vantage, one.piece): one for one in store.recrawls.of(report.host)
                }
            known = changed[report.host]
            wrong = _wrong(report, known)
            if wrong:
                refused.append(f"{report.host}: {wrong}")
                continue
            piece = report.vantage, report.piece or 1
            known[piece] = noted(known.get(piece), report)
            touched.add((report.host, piece))
        store.recrawls.put_many(one for pieces in changed.values() for one in pieces.values())
    return [changed[host][piece] for host, piece in sorted(touched)], refused


def _wrong(report: Crawled, schedules: dict[tuple[str, int], Recrawl]) -> str | None:
    """Return why a crawler's report cannot be accepted; None if it can."""
    vantages = sorted({vantage for vantage, _ in schedules})
    known = {piece: one for (vantage, piece), one in schedules.items() if vantage == report.vantage}
    ended, began = report.crawled_s, report.started_s
    checks = {
        f"it is crawled from {', '.join(vantages)}: say which vantage": vantages not in ([], [""])
        and report.vantage not in vantages,
        "neither its beginning nor its end is given": ended is None and began is None,
        "the number of its pages is missing": ended is not None
        and (report.pages is None or report.pages < 0),
        "it ended before it began": ended is not None and began is not None and ended < began,
        "its interval must be above 0": report.interval_s is not None and report.interval_s <= 0,
        f"it is crawled in {len(known)} pieces: say which": report.piece is None and len(known) > 1,
        f"there is no piece {report.piece}": report.piece is not None and report.piece not in (known or {1}),
    }
    return next((reason for reason, is_wrong in checks.items() if is_wrong), None)


def due_hosts(store: StorePort, there: Collection[str], now_s: float) -> list[str]:
    """Return the hosts that are due, earliest first, and then those whose crawler went before it was done.

    Reads what is due, and what crawlers hold that are not `there` any more; not the other schedules.
    """
    due = [one.host for one in store.recrawls.due(now_s)]
    taken_over: list[str] = []
    for gone in (None, *sorted(store.assignments.loads().by_crawler.keys() - set(there))):
        orphans = store.assignments.of_crawler(gone)
        hosts = list(dict.fromkeys(one.host for one in orphans))
        known = {one.key: one for found in store.recrawls.of_many(hosts).values() for one in found}
        taken_over += [
            one.host
            for one in orphans
            if next_step(known.get(one.key), now_s, is_taken_over=True) is not None
        ]
    return list(dict.fromkeys([*due, *sorted(taken_over)]))


def turns_of(
    assignments: Sequence[Assignment],
    state: ScheduleState,
    now_s: float,
    every_s: float | None,
) -> list[Turn]:
    """Return the step of each assignment: new and due ones are submitted, the others are left."""
    seen: dict[tuple[str, str], list[Recrawl]] = {}
    for record in state.schedule:
        seen.setdefault((record.host, record.vantage), []).append(record)
    had = {one.key: one.crawler for one in state.before}
    turns = []
    for one in assignments:
        known = _schedule_of(one, seen.get((one.host, one.vantage), []))
        if known is not None and every_s is not None:
            known = replace(known, interval_s=every_s)
        if one.crawler is None:
            turns.append(Turn(step=None, recrawl=known))
            continue
        former = had.get(one.key, one.crawler)
        step = next_step(
            known,
            now_s,
            is_taken_over=former not in state.there,
            is_moved=former in state.there and former != one.crawler,
        )
        new = known or Recrawl(
            host=one.host,
            vantage=one.vantage,
            piece=one.piece,
            of=one.of,
            interval_s=every_s,
            first_s=now_s,
            submitted_s=now_s,
        )
        turns.append(Turn(step=step, recrawl=submitted(new, step, now_s)))
    return turns


def _schedule_of(one: Assignment, known: Sequence[Recrawl]) -> Recrawl | None:
    """Return the schedule of an assignment; a site that was cut differently inherits from its old pieces."""
    same = [other for other in known if (other.piece, other.of) == (one.piece, one.of)]
    return same[0] if same else recut(known, one.piece, one.of)


def crawled_pages(schedule: Iterable[Recrawl]) -> dict[str, float]:
    """Return the pages of hosts that are crawled whole, by the last crawl."""
    return {one.host: one.pages for one in schedule if one.of == 1 and one.pages is not None}


def crawled_pieces(schedule: Iterable[Recrawl]) -> dict[TaskKey, int]:
    """Return the pages of pieces, by the last crawl."""
    return {one.key: one.pages for one in schedule if one.of > 1 and one.pages is not None}


def delay_findings(turns: Sequence[Turn]) -> list[str]:
    """Report how late new pages are seen, where downloads were timed."""
    least, most, sites = expected_delay_s([turn.recrawl for turn in turns if turn.recrawl is not None])
    if not sites:
        return []
    hours = f"{least / 3600:.1f} to {most / 3600:.1f} h"
    return [f"a new page is seen after {hours} (mean of {sites} timed downloads)"]
