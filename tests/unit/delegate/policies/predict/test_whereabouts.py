"""Sites whose place is unknown or wrong."""

from __future__ import annotations

from ipaddress import IPv4Address

import numpy as np
import pytest

from ipmicra.delegate.attempt import Attempt
from ipmicra.delegate.config import PredictConfig
from ipmicra.delegate.policies.predict.belief import Belief
from ipmicra.delegate.policies.predict.forest import Branches
from ipmicra.delegate.policies.predict.prior import ABROAD, Field, Geography, Samples
from ipmicra.delegate.policies.predict.whereabouts import Candidates, PlacementCheck, Whereabouts
from ipmicra.model.geo import unit_vectors
from ipmicra.model.location import Location
from ipmicra.model.types import Floats
from tests.fakes.fleet import place
from tests.fakes.subnet_tree import flat_tree

ATHENS, TOKYO, LIMA = place(37.98, 23.73), place(35.68, 139.69), place(-12.05, -77.04)
CONFIG = PredictConfig(mixed_places=0)
WITHIN = 0.05 * np.eye(3) + 0.02


def geography() -> Geography:
    found = Geography(CONFIG)
    for one in (ATHENS, TOKYO, LIMA):
        found.add(one)
    return found


def candidates() -> Candidates:
    found = Candidates(CONFIG, geography())
    for one in (ATHENS, TOKYO, LIMA):
        found.add(one)
    return found


def belief(*samples: tuple[int, float], noise: float = 0.0) -> Belief:
    found = candidates().belief(Field(CONFIG, WITHIN))
    for crawler, rtt_ms in samples:
        found.condition(crawler, rtt_ms, noise)
    return found


def test_one_short_round_trip_says_where_the_site_is() -> None:
    found = belief((1, 4.0))
    assert found.logarithms().argmin() == 1
    assert found.expected_ms(0) > 100.0


def test_long_round_trip_leaves_the_other_places() -> None:
    found = belief((1, 250.0))
    assert found.expected_ms(1) == pytest.approx(250.0)
    assert np.exp(found.scores)[1] < 0.01


def test_samples_fit_places_that_exist_better_than_others() -> None:
    fitting, odd = belief((0, 4.0), (1, 190.0)), belief((0, 4.0), (1, 4.0))
    assert fitting.density > odd.density - np.log(190.0)


def test_neighbours_tell_where_a_site_is_the_less_the_farther_slices_are_apart() -> None:
    kin, strangers = belief((1, 4.0), noise=0.02), belief((1, 4.0), noise=4.0)
    assert kin.expected_ms(1) < strangers.expected_ms(1) < belief().expected_ms(1)


def test_places_near_each_other_are_one_candidate() -> None:
    some = candidates()
    some.add(place(37.2, 23.1))
    assert len(some) == 3


def test_sites_taught_candidates_what_their_region_is_like() -> None:
    some, field = candidates(), Field(CONFIG, WITHIN)
    branches = Branches(CONFIG, flat_tree(1))
    attempt = Attempt(0, -1, 0, IPv4Address("10.0.0.1"), ATHENS)
    branch = branches.branch(field.forest, attempt, is_placed=True)
    some.add(ATHENS, branch.trees)
    before = some.belief(field).means[0, 2]
    prior = field.expect(geography().outlook(ATHENS), branch)
    for _ in range(5):
        samples = Samples(np.array([2]), np.array([400.0]), np.ones(1))
        field.learn(field.expect(prior.outlook, branch), samples)
    assert some.belief(field).means[0, 2] > before + 0.1


def wide(radius_km: float = 300.0) -> Location:
    return Location(latitude=38.0, longitude=24.0, radius_km=radius_km, country="GR")


def test_points_of_a_wide_place_are_settlements_of_its_country_and_some_around_it() -> None:
    class Two:
        def of(self, country: str) -> tuple[Floats, Floats]:
            assert country == "GR"
            return unit_vectors(np.array([37.98, 40.64]), np.array([23.73, 22.94])), np.array([3.0, 1.0])

    found = Geography(CONFIG, Two())
    for one in (ATHENS, TOKYO, LIMA):
        found.add(one)
    weights = np.exp(found.outlook(wide()).scores)
    assert (weights[:2] / weights[:2].sum()).tolist() == pytest.approx([0.8, 0.2], abs=0.06)
    assert weights[2:].sum() == pytest.approx(ABROAD)
    assert len(weights) == 2 + 13
    assert len(found.outlook(wide(20.0)).scores) == 13  # a city: a ring around it


def test_place_far_from_its_country_is_a_ring() -> None:
    class Far:
        def of(self, country: str) -> tuple[Floats, Floats]:
            return unit_vectors(np.array([-40.0]), np.array([170.0])), np.array([1.0])

    found = Geography(CONFIG, Far())
    found.add(ATHENS)
    assert len(found.outlook(wide()).scores) == 13


def test_slice_remembers_which_point_of_a_wide_place_it_is_at() -> None:
    whereabouts, outlook = Whereabouts(CONFIG, geography()), geography().outlook(wide())
    attempt = Attempt(0, -1, 0, IPv4Address("10.0.0.1"), wide())
    field = Field(CONFIG, WITHIN)
    branch = Branches(CONFIG, flat_tree(1)).branch(field.forest, attempt, is_placed=True)
    places = np.full(13, 0.01)
    places[4] = 0.88
    whereabouts.learn(attempt, {0: 5.0}, field.expect(outlook, branch), places)
    beside, elsewhere = (Attempt(1, -1, 0, IPv4Address(text), wide()) for text in ("10.0.0.9", "10.0.9.1"))
    assert whereabouts.narrowed(beside, outlook).scores.argmax() == 4
    assert whereabouts.narrowed(elsewhere, outlook) is outlook


def test_sites_without_a_place_teach_their_slice() -> None:
    whereabouts, field = Whereabouts(CONFIG, geography()), Field(CONFIG, WITHIN)
    for one in (ATHENS, TOKYO, LIMA):
        whereabouts.add_crawler(one)
    assert whereabouts.is_known
    attempt = Attempt(0, -1, 0, IPv4Address("10.0.0.1"), None)
    branch = Branches(CONFIG, flat_tree(1)).branch(field.forest, attempt, is_placed=False)
    prior = field.expect(geography().outlook(None), branch)
    whereabouts.learn(attempt, {1: 4.0}, prior, np.ones(1))
    near = Attempt(1, -1, 0, IPv4Address("10.0.0.200"), None)
    far = Attempt(2, -1, 0, IPv4Address("10.9.0.1"), None)
    assert whereabouts.beside(near, None)[1][0] == pytest.approx(4.0)
    assert whereabouts.beside(far, None) == {}
    assert whereabouts.belief(near, field, None).expected_ms(1) < 30


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
