"""Sites whose place is unknown or wrong."""

from __future__ import annotations

from ipaddress import IPv4Address

import numpy as np
import pytest

from ipmicra.delegate.attempt import Attempt
from ipmicra.delegate.config import PredictConfig
from ipmicra.delegate.policies.predict.belief import PlacementCheck
from ipmicra.delegate.policies.predict.prior import Geography
from ipmicra.delegate.policies.predict.whereabouts import Candidates, Whereabouts
from ipmicra.model.location import Location
from tests.fakes.fleet import place

ATHENS, TOKYO, LIMA = place(37.98, 23.73), place(35.68, 139.69), place(-12.05, -77.04)
CONFIG = PredictConfig(mixed_places=0)
WITHIN = 0.05 * np.eye(3) + 0.02


def candidates() -> Candidates:
    geography, found = Geography(CONFIG), Candidates(CONFIG)
    for one in (ATHENS, TOKYO, LIMA):
        geography.add(one)
        found.add(one)
    found.set_crawlers(geography.points)
    return found


def log(rtt_ms: float) -> float:
    return float(np.log(rtt_ms + CONFIG.offset_ms))


def test_one_short_round_trip_says_where_the_site_is() -> None:
    belief, _density = candidates().believed(WITHIN, {1: log(4.0)}, {})
    assert belief.mean.argmin() == 1
    assert belief.mean[0] > log(100.0)


def test_long_round_trip_leaves_the_other_places() -> None:
    belief, _density = candidates().believed(WITHIN, {1: log(250.0)}, {})
    assert belief.mean[1] == pytest.approx(log(250.0))
    assert belief.covariance[0, 0] > WITHIN[0, 0]


def test_samples_fit_places_that_exist_better_than_others() -> None:
    some = candidates()
    fitting = some.believed(WITHIN, {0: log(4.0), 1: log(190.0)}, {})[1]
    odd = some.believed(WITHIN, {0: log(4.0), 1: log(4.0)}, {})[1]
    assert fitting > odd - log(190.0)


def test_neighbours_tell_where_a_site_is_the_less_the_farther_slices_are_apart() -> None:
    some = candidates()
    kin = some.believed(WITHIN, {}, {1: (log(4.0), 0.02)})[0]
    strangers = some.believed(WITHIN, {}, {1: (log(4.0), 4.0)})[0]
    assert kin.mean[1] < strangers.mean[1] < some.believed(WITHIN, {}, {})[0].mean[1]


def test_places_near_each_other_are_one_candidate() -> None:
    some = candidates()
    some.add(place(37.2, 23.1))
    assert len(some) == 3


def test_sites_without_a_place_teach_their_slice() -> None:
    whereabouts, geography = Whereabouts(CONFIG), Geography(CONFIG)
    for one in (ATHENS, TOKYO, LIMA):
        geography.add(one)
        whereabouts.add_crawler(one, geography.points)
    assert whereabouts.is_known
    attempt = Attempt(0, -1, 0, IPv4Address("10.0.0.1"), None)
    whereabouts.learn(attempt, {1: 1.8}, geography.outlook(None))
    near = Attempt(1, -1, 0, IPv4Address("10.0.0.200"), None)
    far = Attempt(2, -1, 0, IPv4Address("10.9.0.1"), None)
    assert whereabouts.beside(near, None)[1][0] == pytest.approx(1.8)
    assert whereabouts.beside(far, None) == {}


def test_fleet_with_an_unknown_place_is_not_searched_by_places() -> None:
    whereabouts, geography = Whereabouts(CONFIG), Geography(CONFIG)
    for one in (ATHENS, None):
        geography.add(one)
        whereabouts.add_crawler(one, geography.points)
    assert not whereabouts.is_known


def test_source_that_is_often_wrong_is_believed_less() -> None:
    check = PlacementCheck(CONFIG)
    for i in range(60):
        check.learn("registry", 12.0 if i % 3 == 0 else None, was_sure=True)
        check.learn("city", None, was_sure=True)
    assert check.share("registry") > 0.2 > 0.1 > check.share("city")
    assert check.expected_loss_ms("registry") > 3 * check.expected_loss_ms("city")
    assert check.share("airport") == pytest.approx((50 * 0.02 + 20) / 170)


def test_source_of_a_place_does_not_make_it_another_place() -> None:
    here = Location(latitude=1.0, longitude=2.0, radius_km=5.0, source="city")
    assert here == Location(latitude=1.0, longitude=2.0, radius_km=5.0, source="registry")
