"""Distances on the Earth equal those of another formula, and keep the laws of a metric."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ipmicra.model.geo import (
    EARTH_RADIUS_KM,
    FARTHEST_KM,
    FIBRE_KM_PER_MS,
    VACUUM_KM_PER_MS,
    degrees_of,
    distances_km,
    km_between,
    point_at,
    ring_around,
    unit_vectors,
    vector_distances_km,
)
from ipmicra.model.location import Location
from tests.reference.slow_geodesy import slow_distance_km

LATITUDES, LONGITUDES = st.floats(-90, 90), st.floats(-180, 180)
PLACES = st.builds(Location, latitude=LATITUDES, longitude=LONGITUDES, radius_km=st.just(0.0))
LISTS = st.lists(PLACES, min_size=1, max_size=6)


def place(latitude: float, longitude: float) -> Location:
    return Location(latitude=latitude, longitude=longitude, radius_km=0.0)


def slow_km(one: Location, other: Location) -> float:
    return slow_distance_km(one.latitude, one.longitude, other.latitude, other.longitude)


def columns(places: list[Location]) -> tuple[list[float], list[float]]:
    return [one.latitude for one in places], [one.longitude for one in places]


@given(LISTS, LISTS)
def test_every_way_to_ask_for_a_distance_equals_the_slow_formula(
    places: list[Location], others: list[Location]
) -> None:
    # Near the antipode the chord loses half of its digits: 1e-8 of the Earth's size is 0.1 km.
    slow = [[slow_km(one, other) for other in others] for one in places]
    by_degrees = distances_km(
        *(np.array(column)[:, None] for column in columns(places)), *(column for column in columns(others))
    )
    by_vectors = vector_distances_km(unit_vectors(*columns(places)), unit_vectors(*columns(others)))
    one_by_one = [[km_between(one, other) for other in others] for one in places]
    for found in (by_degrees, by_vectors, one_by_one):
        np.testing.assert_allclose(found, slow, atol=0.2)


@example(one=place(0.0, 0.0), other=place(8.16965496271014e-08, 180.0))  # nearly opposite
@given(one=PLACES, other=PLACES)
def test_one_pair_and_columns_of_pairs_are_equally_far_apart(one: Location, other: Location) -> None:
    column = distances_km([one.latitude], [one.longitude], [other.latitude], [other.longitude])
    assert float(column[0]) == pytest.approx(km_between(one, other), rel=1e-12, abs=1e-9)
    assert float(column[0]) == pytest.approx(slow_km(one, other), abs=1e-6)


@given(PLACES, st.floats(-1e-6, 1e-6), st.floats(-1e-6, 1e-6))
def test_places_nearly_opposite_are_measured_to_the_millimetre(
    one: Location, north: float, east: float
) -> None:
    opposite = place(min(90.0, max(-90.0, north - one.latitude)), one.longitude + 180.0 + east)
    column = distances_km([one.latitude], [one.longitude], [opposite.latitude], [opposite.longitude])
    assert float(column[0]) == pytest.approx(slow_km(one, opposite), abs=1e-6)
    assert km_between(one, opposite) == pytest.approx(slow_km(one, opposite), abs=1e-6)


@given(LATITUDES, LONGITUDES, st.floats(-1, 1), st.floats(-1, 1))
def test_places_close_together_are_measured_to_the_millimetre(
    latitude: float, longitude: float, north: float, east: float
) -> None:
    here, there = place(latitude, longitude), place(min(90.0, max(-90.0, latitude + north)), longitude + east)
    exact = pytest.approx(slow_km(here, there), abs=1e-6)
    assert km_between(here, there) == exact
    assert float(distances_km(here.latitude, here.longitude, there.latitude, there.longitude)) == exact
    vectors = unit_vectors([here.latitude, there.latitude], [here.longitude, there.longitude])
    assert vector_distances_km(vectors[:1], vectors[1:])[0, 0] == exact


@example(a=place(0.0, 0.0), b=place(1.0, 0.0), c=place(8.16965496271014e-08, 180.0))  # nearly opposite
@given(a=PLACES, b=PLACES, c=PLACES)
def test_distance_is_a_metric(a: Location, b: Location, c: Location) -> None:
    assert km_between(a, a) == 0
    assert km_between(a, b) == pytest.approx(km_between(b, a))
    assert 0 <= km_between(a, b) <= FARTHEST_KM + 1e-6
    assert km_between(a, c) <= km_between(a, b) + km_between(b, c) + 1e-6


@given(PLACES, st.floats(0, 360), st.floats(0, 19_000))
def test_point_at_lies_as_far_away_as_asked(start: Location, bearing: float, away: float) -> None:
    latitude, longitude = point_at(start.latitude, start.longitude, bearing, away)
    reached = place(float(latitude), float(longitude))
    assert -90 <= reached.latitude <= 90
    assert -180 <= reached.longitude <= 180
    assert slow_km(start, reached) == pytest.approx(away, abs=0.5)


@given(PLACES, st.floats(1, 3000))
def test_ring_lies_within_its_radius_around_its_point(centre: Location, radius_km: float) -> None:
    point = unit_vectors(centre.latitude, centre.longitude)
    away = vector_distances_km(point[None], ring_around(point, radius_km))[0]
    np.testing.assert_allclose(np.sort(away), [0.0] + [radius_km / 2] * 6 + [radius_km] * 6, atol=0.5)


@given(PLACES, st.floats(0.001, 1000))
def test_vector_of_any_length_leads_back_to_its_place(one: Location, length: float) -> None:
    latitude, longitude = degrees_of(length * unit_vectors(one.latitude, one.longitude))
    assert slow_km(one, place(float(latitude), float(longitude))) == pytest.approx(0, abs=1e-6)


def test_known_distances_on_the_map() -> None:
    assert km_between(place(51.5, -0.13), place(40.71, -74.01)) == pytest.approx(5570, rel=0.01)
    assert km_between(place(51.51, -0.13), place(48.86, 2.35)) == pytest.approx(343.5, abs=1.0)
    assert km_between(place(0, 179.9), place(0, -179.9)) == pytest.approx(22.2, rel=0.01)
    assert km_between(place(0, 0), place(90, 0)) == pytest.approx(EARTH_RADIUS_KM * np.pi / 2)


def test_a_millisecond_of_round_trip_reaches_150_km_in_vacuum_and_100_in_fibre() -> None:
    assert pytest.approx(149.896, abs=0.001) == VACUUM_KM_PER_MS
    assert pytest.approx(99.931, abs=0.001) == FIBRE_KM_PER_MS
