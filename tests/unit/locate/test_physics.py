"""Round trips: what they rule out, what they prove, and where they leave room."""

from __future__ import annotations

from ipaddress import IPv4Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.locate.config import LatencyConfig
from ipmicra.locate.physics import Bound, bounds_of, latency_hint, prove_anycast, reject_votes
from ipmicra.model.geo import FIBRE_KM_PER_MS, km_between
from ipmicra.model.location import Heuristic, Hint, Location
from ipmicra.model.sample import Loss, Sample

CONFIG = LatencyConfig()
SITE = IPv4Address("192.0.2.1")
CRAWLERS = {
    "ams": Location(latitude=52.37, longitude=4.90, radius_km=0.0),
    "fra": Location(latitude=50.11, longitude=8.68, radius_km=0.0),
    "lon": Location(latitude=51.51, longitude=-0.13, radius_km=0.0),
    "syd": Location(latitude=-33.87, longitude=151.21, radius_km=0.0),
}
PLACES = st.tuples(st.floats(-80, 80), st.floats(-179, 179))


def sample(crawler: str, rtt_ms: float | None) -> Sample:
    return Sample(crawler=crawler, address=SITE, rtt_ms=rtt_ms, loss=None if rtt_ms else Loss.TIMEOUT)


def bounds(**rtt_ms: float) -> list[Bound]:
    return bounds_of([sample(name, rtt) for name, rtt in rtt_ms.items()], CRAWLERS)


def hint(latitude: float, longitude: float, radius_km: float = 30.0) -> Hint:
    place = Location(latitude=latitude, longitude=longitude, radius_km=radius_km)
    return Hint(heuristic=Heuristic.AIRPORT, location=place, evidence="given")


def test_bound_is_half_the_round_trip_at_two_thirds_of_light() -> None:
    (bound,) = bounds(ams=10.0)
    assert bound.farthest_km == pytest.approx(299.792458 * 2 / 3 * 10 / 2)


def test_shortest_sample_of_a_crawler_counts_and_lost_or_unplaced_ones_do_not() -> None:
    samples = [sample("ams", 20.0), sample("ams", 10.0), sample("fra", None), sample("unknown", 1.0)]
    (bound,) = bounds_of(samples, CRAWLERS)
    assert (bound.crawler, bound.rtt_ms) == ("ams", 10.0)


def test_vote_that_light_cannot_reach_is_rejected_and_the_crawler_named() -> None:
    sydney, amsterdam = hint(-33.87, 151.21), hint(52.3, 4.8)
    kept, rejected = reject_votes([sydney, amsterdam], bounds(ams=3.0, lon=9.0), CONFIG)
    assert kept == [amsterdam]
    assert [(one.hint, one.crawler) for one in rejected] == [(sydney, "ams")]
    assert "3 ms" in rejected[0].reason


def test_vote_for_a_wide_area_is_rejected_only_if_no_part_of_it_can_be_reached() -> None:
    wide = hint(-25.0, 135.0, radius_km=2600.0)
    assert reject_votes([wide], bounds(syd=20.0), CONFIG)[1] == []
    assert reject_votes([wide], bounds(ams=20.0), CONFIG)[0] == []


def test_two_short_round_trips_far_apart_prove_anycast() -> None:
    proof = prove_anycast(bounds(ams=2.0, syd=3.0, fra=30.0), CONFIG)
    assert proof is not None
    assert {bound.crawler for bound in proof} == {"ams", "syd"}
    assert prove_anycast(bounds(ams=2.0, fra=8.0), CONFIG) is None
    assert prove_anycast(bounds(ams=2.0), CONFIG) is None


def test_three_samples_locate_where_their_circles_meet() -> None:
    found = latency_hint(bounds(ams=1.5, fra=4.5, lon=4.5), CONFIG)
    assert found is not None
    assert km_between(found.location, CRAWLERS["ams"]) < 150
    assert found.location.radius_km < 160
    assert "shortest 1.5 ms from ams" in found.evidence


def test_two_samples_or_an_ocean_of_room_give_no_location() -> None:
    assert latency_hint(bounds(ams=1.5, fra=4.5), CONFIG) is None
    assert latency_hint(bounds(ams=150.0, fra=150.0, lon=150.0), CONFIG) is None


@given(PLACES, st.lists(st.tuples(PLACES, st.floats(1.0, 3.0), st.floats(0, 20)), min_size=1, max_size=8))
def test_true_place_is_never_rejected_nor_called_anycast(
    site: tuple[float, float], crawlers: list[tuple[tuple[float, float], float, float]]
) -> None:
    """Any detour and any waiting on top of light in fibre leaves the truth possible."""
    places = {
        str(i): Location(latitude=at[0], longitude=at[1], radius_km=0.0)
        for i, (at, *_) in enumerate(crawlers)
    }
    truth = Location(latitude=site[0], longitude=site[1], radius_km=0.0)
    samples = [
        sample(str(i), max(0.01, km_between(truth, places[str(i)]) / FIBRE_KM_PER_MS * detour + waiting))
        for i, (_, detour, waiting) in enumerate(crawlers)
    ]
    found = bounds_of(samples, places)
    assert reject_votes([hint(*site, radius_km=0.0)], found, CONFIG)[1] == []
    assert prove_anycast(found, CONFIG) is None
    located = latency_hint(found, CONFIG)
    if located:
        for bound in found:
            away = km_between(located.location, bound)
            assert away - located.location.radius_km <= bound.farthest_km + CONFIG.slack_km
