"""The re-crawl schedule of sites and pieces: what is due, what to do about it, what crawlers say of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ipmicra.assign.balance.recrawl import NEXT_STEP, Recrawls, Step, TaskState, birth_detect_delay
from ipmicra.model.recrawl import Crawled, Recrawl
from ipmicra.model.types import Floats


def state_of(one: Recrawl) -> TaskState:
    """Tell where a site is: queued since its submission, being downloaded, or done."""
    ended = one.crawled_s if one.crawled_s is not None else -np.inf
    if one.started_s is not None and one.started_s >= one.submitted_s and one.started_s > ended:
        return TaskState.EXECUTING
    return TaskState.IDLE if ended >= one.submitted_s else TaskState.QUEUED


def due_s(schedule: Sequence[Recrawl]) -> Floats:
    """Give when each site is due next, by its own interval; infinity for those crawled once."""
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
    """Say what is to be done with a site now; None if it is neither new nor due.

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


def noted(one: Recrawl | None, word: Crawled) -> Recrawl:
    """Take a crawler's word down. An older word than what is known changes nothing but count and interval.

    A site that was never submitted counts as submitted when its download began.
    """
    at = [moment for moment in (word.started_s, word.crawled_s) if moment is not None]
    one = one or Recrawl(host=word.host, first_s=min(at), submitted_s=min(at))
    one = replace(one, interval_s=word.interval_s) if word.interval_s is not None else one
    if word.crawled_s is None:
        is_newer = one.started_s is None or at[0] > one.started_s
        return replace(one, started_s=at[0]) if is_newer else one
    one = replace(one, crawls=one.crawls + 1)
    if one.crawled_s is not None and word.crawled_s <= one.crawled_s:
        return one
    started = word.started_s if word.started_s is not None else one.started_s
    return replace(one, started_s=started, crawled_s=word.crawled_s, pages=word.pages)


def recut(old: Sequence[Recrawl], piece: int, of: int) -> Recrawl | None:
    """Give the schedule of a piece of a site that was cut otherwise before: as late as its latest part."""
    if not old:
        return None
    ends = [one.crawled_s for one in old]
    return Recrawl(
        host=old[0].host,
        piece=piece,
        of=of,
        interval_s=old[0].interval_s,
        first_s=min(one.first_s for one in old),
        submitted_s=min(one.submitted_s for one in old),
        crawled_s=None if None in ends else min(end for end in ends if end is not None),
        crawls=min(one.crawls for one in old),
    )


def expected_delay_s(schedule: Sequence[Recrawl]) -> tuple[float, float, int]:
    """Give the least and most expected delay of new pages, in the mean, and over how many sites.

    Counted are sites that have an interval and told when their last download began and ended.
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
