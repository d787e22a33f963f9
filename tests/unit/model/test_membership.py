"""The life of a member, as a table."""

from __future__ import annotations

from itertools import product

import pytest

from ipmicra.errors import LifeCycleError
from ipmicra.model.crawler import CrawlerState
from ipmicra.model.membership import NEXT, PRESENT, Change, next_state, state_word


def test_every_change_of_every_state_is_in_the_table_but_one() -> None:
    missing = set(product(CrawlerState, Change)) - set(NEXT)
    assert missing == {(CrawlerState.LEFT, Change.DRAIN)}
    with pytest.raises(LifeCycleError):
        next_state(CrawlerState.LEFT, Change.DRAIN)


def test_only_joining_brings_back_one_that_left() -> None:
    back = [change for change in Change if NEXT.get((CrawlerState.LEFT, change)) in PRESENT]
    assert back == [Change.JOIN]


def test_heartbeats_never_end_a_drain() -> None:
    for change in (Change.ANSWER, Change.FAIL_TO_ANSWER):
        assert next_state(CrawlerState.DRAINING, change) is CrawlerState.DRAINING


def test_people_read_silent() -> None:
    assert [state_word(state) for state in CrawlerState] == ["joined", "silent", "draining", "left"]
