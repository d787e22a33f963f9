"""The price of a probe follows what is at stake."""

from __future__ import annotations

from ipaddress import IPv4Address
from math import nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.delegate.attempt import Ask, Attempt, Settle
from ipmicra.delegate.ledger import Ledger
from ipmicra.delegate.policies.predict.policy import Predict
from ipmicra.delegate.policies.predict.stakes import MOST, Stakes
from ipmicra.delegate.roster import Roster
from ipmicra.model.site import Site
from tests.fakes.fleet import crawler, place
from tests.fakes.subnet_tree import flat_tree

PAGES = {"small.example": 50.0, "middle.example": 100.0, "large.example": 300.0}


def test_price_falls_with_the_pages_and_the_middle_site_pays_it_in_full() -> None:
    stakes = Stakes(PAGES)
    assert [stakes.factor([host]) for host in PAGES] == [2.0, 1.0, pytest.approx(1 / 3)]
    assert stakes.factor(["unknown.example"]) == 1.0
    assert stakes.range() == pytest.approx((1 / 3, 2.0))


def test_sites_that_wait_for_one_answer_share_its_price() -> None:
    assert Stakes(PAGES).factor(["small.example", "small.example", "middle.example"]) == 0.5


@given(pages=st.dictionaries(st.text(max_size=3), st.floats(), max_size=5), host=st.text(max_size=3))
def test_whatever_the_numbers_of_pages_the_factor_stays_within_its_limits(
    pages: dict[str, float], host: str
) -> None:
    assert 1 / MOST <= Stakes(pages).factor([host]) <= MOST


def test_numbers_that_are_none_count_as_unknown() -> None:
    assert Stakes({"a": nan, "b": -1.0, "c": 0.0}).range() == (1.0, 1.0)


def test_large_site_is_probed_where_a_small_one_is_not() -> None:
    policy = Predict()
    roster = Roster()
    policy.bind(roster, Ledger(), flat_tree(2))
    for name, at in (("a", place(50.1, 8.7)), ("b", place(48.9, 2.4))):
        policy.crawler_added(roster.join(crawler(name, location=at))[0])
    policy.stakes = Stakes({"small.example": 1.0, "middle.example": 10.0, "large.example": 1000.0})
    choices = {}
    for host in ("small.example", "large.example"):
        attempt = Attempt(0, -1, 0, IPv4Address("10.0.0.1"), place(49.85, 7.0))
        attempt.sites.append(Site(host, attempt.address))
        choices[host] = policy.decide(attempt)
    assert isinstance(choices["small.example"], Settle)
    assert isinstance(choices["large.example"], Ask)
