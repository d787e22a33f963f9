"""Crawling again, and taking over."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.assign.balance.membership import Held, take_over
from ipmicra.assign.balance.recrawl import NEXT_STEP, Recrawls, Step, TaskState, birth_detect_delay
from ipmicra.errors import InputError


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


def test_tasks_of_a_crawler_that_is_gone_are_executed_again_by_their_heirs() -> None:
    held = [
        Held(task="a", crawler="ath", done_pages=7),
        Held(task="b", crawler="nyc"),
        Held(task="c", crawler="ath"),
    ]
    takeovers, orphans = take_over(held, "ath", {"a": "nyc", "b": "ath"})
    assert [(one.task, one.to_crawler, one.lost_pages) for one in takeovers] == [("a", "nyc", 7)]
    assert orphans == ["c"]


def test_when_all_are_gone_everything_is_orphaned() -> None:
    assert take_over([Held(task="a", crawler="ath")], "ath", {}) == ([], ["a"])


def test_who_is_gone_cannot_inherit() -> None:
    with pytest.raises(InputError, match="cannot inherit"):
        take_over([Held(task="a", crawler="ath")], "ath", {"a": "ath"})
