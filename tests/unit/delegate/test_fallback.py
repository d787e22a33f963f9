"""Sites that cannot be probed: which step answers, what each says, and what happens while one is located."""

from __future__ import annotations

from collections.abc import Sequence

from ipmicra.delegate.actions import AskPlace, GaveUp
from ipmicra.delegate.attempt import Verdict
from ipmicra.delegate.events import CrawlerLeft, PlaceFound
from ipmicra.delegate.machine import DelegationMachine
from ipmicra.delegate.policies.baselines import Everyone
from ipmicra.delegate.policies.paper import Paper
from ipmicra.delegate.policies.predict.policy import Predict
from ipmicra.delegate.ports import CoordinateTrips, FallbackSources
from ipmicra.delegate.replay.world import WorldLocations
from ipmicra.model.crawler import Crawler
from ipmicra.model.delegation import Evidence
from ipmicra.model.location import Heuristic, Hint
from tests.fakes.fleet import arrived, asked, crawler, decided, delegated, joined, place, site
from tests.fakes.subnet_tree import flat_tree

ATHENS, TOKYO = place(37.98, 23.73), place(35.68, 139.69)
PLACES = WorldLocations({site("10.0.0.1").address: TOKYO})


class Coordinates:
    def expected_ms_many(self, address: object, crawlers: Sequence[str]) -> CoordinateTrips:
        return CoordinateTrips([float(len(crawlers) - i) for i in range(len(crawlers))], "by samples")


def test_unprobeable_site_goes_by_coordinates_first() -> None:
    delegator = DelegationMachine(
        flat_tree(1), Everyone(), locations=PLACES, fallback=FallbackSources(coordinates=Coordinates())
    )
    joined(delegator, crawler("a", location=TOKYO), crawler("b", location=ATHENS))
    answer = decided(arrived(delegator, "10.0.0.1", lambda *_: None))
    assert (answer.crawler, answer.evidence, answer.rtt_ms) == ("b", Evidence.COORDINATE, 1.0)


def test_unprobeable_site_goes_by_location_next() -> None:
    delegator = DelegationMachine(flat_tree(1), Everyone(), locations=PLACES)
    joined(delegator, crawler("a", location=ATHENS), crawler("b", location=TOKYO))
    answer = decided(arrived(delegator, "10.0.0.1", lambda *_: None))
    assert (answer.crawler, answer.evidence) == ("b", Evidence.GEOLOCATED)


class Straight:
    def expected_ms(self, km: float) -> float:
        return 4.0 + km / 50


def unprobeable(*sources: Crawler) -> tuple[DelegationMachine, AskPlace]:
    """Let a site arrive that everybody loses, at a machine that has such sites located."""
    asking = FallbackSources(asks_places=True, distances=Straight())
    delegator = DelegationMachine(flat_tree(2), Everyone(), locations=PLACES, fallback=asking)
    joined(delegator, *sources)
    ask = arrived(delegator, "10.0.0.1", lambda *_: None)[-1]
    assert isinstance(ask, AskPlace)
    return delegator, ask


def test_unprobeable_site_is_located_once_more_and_the_vote_decides() -> None:
    fleet = crawler("a", location=ATHENS), crawler("b", location=TOKYO)
    delegator, ask = unprobeable(*fleet)
    assert decided(arrived(delegator, "10.0.1.1", lambda *_: 90.0)).evidence is Evidence.PROBED, (
        "others go on"
    )
    hint = Hint(heuristic=Heuristic.LOC, location=ATHENS, evidence="LOC record of `a\tb\nc`")
    actions = delegator.handle(PlaceFound(ask.attempt, hint, 2.0))
    answer, done = decided(actions), delegated(actions)
    assert (answer.crawler, answer.evidence) == ("a", Evidence.GEOLOCATED)
    assert answer.rtt_ms == 4.0
    assert done.location == ATHENS
    coordinate, location = [one for one in done.account.tried if one.verdict is Verdict.STEP]
    assert (coordinate.crawler, coordinate.expected_ms) == ("coordinate", None)
    assert (location.crawler, location.expected_ms) == ("location", 4.0)
    assert location.reason == ("37.98, 23.73, within 5 km by loc (LOC record of `a b c`); a is 0 km away"), (
        "text from outside stays on its line"
    )


def doubted() -> tuple[DelegationMachine, AskPlace]:
    """Let a site arrive whose one probe is lost, and whose policy then would go by its place, Japan."""
    japan = WorldLocations({site("10.0.0.1").address: place(35.68, 139.69, radius_km=900.0)})
    asking = FallbackSources(asks_places=True)
    delegator = DelegationMachine(flat_tree(2), Predict(), locations=japan, fallback=asking)
    joined(delegator, crawler("a", location=TOKYO), crawler("b", location=place(34.69, 135.5)))
    actions = arrived(delegator, "10.0.0.1", lambda *_: None)
    assert len(asked(actions)) == 1
    assert isinstance(actions[-1], AskPlace)
    return delegator, actions[-1]


def test_policy_that_goes_by_the_place_keeps_its_answer_unless_a_better_place_is_found() -> None:
    delegator, ask = doubted()
    actions = delegator.handle(PlaceFound(ask.attempt, "no heuristic has a vote", 2.0))
    answer = decided(actions)
    assert answer.evidence is Evidence.GEOLOCATED
    assert answer.rtt_ms is not None
    steps = [one for one in delegated(actions).account.tried if one.verdict is Verdict.STEP]
    assert steps[-1].reason.endswith(f"{answer.crawler} is the nearest by what was learnt so far")
    assert steps[-1].expected_ms == answer.rtt_ms


def test_site_located_elsewhere_than_at_first_thought_keeps_its_answer_when_it_comes_again() -> None:
    """Its own delegation says Athens, where the place at hand is Japan: it is not another site elsewhere."""
    delegator, ask = doubted()
    hint = Hint(heuristic=Heuristic.LOC, location=ATHENS, evidence="LOC")
    first = decided(delegator.handle(PlaceFound(ask.attempt, hint, 2.0)))
    again = arrived(delegator, "10.0.0.1", lambda *_: None, 3.0)
    assert decided(again).crawler == first.crawler
    assert asked(again) == []


def test_unprobeable_site_that_cannot_be_located_better_goes_by_the_place_at_hand() -> None:
    delegator, ask = unprobeable(crawler("a", location=ATHENS), crawler("b", location=TOKYO))
    actions = delegator.handle(PlaceFound(ask.attempt, "no heuristic has a vote", 2.0))
    assert (decided(actions).crawler, decided(actions).evidence) == ("b", Evidence.GEOLOCATED)
    assert delegator.handle(PlaceFound(ask.attempt, "again", 3.0)) == [], "a late answer changes nothing"


def test_site_whose_crawlers_left_while_it_was_located_is_given_up() -> None:
    delegator, ask = unprobeable(crawler("a", location=ATHENS))
    assert delegator.handle(CrawlerLeft("a", 2.0)) == []
    (gave_up,) = delegator.handle(PlaceFound(ask.attempt, "nowhere", 3.0))
    assert isinstance(gave_up, GaveUp)


def test_unprobeable_site_goes_by_neighbours_then_by_load() -> None:
    delegator = DelegationMachine(flat_tree(4), Paper())
    joined(delegator, crawler("a"), crawler("b"))
    nothing = decided(arrived(delegator, "10.0.0.1", lambda *_: None))
    assert (nothing.crawler, nothing.evidence) == ("a", Evidence.INHERITED)
    arrived(delegator, "10.0.1.1", lambda name, _: {"a": 99.0, "b": 1.0}[name])
    arrived(delegator, "10.0.2.1", lambda name, _: {"a": 99.0, "b": 1.0}[name])
    assert decided(arrived(delegator, "10.0.3.1", lambda *_: None)).crawler == "b"
