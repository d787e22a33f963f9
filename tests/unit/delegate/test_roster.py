"""Believing crawlers: which samples count against them, when they are flagged, how they come back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ipmicra.delegate.actions import Action, CrawlerChecked, Delegated
from ipmicra.delegate.config import DelegatorConfig
from ipmicra.delegate.events import CrawlerJoined, ProbeLost, SampleReturned, SiteArrived
from ipmicra.delegate.machine import DelegationMachine
from ipmicra.delegate.policies.baselines import Everyone
from ipmicra.model.crawler import Crawler, CrawlerState, TrackRecord
from ipmicra.model.location import Location
from ipmicra.model.sample import Loss, Sample
from ipmicra.model.site import Site
from tests.fakes.fleet import arrived, asked, crawler, decided, joined, place, site
from tests.fakes.subnet_tree import flat_tree

ATHENS, TOKYO, NEW_YORK = place(37.98, 23.73), place(35.68, 139.69), place(40.71, -74.01)
NY = crawler("ny", "192.0.2.1", NEW_YORK)
OTHER = crawler("athens", "192.0.2.2", ATHENS)


class Places:
    def __init__(self, places: dict[str, Location]) -> None:
        self._places = places

    def location_of(self, site: Site, key: int) -> Location | None:
        return self._places.get(str(site.address))


def addresses(count: int) -> list[str]:
    return [f"10.0.{i}.1" for i in range(count)]


def machine_of(count: int = 5, config: DelegatorConfig | None = None) -> DelegationMachine:
    """All sites are in Tokyo, 10,900 km from New York: no round trip is shorter than 72 ms."""
    places = Places(dict.fromkeys(addresses(count), TOKYO))
    return DelegationMachine(flat_tree(count), Everyone(), config, locations=places)


def checked(actions: list[Action]) -> list[CrawlerChecked]:
    return [action for action in actions if isinstance(action, CrawlerChecked)]


def too_short(name: str, _address: str) -> float:
    return 1.0 if name == "ny" else 250.0


def test_round_trip_below_light_is_rejected_and_counts_against_its_crawler() -> None:
    machine = machine_of()
    joined(machine, NY, OTHER)
    actions = arrived(machine, "10.0.0.1", too_short)
    ny, athens = checked(actions)
    assert (ny.crawler, ny.record, ny.is_flagged) == ("ny", TrackRecord(checked=1, implausible=1), False)
    assert ny.implausible is not None
    assert ny.implausible.rtt_ms == 1.0 < 70 < ny.implausible.least_ms
    assert (athens.record, athens.implausible) == (TrackRecord(checked=1), None)
    assert decided(actions).crawler == "athens"
    (done,) = (action for action in actions if isinstance(action, Delegated))
    assert {one.crawler: one.loss for one in done.account.entries()}["ny"] is Loss.IMPOSSIBLE


def test_crawler_with_too_many_implausible_samples_is_asked_no_more() -> None:
    machine = machine_of()
    joined(machine, NY, OTHER)
    names = [asked(arrived(machine, one, too_short)) for one in addresses(5)]
    assert ["ny" in some for some in names] == [True, True, True, False, False]
    assert machine.roster.flagged() == ["ny"]


def test_a_few_implausible_samples_among_many_do_not_flag_a_crawler() -> None:
    """Some places are wrong in every table; an honest crawler must not pay for that."""
    wrong = set(addresses(12)[3:12:2])
    places = Places({one: TOKYO if one in wrong else ATHENS for one in addresses(12)})
    machine = DelegationMachine(flat_tree(12), Everyone(), locations=places)
    joined(machine, NY, OTHER)

    def rtt_ms(name: str, at: str) -> float:
        near = 30.0 if at in wrong else 120.0
        return near if name == "ny" else 200.0

    names = [asked(arrived(machine, one, rtt_ms)) for one in addresses(12)]
    assert all("ny" in some for some in names)
    assert machine.roster.records[0] == TrackRecord(checked=12, implausible=5)
    assert machine.config.implausible_allowed < 5


def test_where_two_crawlers_contradict_a_place_neither_is_blamed() -> None:
    machine = machine_of(config=DelegatorConfig(implausible_allowed=1))
    joined(machine, NY, OTHER)
    actions = arrived(machine, "10.0.0.1", lambda name, _: {"ny": 20.0, "athens": 60.0}[name])
    assert checked(actions) == []
    assert machine.roster.flagged() == []
    one = decided(actions)
    assert (one.crawler, one.rtt_ms, one.probes) == ("ny", 20.0, 2)


def test_sample_at_an_unknown_place_is_not_a_check() -> None:
    machine = DelegationMachine(flat_tree(1), Everyone())
    joined(machine, NY)
    assert checked(arrived(machine, "10.0.0.1", lambda *_: 30.0)) == []


def test_makeshift_answer_counts_nothing_for_its_attempt_is_made_again() -> None:
    machine = machine_of()
    joined(machine, NY, OTHER)
    asks = machine.handle(SiteArrived(site("10.0.0.1"), 1.0))
    attempt = asks[0].attempt  # type: ignore[union-attr]
    sample = Sample(crawler="ny", address=site("10.0.0.1").address, rtt_ms=1.0)
    machine.handle(SampleReturned(attempt, sample, 1.0))
    actions = machine.handle(ProbeLost(attempt, "athens", Loss.BUDGET, 1.0))
    assert checked(actions) == []
    assert [action.is_makeshift for action in actions if isinstance(action, Delegated)] == [True]


def flagged_machine() -> DelegationMachine:
    machine = machine_of()
    machine.handle(CrawlerJoined(NY, 0.0, TrackRecord(checked=4, implausible=3)))
    joined(machine, OTHER)
    assert machine.roster.flagged() == ["ny"]
    return machine


def test_record_of_the_store_decides_from_the_start() -> None:
    assert asked(arrived(flagged_machine(), "10.0.0.1", lambda *_: 250.0)) == ["athens"]
    machine = machine_of()
    machine.handle(CrawlerJoined(NY, 0.0, TrackRecord(checked=203, implausible=3)))
    assert machine.roster.flagged() == []
    assert machine.has_crawlers


@pytest.mark.parametrize(
    ("record", "is_flagged"),
    [
        (TrackRecord(checked=2, implausible=2), False),
        (TrackRecord(checked=3, implausible=3), True),
        (TrackRecord(checked=6, implausible=3), False),
        (TrackRecord(checked=7, implausible=4), True),
        (TrackRecord(checked=203, implausible=3), False),
    ],
)
def test_flag_needs_three_implausible_samples_and_more_than_half(
    record: TrackRecord, is_flagged: bool
) -> None:
    machine = machine_of()
    machine.handle(CrawlerJoined(NY, 0.0, record))
    assert bool(machine.roster.flagged()) is is_flagged


@pytest.mark.parametrize("allowed", [3, 203])
def test_reconnecting_changes_nothing_for_or_against_a_crawler(allowed: int) -> None:
    machine = machine_of()
    machine.handle(CrawlerJoined(NY, 0.0, TrackRecord(checked=allowed, implausible=3)))
    before = machine.has_crawlers
    joined(machine, replace(NY, state=CrawlerState.UNREACHABLE))
    assert not machine.has_crawlers
    joined(machine, NY)
    assert machine.has_crawlers is before is (allowed == 203)


def test_flagged_crawler_that_is_removed_and_added_anew_is_believed() -> None:
    machine = flagged_machine()
    joined(machine, replace(NY, state=CrawlerState.LEFT))
    joined(machine, NY)
    assert machine.roster.flagged() == ["ny"], "it was only gone for a while"
    anew: Crawler = replace(NY, joined_s=100.0)
    joined(machine, anew)
    assert machine.roster.flagged() == []
    assert machine.roster.records[0] == TrackRecord(since_s=100.0)


def test_record_from_before_a_crawler_was_added_anew_is_void() -> None:
    machine = machine_of()
    old = TrackRecord(since_s=1.0, checked=9, implausible=9)
    machine.handle(CrawlerJoined(replace(NY, joined_s=2.0), 3.0, old))
    assert machine.roster.flagged() == []


def test_plausible_samples_that_were_under_way_can_clear_a_flag() -> None:
    machine = machine_of(8)
    joined(machine, NY, OTHER)
    asks = [machine.handle(SiteArrived(site(one), 0.0)) for one in addresses(8)]
    for number, address in enumerate(addresses(8)):
        attempt = asks[number][0].attempt  # type: ignore[union-attr]
        for name, rtt_ms in (("athens", 250.0), ("ny", 1.0 if number < 3 else 300.0)):
            sample = Sample(crawler=name, address=site(address).address, rtt_ms=rtt_ms)
            machine.handle(SampleReturned(attempt, sample, 1.0))
        assert bool(machine.roster.flagged()) is (number in {2, 3, 4})
    assert machine.roster.records[0] == TrackRecord(checked=8, implausible=3)
