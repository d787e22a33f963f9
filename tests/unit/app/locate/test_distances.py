"""What samples teach about round trips by distance."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from ipmicra.app.locate.distances import learn_distances
from ipmicra.locate.distance import DistanceSource
from ipmicra.model.address import Address
from ipmicra.model.geo import FIBRE_KM_PER_MS, km_between
from ipmicra.model.location import Location
from ipmicra.model.sample import Sample
from tests.fakes.fleet import crawler, place

ATHENS, TOKYO = place(37.98, 23.73), place(35.68, 139.69)
FLEET = [crawler("ath", location=ATHENS), crawler("nowhere")]


def samples(crawler_name: str, *rtt_ms: float | None) -> list[Sample]:
    return [
        Sample(crawler=crawler_name, address=ip_address(f"10.0.{i // 200}.{i % 200}"), rtt_ms=ms)
        for i, ms in enumerate(rtt_ms)
    ]


def in_tokyo(_address: Address) -> Location:
    return TOKYO


def test_detours_of_the_fleet_are_learnt() -> None:
    straight_ms = km_between(ATHENS, TOKYO) / FIBRE_KM_PER_MS
    learnt = learn_distances(samples("ath", *[3 * straight_ms] * 300), FLEET, in_tokyo)
    km = km_between(ATHENS, TOKYO)
    assert float(learnt.expected_many(km)[0]) == pytest.approx(3 * straight_ms, rel=0.1)
    assert float(DistanceSource().expected_many(km)[0]) < 2 * straight_ms


def test_samples_that_say_nothing_about_distance_are_left_out() -> None:
    useless = [*samples("nowhere", 500.0, 500.0), *samples("gone", 500.0), *samples("ath", None)]
    learnt = learn_distances(useless, FLEET, in_tokyo)
    assert repr(learnt) == repr(DistanceSource())
    far = samples("ath", 400.0, 400.0)
    assert repr(learn_distances(far, FLEET, lambda _: None)) == repr(DistanceSource())
    country = place(35.68, 139.69, radius_km=900.0)
    assert repr(learn_distances(far, FLEET, lambda _: country)) == repr(DistanceSource())
