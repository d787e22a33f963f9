"""Crawling again: due times, states, steps and what crawlers report."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.assign.balance.recrawl import (
    NEXT_STEP,
    Recrawls,
    Step,
    TaskState,
    birth_detect_delay,
    due_s,
    expected_delay_s,
    next_step,
    noted,
    recut,
    state_of,
    submitted,
)
from ipmicra.errors import InputError
from ipmicra.model.recrawl import Crawled, Recrawl


def test_delay_of_the_worked_case() -> None:
    least, most = birth_detect_delay(1.0, 3.0)
    assert (float(least), float(most)) == (9 / 4, 1 + 9 / 4)


def test_a_site_that_is_always_being_crawled_is_at_best_seen_at_once() -> None:
    least, most = birth_detect_delay([5.0, 0.0], [0.0, 0.0])
    assert (least.tolist(), most.tolist()) == ([0.0, 0.0], [5.0, 0.0])


@given(crawl=st.floats(0, 1e6), wait=st.floats(0, 1e6))
def test_delay_bounds_are_in_order_and_within_the_interval(crawl: float, wait: float) -> None:
    least, most = birth_detect_delay(crawl, wait)
    assert 0 <= least <= most <= crawl + wait + 1e-6


def test_times_cannot_be_negative() -> None:
    with pytest.raises(InputError):
        birth_detect_delay(-1.0, 3.0)


def test_what_is_queued_for_an_interval_is_cancelled_and_what_runs_is_waited_for() -> None:
    assert {state: NEXT_STEP[state] for state in TaskState} == {
        TaskState.IDLE: Step.SUBMIT,
        TaskState.QUEUED: Step.CANCEL_AND_SUBMIT,
        TaskState.EXECUTING: Step.WAIT,
    }


def test_sites_fall_due_at_their_own_interval_earliest_first() -> None:
    plan = Recrawls(first_s=np.array([0.0, 5.0, 100.0]), interval_s=np.array([10.0, 20.0, 10.0]))
    assert plan.next_after(10.0).tolist() == [20.0, 25.0, 100.0]
    assert plan.due(0.0, 30.0).tolist() == [1, 0]
    assert plan.due(24.0, 30.0).tolist() == [1, 0]
    assert plan.due(95.0, 100.0).tolist() == [0, 2]


def test_an_interval_without_length_is_refused() -> None:
    with pytest.raises(InputError):
        Recrawls(first_s=np.zeros(1), interval_s=np.zeros(1))


# --- the schedule of one site

QUEUED = Recrawl(host="a.org", interval_s=100.0, first_s=1000.0, submitted_s=1000.0)
RUNNING = replace(QUEUED, started_s=1010.0)
DONE = replace(RUNNING, crawled_s=1030.0, pages=7, crawls=1)


def test_a_site_is_queued_then_downloaded_then_done() -> None:
    states = [state_of(one) for one in (QUEUED, RUNNING, DONE)]
    assert states == [TaskState.QUEUED, TaskState.EXECUTING, TaskState.IDLE]
    assert state_of(submitted(DONE, Step.SUBMIT, 1100.0)) is TaskState.QUEUED


def test_what_is_due_is_submitted_cancelled_or_waited_for() -> None:
    assert [next_step(one, 1099.0) for one in (None, QUEUED, RUNNING, DONE)] == [
        Step.SUBMIT,
        None,
        None,
        None,
    ]
    assert [next_step(one, 1100.0) for one in (QUEUED, RUNNING, DONE)] == [
        Step.CANCEL_AND_SUBMIT,
        Step.WAIT,
        Step.SUBMIT,
    ]


def test_what_was_waited_for_is_submitted_when_its_download_has_ended() -> None:
    waited = submitted(RUNNING, next_step(RUNNING, 1120.0), 1120.0)
    assert waited == RUNNING
    ended = noted(waited, Crawled(host="a.org", pages=9, crawled_s=1130.0))
    assert next_step(ended, 1130.0) is Step.SUBMIT
    again = submitted(ended, Step.SUBMIT, 1130.0)
    assert due_s([again]).tolist() == [1200.0]


def test_a_site_without_interval_is_crawled_once() -> None:
    once = replace(DONE, interval_s=None)
    assert next_step(once, 1e12) is None


def test_who_takes_over_starts_again_unless_it_was_done() -> None:
    steps = [next_step(one, 1050.0, is_taken_over=True) for one in (QUEUED, RUNNING, DONE)]
    assert steps == [Step.SUBMIT, Step.SUBMIT, None]
    assert [next_step(one, 1050.0, is_moved=True) for one in (QUEUED, RUNNING, DONE)] == [
        Step.CANCEL_AND_SUBMIT,
        None,
        None,
    ]


def test_an_older_word_counts_but_changes_nothing_else() -> None:
    late = noted(DONE, Crawled(host="a.org", pages=3, crawled_s=1020.0))
    assert late == replace(DONE, crawls=2)
    assert noted(RUNNING, Crawled(host="a.org", started_s=1005.0)) == RUNNING


def test_a_site_that_nobody_submitted_counts_from_its_download_on() -> None:
    one = noted(None, Crawled(host="a.org", pages=3, started_s=5.0, crawled_s=9.0, interval_s=10.0))
    assert (one.first_s, one.submitted_s, one.interval_s) == (5.0, 5.0, 10.0)
    assert state_of(one) is TaskState.IDLE
    assert due_s([one]).tolist() == [15.0]


def test_a_site_cut_otherwise_goes_on_from_the_least_crawled_of_its_parts() -> None:
    parts = [replace(DONE, of=2), replace(DONE, piece=2, of=2, crawled_s=1020.0, submitted_s=900.0, crawls=3)]
    whole = recut(parts, 1, 1)
    assert whole is not None
    assert (whole.crawled_s, whole.submitted_s, whole.crawls, whole.interval_s) == (1020.0, 900.0, 1, 100.0)
    assert recut([replace(DONE, of=2), replace(QUEUED, piece=2, of=2)], 1, 1) == QUEUED
    assert recut([], 1, 1) is None


@given(
    first=st.floats(0, 1e9),
    interval=st.floats(1, 1e7),
    waits=st.lists(st.floats(0, 1e8), min_size=1, max_size=5),
)
def test_turns_stay_on_the_grid_of_the_first_submission(
    first: float, interval: float, waits: list[float]
) -> None:
    one = Recrawl(host="a.org", interval_s=interval, first_s=first, submitted_s=first)
    now = first
    for wait in waits:
        now += wait
        due = float(due_s([one])[0])
        step = next_step(one, now)
        assert (step is not None) == (due <= now)
        one = submitted(one, step, now)
        assert now < float(due_s([one])[0]) + 1e-6 * (1 + now)
        turns = (float(due_s([one])[0]) - first) / interval
        assert turns == pytest.approx(round(turns), abs=1e-3)


def test_delay_is_told_for_timed_downloads_only() -> None:
    timed = replace(DONE, interval_s=4.0, started_s=1000.0, crawled_s=1001.0)
    assert expected_delay_s([timed, QUEUED, replace(DONE, interval_s=None)]) == (9 / 4, 1 + 9 / 4, 1)
    assert expected_delay_s([QUEUED]) == (0.0, 0.0, 0)
