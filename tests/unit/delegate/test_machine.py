"""The machine: lives of delegations, losses, lies, anycast, joins and leaves."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from ipmicra.delegate.actions import (
    AskProbe,
    Assigned,
    CrawlerChecked,
    GaveUp,
    Renewed,
    Revoked,
)
from ipmicra.delegate.config import DelegatorConfig, PredictConfig
from ipmicra.delegate.events import (
    CrawlerLeft,
    DelegationExpired,
    ProbeLost,
    SampleReturned,
    SiteArrived,
)
from ipmicra.delegate.machine import DelegationMachine
from ipmicra.delegate.policies.baselines import Everyone
from ipmicra.delegate.policies.paper import Paper
from ipmicra.delegate.policies.predict.policy import Predict
from ipmicra.model.crawler import CrawlerState
from ipmicra.model.delegation import Delegation, Evidence
from ipmicra.model.location import Location
from ipmicra.model.sample import Loss, Sample
from ipmicra.model.site import Site
from tests.fakes.fleet import arrived, asked, crawler, decided, delegated, joined, place, site
from tests.fakes.subnet_tree import ListedTree, flat_tree, listed

ATHENS, NEW_YORK, TOKYO = place(37.98, 23.73), place(40.71, -74.01), place(35.68, 139.69)
DAY_S = 86400.0


class Places:
    """Places by address."""

    def __init__(self, places: dict[str, Location]) -> None:
        self._places = places

    def location_of(self, site: Site, key: int) -> Location | None:
        return self._places.get(str(site.address))


def test_site_without_any_crawler_is_given_up_with_what_to_do() -> None:
    (gave_up,) = DelegationMachine(flat_tree(1), Predict()).handle(SiteArrived(site("10.0.0.1"), 0.0))
    assert isinstance(gave_up, GaveUp)
    assert "add one" in gave_up.reason


def test_single_crawler_gets_everything_and_is_probed_at_most_once() -> None:
    delegator = DelegationMachine(flat_tree(2), Predict())
    joined(delegator, crawler("a"))
    actions = arrived(delegator, "10.0.0.1", lambda *_: 5.0)
    assert decided(actions).crawler == "a"
    assert len(asked(actions)) <= 1


def test_sites_of_a_contested_subnet_wait_for_its_answer() -> None:
    delegator = DelegationMachine(flat_tree(1), Paper())
    joined(delegator, crawler("a"), crawler("b"))
    (ask,) = delegator.handle(SiteArrived(site("10.0.0.1"), 0.0))
    assert isinstance(ask, AskProbe)
    assert delegator.handle(SiteArrived(site("10.0.0.2"), 0.0)) == []
    sample = Sample(crawler=ask.probe.crawler, address=site("10.0.0.1").address, rtt_ms=9.0)
    done = delegator.handle(SampleReturned(ask.attempt, sample, 1.0))
    assert [(one.decision.host, one.decision.probes) for one in done if isinstance(one, Assigned)] == [
        ("10.0.0.1", 1),
        ("10.0.0.2", 0),
    ]


def test_late_and_repeated_answers_change_nothing() -> None:
    delegator = DelegationMachine(flat_tree(1), Paper())
    joined(delegator, crawler("a"))
    (ask,) = delegator.handle(SiteArrived(site("10.0.0.1"), 0.0))
    assert isinstance(ask, AskProbe)
    answer = SampleReturned(
        ask.attempt, Sample(crawler="a", address=site("10.0.0.1").address, rtt_ms=9.0), 1.0
    )
    assert delegator.handle(answer)
    assert delegator.handle(answer) == []
    assert delegator.handle(ProbeLost(ask.attempt, "a", Loss.TIMEOUT, 1.0)) == []
    assert delegator.handle(replace(answer, sample=replace(answer.sample, crawler="stranger"))) == []


def test_delegation_lives_its_time_and_use_renews_it() -> None:
    config = DelegatorConfig(lifetime_s=10 * DAY_S)
    delegator = DelegationMachine(flat_tree(1), Paper(), config)
    joined(delegator, crawler("a"))
    arrived(delegator, "10.0.0.1", lambda *_: 9.0, now_s=0.0)
    early = arrived(delegator, "10.0.0.1", lambda *_: 9.0, now_s=4 * DAY_S)
    assert [type(action) for action in early] == [Assigned]
    renewed, _ = arrived(delegator, "10.0.0.1", lambda *_: 9.0, now_s=6 * DAY_S)
    assert isinstance(renewed, Renewed)
    assert renewed.delegation.expires_s == 16 * DAY_S
    assert asked(arrived(delegator, "10.0.0.1", lambda *_: 9.0, now_s=15 * DAY_S)) == []
    late = arrived(delegator, "10.0.0.1", lambda *_: 9.0, now_s=40 * DAY_S)
    assert isinstance(late[0], Revoked)
    assert asked(late) == ["a"]


def test_expiry_event_frees_a_subnet_once() -> None:
    delegator = DelegationMachine(flat_tree(1), Paper())
    joined(delegator, crawler("a"))
    arrived(delegator, "10.0.0.1", lambda *_: 9.0)
    (revoked,) = delegator.handle(DelegationExpired(1, 2.0))
    assert isinstance(revoked, Revoked)
    assert delegator.handle(DelegationExpired(1, 2.0)) == []


def test_subnets_of_a_crawler_that_left_are_delegated_again_on_next_need() -> None:
    delegator = DelegationMachine(flat_tree(2), Paper())
    joined(delegator, crawler("a"), crawler("b"))
    answer = {"a": 5.0, "b": 60.0}
    for address in ("10.0.0.1", "10.0.1.1"):
        assert decided(arrived(delegator, address, lambda name, _: answer[name])).crawler == "a"
    assert delegator.handle(CrawlerLeft("a", 5.0)) == []
    again = arrived(delegator, "10.0.0.1", lambda name, _: answer[name], now_s=6.0)
    assert isinstance(again[0], Revoked)
    assert decided(again).crawler == "b"
    assert delegator.roster.name(delegator.ledger.get(2).crawler) == "a"  # type: ignore[union-attr]


def test_crawler_that_leaves_in_the_middle_counts_as_a_lost_probe() -> None:
    delegator = DelegationMachine(flat_tree(1), Paper())
    joined(delegator, crawler("a"), crawler("b"))
    (ask,) = delegator.handle(SiteArrived(site("10.0.0.1"), 0.0))
    assert isinstance(ask, AskProbe)
    (second,) = delegator.handle(CrawlerLeft(ask.probe.crawler, 1.0))
    assert isinstance(second, AskProbe)
    assert second.probe.crawler != ask.probe.crawler


def test_all_crawlers_dead_midway_gives_the_site_up() -> None:
    delegator = DelegationMachine(flat_tree(1), Paper())
    joined(delegator, crawler("a"), crawler("b"))
    (ask,) = delegator.handle(SiteArrived(site("10.0.0.1"), 0.0))
    assert isinstance(ask, AskProbe)
    other = "b" if ask.probe.crawler == "a" else "a"
    assert delegator.handle(CrawlerLeft(other, 1.0)) == []
    (gave_up,) = delegator.handle(CrawlerLeft(ask.probe.crawler, 1.0))
    assert isinstance(gave_up, GaveUp)


def test_unreachable_crawler_keeps_what_it_holds_but_is_not_asked() -> None:
    delegator = DelegationMachine(flat_tree(2), Paper())
    joined(delegator, crawler("a"), crawler("b"))
    first = decided(arrived(delegator, "10.0.0.1", lambda *_: 5.0)).crawler
    joined(delegator, replace(crawler(first), state=CrawlerState.UNREACHABLE))
    assert decided(arrived(delegator, "10.0.0.9", lambda *_: 5.0)).crawler == first
    assert first not in asked(arrived(delegator, "10.0.1.1", lambda *_: 500.0))


def test_nearer_crawler_that_joins_later_takes_over_where_the_model_says_it_can() -> None:
    places = Places({"10.0.0.1": TOKYO, "10.0.1.1": ATHENS})
    delegator = DelegationMachine(flat_tree(2), Predict(), locations=places)
    joined(delegator, crawler("athens", "192.0.2.1", ATHENS))
    answers = {("athens", "10.0.0.1"): 260.0, ("athens", "10.0.1.1"): 2.0, ("tokyo", "10.0.0.1"): 2.0}
    for address in ("10.0.0.1", "10.0.1.1"):
        arrived(delegator, address, lambda *pair: answers[pair])
    joined(delegator, crawler("tokyo", "198.51.100.1", TOKYO))
    assert decided(arrived(delegator, "10.0.0.1", lambda *pair: answers[pair])).crawler == "tokyo"
    near = arrived(delegator, "10.0.1.1", lambda *pair: answers[pair])
    assert asked(near) == []
    assert decided(near).crawler == "athens"


def test_predict_gives_up_a_place_that_the_samples_contradict() -> None:
    """Said to be between Rome and Athens, in fact in Tokyo, whose sample is impossible then."""
    places = Places({"10.0.0.1": place(40.0, 18.0)})
    delegator = DelegationMachine(flat_tree(1), Predict(), locations=places)
    near = {"athens": ATHENS, "tokyo": TOKYO, "ny": NEW_YORK, "rome": place(41.9, 12.5)}
    joined(delegator, *(crawler(name, f"192.0.2.{i}", one) for i, (name, one) in enumerate(near.items())))
    round_trips = {"athens": 260.0, "tokyo": 2.0, "ny": 160.0, "rome": 250.0}
    actions = arrived(delegator, "10.0.0.1", lambda name, _: round_trips[name])
    assert decided(actions).crawler == "tokyo"
    assert not [action for action in actions if isinstance(action, CrawlerChecked)]
    assert delegated(actions).location is None


def test_predict_keeps_a_place_that_one_long_detour_speaks_against() -> None:
    delegator = DelegationMachine(flat_tree(1), Predict(), locations=Places({"10.0.0.1": ATHENS}))
    joined(delegator, crawler("athens", "192.0.2.1", ATHENS), crawler("tokyo", "192.0.2.2", TOKYO))
    actions = arrived(delegator, "10.0.0.1", lambda name, _: {"athens": 12.0, "tokyo": 250.0}[name])
    assert delegated(actions).location == ATHENS


def test_predict_looks_more_often_where_places_were_wrong() -> None:
    addresses = [f"10.0.{i}.1" for i in range(61)]

    def asked_of_each(wrong: set[str]) -> list[int]:
        delegator = DelegationMachine(
            flat_tree(61), Predict(), locations=Places(dict.fromkeys(addresses, ATHENS))
        )
        joined(delegator, crawler("athens", "192.0.2.1", ATHENS), crawler("tokyo", "192.0.2.2", TOKYO))
        return [
            len(
                asked(
                    arrived(
                        delegator, one, lambda name, at: 260.0 if (name == "athens") == (at in wrong) else 2.0
                    )
                )
            )
            for one in addresses
        ]

    trusting = asked_of_each(set())
    assert sum(trusting) <= len(addresses) / PredictConfig().check_every
    doubting = asked_of_each(set(addresses[1::2]))
    assert all(count > 0 for count in doubting[-20:])


@pytest.mark.parametrize("rtt_ms", [0.0, -3.0, math.nan, math.inf])
def test_round_trip_that_is_no_time_is_refused(rtt_ms: float) -> None:
    delegator = DelegationMachine(flat_tree(1), Everyone())
    joined(delegator, crawler("odd"), crawler("sound"))
    actions = arrived(delegator, "10.0.0.1", lambda name, _: rtt_ms if name == "odd" else 9.0)
    assert decided(actions).crawler == "sound"


def test_two_samples_that_light_cannot_join_make_a_site_anycast() -> None:
    delegator = DelegationMachine(flat_tree(1), Everyone())
    joined(delegator, crawler("athens", "192.0.2.1", ATHENS), crawler("tokyo", "198.51.100.1", TOKYO))
    actions = arrived(delegator, "10.0.0.1", lambda *_: 3.0)
    assert decided(actions).evidence is Evidence.ANYCAST


def test_listed_anycast_goes_to_the_least_loaded_without_a_probe() -> None:
    delegator = DelegationMachine(flat_tree(2), Paper(), anycast={"10.0.1.1", "10.0.1.2", "10.0.1.3"})
    joined(delegator, crawler("a"), crawler("b"))
    busy = decided(arrived(delegator, "10.0.0.1", lambda *_: 5.0)).crawler
    told = [arrived(delegator, f"10.0.1.{i}", lambda *_: 5.0) for i in (1, 2, 3)]
    assert [asked(actions) for actions in told] == [[], [], []]
    first, second, third = (decided(actions).crawler for actions in told)
    assert first != busy
    assert {second, third} == {"a", "b"}


def test_losses_end_an_attempt_before_everybody_was_asked() -> None:
    delegator = DelegationMachine(flat_tree(1), Paper(), DelegatorConfig(losses_allowed=2))
    joined(delegator, *(crawler(name) for name in "abcdef"))
    assert len(asked(arrived(delegator, "10.0.0.1", lambda *_: None))) == 2


def test_address_outside_the_hierarchy_is_delegated_by_slices() -> None:
    delegator = DelegationMachine(flat_tree(1), Paper())
    joined(delegator, crawler("a"))
    told = arrived(delegator, "203.0.113.7", lambda *_: 5.0)
    done = delegated(told)
    assert (str(done.delegation.first), str(done.delegation.last)) == ("203.0.113.0", "203.0.113.255")
    assert asked(arrived(delegator, "203.0.113.99", lambda *_: 5.0)) == []
    assert asked(arrived(delegator, "203.0.114.1", lambda *_: 5.0)) == ["a"]


def test_site_elsewhere_than_its_subnet_is_delegated_apart_by_predict_alone() -> None:
    tree = ListedTree([listed("10.0.0.0/8", 0)])
    places = Places({"10.0.0.1": ATHENS, "10.9.0.1": TOKYO})
    rtt_ms = {("athens", "10.0.0.1"): 2.0, ("tokyo", "10.9.0.1"): 2.0}
    chosen = {}
    for policy in (Predict(), Paper()):
        delegator = DelegationMachine(tree, policy, locations=places)
        joined(delegator, crawler("athens", "192.0.2.1", ATHENS), crawler("tokyo", "198.51.100.1", TOKYO))
        arrived(delegator, "10.0.0.1", lambda *pair: rtt_ms.get(pair, 250.0))
        chosen[policy.name] = decided(
            arrived(delegator, "10.9.0.1", lambda *pair: rtt_ms.get(pair, 250.0))
        ).crawler
    assert chosen == {"predict": "tokyo", "paper": "athens"}


def test_sample_from_elsewhere_teaches_without_an_action() -> None:
    policy = Predict()
    delegator = DelegationMachine(flat_tree(1), policy)
    joined(delegator, crawler("a"), crawler("b"))
    sample = Sample(crawler="b", address=site("10.0.0.1").address, rtt_ms=3.0)
    delegator.learn([sample])
    assert asked(arrived(delegator, "10.0.0.2", lambda *_: 3.0))[0] == "b"


def test_restored_delegation_is_used_without_a_probe() -> None:
    delegator = DelegationMachine(flat_tree(1), Paper())
    joined(delegator, crawler("a"))
    first, end = delegator._tree.bounds(1)
    stored = Delegation(
        first=first,
        last=end,
        crawler="a",
        evidence=Evidence.PROBED,
        rtt_ms=4.0,
        probes=2,
        created_s=0.0,
        expires_s=1e9,
    )
    assert delegator.restore(1, stored)
    assert not delegator.restore(1, replace(stored, crawler="stranger"))
    actions = arrived(delegator, "10.0.0.1", lambda *_: 9.0)
    assert (len(actions), decided(actions).rtt_ms) == (1, 4.0)


def test_repr_shows_the_state_in_one_line() -> None:
    delegator = DelegationMachine(flat_tree(1), Paper())
    joined(delegator, crawler("a"))
    assert repr(delegator) == (
        "<DelegationMachine paper: <Roster: 1 of 1 crawlers present>, <Ledger: 1 held, 0 contested>, 0 open>"
    )
