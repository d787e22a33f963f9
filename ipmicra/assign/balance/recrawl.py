"""Crawling again: when a site is due, what to do then, what crawlers report, and how late new pages are seen.

A site (or piece) is submitted to its crawler's queue, downloaded, and idle until it is due again. Due times
lie on a grid: the first submission plus multiples of the interval. The state is not stored but follows from
three times (submitted, started, crawled), so that reports may arrive late or out of order.

[1] Xu, Zhang, Zhang & Fang 2010, section 4.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ipmicra.errors import InputError
from ipmicra.model.recrawl import Crawled, Recrawl
from ipmicra.model.types import Floats


class TaskState(StrEnum):
    """The state of a site (or piece) between two submissions."""

    IDLE = "idle"
    QUEUED = "queued"
    EXECUTING = "executing"


class Step(StrEnum):
    """What is to be done with a site when it is due."""

    SUBMIT = "submit"
    CANCEL_AND_SUBMIT = "cancel and submit"
    """It has been queued for a whole interval, or its crawler changed: the old task is dropped."""
    WAIT = "wait"
    """It is still being downloaded: at most one connection to a site, so it is submitted when that ends."""


NEXT_STEP = {
    TaskState.IDLE: Step.SUBMIT,
    TaskState.QUEUED: Step.CANCEL_AND_SUBMIT,
    TaskState.EXECUTING: Step.WAIT,
}


def birth_detect_delay(crawl: ArrayLike, wait: ArrayLike) -> tuple[Floats, Floats]:
    """Return the least and the most expected delay of new pages (equations 2 and 1 of [1]).

    `crawl` is how long a site is being downloaded, `wait` how long it then is not. At best a page is seen
    when the download starts, at worst when it ends: wait 3, crawl 1 gives 9/4 and 1 + 9/4.
    """
    crawls, waits = np.asarray(crawl, np.float64), np.asarray(wait, np.float64)
    if (crawls < 0).any() or (waits < 0).any():
        raise InputError("times of crawling and waiting cannot be negative")
    total = crawls + waits
    least = np.where(total > 0, waits**2 / np.where(total > 0, total, 1.0), 0.0)
    return least, crawls + least


@dataclass(frozen=True, slots=True, kw_only=True)
class Recrawls:
    """When sites are due: every site at its own interval, from its own first time on; seconds."""

    first_s: Floats
    interval_s: Floats

    def __post_init__(self) -> None:
        """Refuse intervals without length."""
        if not (np.asarray(self.interval_s) > 0).all():
            raise InputError("the interval between two crawls of a site must be above 0")

    def due(self, since_s: float, until_s: float) -> NDArray[np.int64]:
        """Return the rows of sites that fall due after one moment and up to another, earliest first."""
        next_s = self.next_after(since_s)
        rows = np.flatnonzero(next_s <= until_s)
        return rows[np.argsort(next_s[rows], kind="stable")]

    def next_after(self, now_s: float | Floats) -> Floats:
        """Return when each site is due next, after a moment, or each after its own."""
        turns = np.floor((now_s - self.first_s) / self.interval_s) + 1
        due: Floats = self.first_s + np.maximum(turns, 0) * self.interval_s
        return due


# --- schedules of single sites and pieces


def state_of(one: Recrawl) -> TaskState:
    """Return the state of a site: queued since its submission, being downloaded, or done."""
    ended = one.crawled_s if one.crawled_s is not None else -np.inf
    if one.started_s is not None and one.started_s >= one.submitted_s and one.started_s > ended:
        return TaskState.EXECUTING
    return TaskState.IDLE if ended >= one.submitted_s else TaskState.QUEUED


def due_s(schedule: Sequence[Recrawl]) -> Floats:
    """Return when each site is due next, by its own interval; infinity for those crawled once."""
    due = np.full(len(schedule), np.inf)
    again = [(row, one, one.interval_s) for row, one in enumerate(schedule) if one.interval_s is not None]
    if again:
        plan = Recrawls(
            first_s=np.array([one.first_s for _, one, _ in again]),
            interval_s=np.array([interval for _, _, interval in again]),
        )
        due[[row for row, _, _ in again]] = plan.next_after(
            np.array([one.submitted_s for _, one, _ in again])
        )
    return due


def next_step(
    one: Recrawl | None, now_s: float, *, is_taken_over: bool = False, is_moved: bool = False
) -> Step | None:
    """Return what is to be done with a site now; None if it is neither new nor due.

    A site whose crawler is gone is submitted to the next one unless it was done: it is executed again. One
    that only moved leaves the queue of its former crawler, and is left to it while that is downloading.
    """
    if one is None:
        return Step.SUBMIT
    state = state_of(one)
    if is_taken_over and state is not TaskState.IDLE:
        return Step.SUBMIT
    if is_moved and state is TaskState.QUEUED:
        return Step.CANCEL_AND_SUBMIT
    return NEXT_STEP[state] if due_s([one])[0] <= now_s else None


def submitted(one: Recrawl, step: Step | None, now_s: float) -> Recrawl:
    """Carry out a step: what is submitted waits in its crawler's queue from now on."""
    if step in {None, Step.WAIT}:
        return one
    return replace(one, submitted_s=now_s, started_s=None)


def noted(one: Recrawl | None, report: Crawled) -> Recrawl:
    """Record a crawler's report. One older than what is known changes nothing but count and interval.

    A site that was never submitted counts as submitted when its download began.
    """
    at = [moment for moment in (report.started_s, report.crawled_s) if moment is not None]
    one = one or Recrawl(host=report.host, vantage=report.vantage, first_s=min(at), submitted_s=min(at))
    one = replace(one, interval_s=report.interval_s) if report.interval_s is not None else one
    if report.crawled_s is None:
        is_newer = one.started_s is None or at[0] > one.started_s
        return replace(one, started_s=at[0]) if is_newer else one
    one = replace(one, crawls=one.crawls + 1)
    if one.crawled_s is not None and report.crawled_s <= one.crawled_s:
        return one
    started = report.started_s if report.started_s is not None else one.started_s
    return replace(one, started_s=started, crawled_s=report.crawled_s, pages=report.pages)


def recut(old: Sequence[Recrawl], piece: int, of: int) -> Recrawl | None:
    """Return the schedule of a piece of a site that was cut differently: as late as its latest part."""
    if not old:
        return None
    ends = [one.crawled_s for one in old]
    return Recrawl(
        host=old[0].host,
        vantage=old[0].vantage,
        piece=piece,
        of=of,
        interval_s=old[0].interval_s,
        first_s=min(one.first_s for one in old),
        submitted_s=min(one.submitted_s for one in old),
        crawled_s=None if None in ends else min(end for end in ends if end is not None),
        crawls=min(one.crawls for one in old),
    )


def expected_delay_s(schedule: Sequence[Recrawl]) -> tuple[float, float, int]:
    """Return the least and most expected delay of new pages, in the mean, and over how many sites.

    Only sites count that have an interval and reported when their last download began and ended.
    """
    known = [
        (min(one.crawled_s - one.started_s, one.interval_s), one.interval_s)
        for one in schedule
        if one.interval_s is not None
        and one.started_s is not None
        and one.crawled_s is not None
        and one.crawled_s >= one.started_s
    ]
    if not known:
        return 0.0, 0.0, 0
    crawl, interval = np.array(known).T
    least, most = birth_detect_delay(crawl, interval - crawl)
    return float(least.mean()), float(most.mean()), len(known)
