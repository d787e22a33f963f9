"""Round trips that nobody measured."""

from __future__ import annotations

from ipaddress import IPv4Address

import numpy as np
import pytest

from ipmicra.delegate.policies.predict.expecting import ExpectedTrips
from ipmicra.model.crawler import Crawler
from ipmicra.model.location import Location
from tests.fakes.subnet_tree import ListedTree, listed

ATHENS = Location(latitude=37.98, longitude=23.73, radius_km=5.0)
BERLIN = Location(latitude=52.52, longitude=13.4, radius_km=5.0)
SYDNEY = Location(latitude=-33.87, longitude=151.21, radius_km=5.0)
FLEET = [
    Crawler(name=name, address=IPv4Address(f"192.0.2.{number}"), location=place)
    for number, (name, place) in enumerate((("ath", ATHENS), ("ber", BERLIN), ("syd", SYDNEY)), 1)
]
NOWHERE = [Crawler(name=one.name, address=one.address) for one in FLEET]
TREE = ListedTree([listed("10.0.0.0/16", 0, 1, "GR"), listed("10.0.1.0/24", 1, 1, "GR")])
SITE, NEIGHBOUR, STRANGER = (IPv4Address(text) for text in ("10.0.1.5", "10.0.1.9", "172.16.0.1"))


def test_a_place_alone_tells_who_is_near() -> None:
    expected = ExpectedTrips(TREE, FLEET).expected_ms(SITE, BERLIN, {})
    assert expected is not None
    assert expected.argsort().tolist() == [1, 0, 2]
    assert expected[2] > 150, "light itself needs longer from Sydney"


def test_samples_of_the_site_stand_and_bear_on_the_others() -> None:
    trips = ExpectedTrips(TREE, FLEET)
    before = trips.expected_ms(SITE, ATHENS, {})
    after = trips.expected_ms(SITE, ATHENS, {"ber": 400.0})
    assert before is not None
    assert after is not None
    assert after[1] == 400.0
    assert after[0] > before[0], "a site that is slow for one is expected to be slow for another"


def test_what_neighbours_measured_is_expected_without_any_place() -> None:
    trips = ExpectedTrips(TREE, NOWHERE)
    assert trips.expected_ms(SITE, None, {}) is None
    trips.learn(NEIGHBOUR, None, {"ath": 5.0, "ber": 45.0, "syd": 300.0})
    expected = trips.expected_ms(SITE, None, {})
    assert expected is not None
    assert expected.argsort().tolist() == [0, 1, 2]
    assert trips.expected_ms(STRANGER, None, {}) is None


def test_place_that_samples_contradict_counts_for_nothing() -> None:
    trips = ExpectedTrips(TREE, FLEET)
    samples = {"ath": 340.0, "ber": 330.0}
    trips.learn(SITE, ATHENS, samples)
    expected = trips.expected_ms(SITE, ATHENS, samples)
    assert expected is not None
    assert expected[2] < 200, "who is that far from Athens and Berlin may well be near Sydney"


def test_crawlers_of_another_fleet_teach_nothing() -> None:
    trips = ExpectedTrips(TREE, FLEET)
    before = trips.expected_ms(SITE, ATHENS, {})
    trips.learn(NEIGHBOUR, ATHENS, {"old": 1.0})
    after = trips.expected_ms(SITE, ATHENS, {"old": 1.0})
    assert before is not None
    assert after == pytest.approx(before)


def test_learning_brings_expectations_nearer_to_the_truth() -> None:
    rng = np.random.default_rng(3)
    truth = {"ath": 9.0, "ber": 75.0, "syd": 450.0}
    trips = ExpectedTrips(TREE, FLEET)
    before = trips.expected_ms(SITE, ATHENS, {})
    for number in range(20, 40):
        noisy = {name: rtt_ms * float(rng.uniform(0.9, 1.1)) for name, rtt_ms in truth.items()}
        trips.learn(IPv4Address(f"10.0.1.{number}"), ATHENS, noisy)
    after = trips.expected_ms(SITE, ATHENS, {})
    assert before is not None
    assert after is not None
    wanted = np.array(list(truth.values()))
    assert np.abs(np.log(after / wanted)).max() < np.abs(np.log(before / wanted)).max() / 2
