"""Small parts: keys of subnets, geometry, physics, life cycles, geography."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.delegate.attempt import Attempt, Stage, StageStep, next_stage
from ipmicra.delegate.config import PredictConfig
from ipmicra.delegate.ledger import Held, Hold, HoldStep, Ledger, next_hold
from ipmicra.delegate.policies.predict.prior import Geography
from ipmicra.delegate.roster import Roster
from ipmicra.delegate.subnets import bounds_of, key_of, row_of_key, single, slice_of
from ipmicra.errors import LifeCycleError
from ipmicra.model.delegation import Delegation, Evidence
from ipmicra.model.geo import VACUUM_KM_PER_MS, km_between
from tests.fakes.fleet import crawler, place
from tests.fakes.subnet_tree import flat_tree

LONDON, PARIS, SYDNEY = place(51.51, -0.13), place(48.86, 2.35), place(-33.87, 151.21)


@given(st.integers(0, 2**32 - 1).map(IPv4Address) | st.integers(0, 2**128 - 1).map(IPv6Address))
def test_slice_and_single_key_give_back_bounds_that_hold_the_address(
    address: IPv4Address | IPv6Address,
) -> None:
    first, last = bounds_of(flat_tree(1), slice_of(address))
    assert int(first) <= int(address) <= int(last)
    assert int(last) - int(first) + 1 == (256 if address.version == 4 else 2**80)
    assert bounds_of(flat_tree(1), single(address)) == (address, address)
    assert slice_of(address) != single(address) < 0


def test_registered_address_has_its_row_as_key_and_another_a_slice() -> None:
    tree = flat_tree(3)
    assert key_of(tree, IPv4Address("10.0.2.9")) == 3
    assert key_of(tree, IPv4Address("11.0.0.1")) == slice_of(IPv4Address("11.0.0.200"))
    assert row_of_key(tree, slice_of(IPv4Address("11.0.0.1"))) == 0
    assert row_of_key(tree, slice_of(IPv4Address("10.0.2.1"))) == 3


def roster_of(*places: object) -> Roster:
    roster = Roster()
    for i, one in enumerate(places):
        roster.join(crawler(f"c{i}", f"192.0.2.{i + 1}", one))  # type: ignore[arg-type]
    return roster


def test_least_round_trip_needs_sure_places_at_both_ends() -> None:
    roster = roster_of(LONDON, None)
    assert roster.least_ms(0, SYDNEY) == pytest.approx((km_between(LONDON, SYDNEY) - 30) / VACUUM_KM_PER_MS)
    assert roster.least_ms(1, SYDNEY) == 0
    assert roster.least_ms(0, None) == 0
    assert roster.least_ms(0, place(-33.87, 151.21, radius_km=500)) == 0


def test_two_circles_that_meet_prove_nothing() -> None:
    roster = roster_of(LONDON, PARIS, SYDNEY)
    assert not roster.is_in_many_places({0: 2.0, 1: 3.0})
    assert roster.is_in_many_places({0: 2.0, 2: 3.0})
    assert not roster.is_in_many_places({0: 2.0})


def test_few_distances_of_a_large_fleet_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ipmicra.delegate.roster.MOST_PAIRS", 5)
    roster = roster_of(*[LONDON, PARIS, SYDNEY] * 4)
    for one in range(12):
        for other in range(12):
            is_apart = (one % 3 == 2) != (other % 3 == 2)
            assert roster.is_in_many_places({one: 2.0, other: 3.0}) is is_apart
            assert len(roster._apart_km) <= 5


@pytest.mark.parametrize(
    ("hold", "step"),
    [
        (Hold.FREE, HoldStep.ATTEMPT_SETTLED),
        (Hold.FREE, HoldStep.ATTEMPT_ABANDONED),
        (Hold.FREE, HoldStep.DELEGATION_EXPIRED),
        (Hold.FREE, HoldStep.CRAWLER_LEFT),
        (Hold.CONTESTED, HoldStep.ATTEMPT_OPENED),
        (Hold.CONTESTED, HoldStep.CRAWLER_LEFT),
        (Hold.HELD, HoldStep.ATTEMPT_SETTLED),
        (Hold.HELD, HoldStep.ATTEMPT_ABANDONED),
    ],
)
def test_subnet_refuses_a_step_that_cannot_follow(hold: Hold, step: HoldStep) -> None:
    with pytest.raises(LifeCycleError) as caught:
        next_hold(hold, step)
    assert (caught.value.state, caught.value.step) == (hold.name, step.name)


def test_subnet_is_contested_then_held_then_free_again() -> None:
    hold = Hold.FREE
    for step, then in (
        (HoldStep.ATTEMPT_OPENED, Hold.CONTESTED),
        (HoldStep.ATTEMPT_SETTLED, Hold.HELD),
        (HoldStep.ATTEMPT_OPENED, Hold.CONTESTED),
        (HoldStep.ATTEMPT_ABANDONED, Hold.FREE),
        (HoldStep.OWN_SUBNET, Hold.HELD),
        (HoldStep.CRAWLER_LEFT, Hold.FREE),
    ):
        hold = next_hold(hold, step)
        assert hold is then


@pytest.mark.parametrize("stage", [Stage.SETTLED, Stage.ABANDONED])
@pytest.mark.parametrize("step", StageStep)
def test_ended_attempt_takes_no_further_step(stage: Stage, step: StageStep) -> None:
    with pytest.raises(LifeCycleError):
        next_stage(stage, step)


def test_attempt_waits_for_its_probes_before_it_settles() -> None:
    assert next_stage(Stage.OPEN, StageStep.PROBE_ASKED) is Stage.WAITING
    with pytest.raises(LifeCycleError):
        next_stage(Stage.WAITING, StageStep.CRAWLER_CHOSEN)
    assert next_stage(Stage.WAITING, StageStep.PROBES_IN) is Stage.OPEN
    assert next_stage(Stage.OPEN, StageStep.CRAWLER_CHOSEN) is Stage.SETTLED


def held() -> Held:
    address = IPv4Address("10.0.0.0")
    one = Delegation(
        first=address,
        last=address,
        crawler="c0",
        evidence=Evidence.PROBED,
        rtt_ms=1.0,
        probes=1,
        created_s=0.0,
        expires_s=9.0,
    )
    return Held(one, 0, 1)


def test_ledger_gives_rows_in_order_and_by_organisation() -> None:
    ledger = Ledger()
    for key in (5, 2, 9, -4):
        ledger.give(key, held(), organisation=7 if key != 9 else 0)
    assert ledger.rows_between(2, 9) == [2, 5]
    assert ledger.of_organisation(7) == [5, 2, -4]
    ledger.free(5, HoldStep.DELEGATION_EXPIRED, 7)
    assert ledger.rows_between(0, 100) == [2, 9]
    assert ledger.of_organisation(7) == [2, -4]
    assert ledger.hold_of(5) is Hold.FREE
    assert repr(ledger) == "<Ledger: 3 held, 0 contested>"


def test_expected_round_trips_grow_with_distance_and_unknown_places_are_unsure() -> None:
    geography = Geography(PredictConfig())
    for one in (LONDON, SYDNEY, None):
        geography.add(one)
    outlook = geography.outlook(PARIS)
    assert outlook.levels[0, 0] < outlook.levels[0, 1]
    assert outlook.least[0, 2] == 0
    assert outlook.unsure is not None
    assert outlook.unsure[2] > 0.5 > outlook.unsure[0]


def test_country_is_less_sure_than_a_point_and_nowhere_less_than_a_country() -> None:
    geography = Geography(PredictConfig())
    for one in (LONDON, PARIS, SYDNEY):
        geography.add(one)
    country, point = geography.outlook(place(47.0, 3.0, radius_km=400)), geography.outlook(PARIS)
    assert len(point.levels) == 1
    assert 0 < country.levels[:, 1].var() < geography.nowhere()[1][1, 1]


def test_samples_that_were_compared_before_are_compared_with_new_ones_only() -> None:
    roster = roster_of(place(0.0, 0.0), place(0.0, 90.0), place(0.0, 0.0))
    assert roster.is_in_many_places({0: 1.0, 2: 1.0, 1: 1.0}, compared={0: 1.0, 2: 1.0})
    assert roster.is_in_many_places({0: 1.0, 1: 1.0}, compared={0: 1.0, 1: 200.0})
    assert not roster.is_in_many_places({0: 1.0, 1: 1.0, 2: 200.0}, compared={0: 1.0, 1: 1.0})
    assert not roster.is_in_many_places({0: 1.0, 1: 1.0}, compared={0: 1.0, 1: 1.0})


def test_attempt_that_is_asked_about_again_is_searched_for_what_came_since() -> None:
    compared: list[tuple[int, int]] = []

    class Watched(Roster):
        def _apart(self, one: int, other: int) -> float:
            compared.append((one, other))
            return super()._apart(one, other)

    roster = Watched()
    for i, one in enumerate((LONDON, PARIS, SYDNEY)):
        roster.join(crawler(f"c{i}", f"192.0.2.{i + 1}", one))
    attempt = Attempt(0, 1, 1, IPv4Address("10.0.0.1"), None, samples={0: 2.0, 1: 3.0})
    assert not roster.finds_two_places(attempt)
    assert set(compared) == {(0, 1), (1, 0)}
    compared.clear()
    assert not roster.finds_two_places(attempt)
    assert compared == []
    attempt.samples[2] = 3.0
    assert roster.finds_two_places(attempt)
    assert {one for one, _other in compared} == {2}
    compared.clear()
    assert not roster.finds_two_places(attempt), "whoever asked knows"
    assert compared == []
