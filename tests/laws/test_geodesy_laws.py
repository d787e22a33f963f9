"""Distances on the Earth equal those of another formula, and keep the laws of a metric."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.locate.geodesy import (
    FARTHEST_KM,
    distance_km,
    distance_matrix_km,
    one_distance_km,
    point_at,
)
from tests.reference.slow_geodesy import slow_distance_km

LATITUDES, LONGITUDES = st.floats(-90, 90), st.floats(-180, 180)
PLACES = st.tuples(LATITUDES, LONGITUDES)


@given(PLACES, PLACES)
def test_distance_equals_that_of_the_slow_formula(
    one: tuple[float, float], other: tuple[float, float]
) -> None:
    # Near the antipode the haversine loses half of its digits: 1e-8 of the Earth's size is 0.1 km.
    assert float(distance_km(*one, *other)) == pytest.approx(slow_distance_km(*one, *other), abs=0.2)
    assert one_distance_km(*one, *other) == pytest.approx(slow_distance_km(*one, *other), abs=0.2)


@given(PLACES, PLACES, PLACES)
def test_distance_is_a_metric(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> None:
    assert one_distance_km(*a, *a) == 0
    assert one_distance_km(*a, *b) == pytest.approx(one_distance_km(*b, *a))
    assert 0 <= one_distance_km(*a, *b) <= FARTHEST_KM + 1e-6
    assert one_distance_km(*a, *c) <= one_distance_km(*a, *b) + one_distance_km(*b, *c) + 1e-6


@given(PLACES, st.floats(0, 360), st.floats(0, 19_000))
def test_point_at_lies_as_far_away_as_asked(place: tuple[float, float], bearing: float, away: float) -> None:
    latitude, longitude = point_at(*place, bearing, away)
    assert -90 <= float(latitude) <= 90
    assert -180 <= float(longitude) <= 180
    assert slow_distance_km(*place, float(latitude), float(longitude)) == pytest.approx(away, abs=0.5)


def test_known_distances_on_the_map() -> None:
    assert one_distance_km(51.5, -0.13, 40.71, -74.01) == pytest.approx(5570, rel=0.01)
    assert one_distance_km(0, 179.9, 0, -179.9) == pytest.approx(22.2, rel=0.01)


def test_matrix_has_one_row_a_place_and_one_column_another() -> None:
    places, others = np.array([[0.0, 0.0], [10.0, 10.0], [5.0, 5.0]]), np.array([[0.0, 1.0], [90.0, 0.0]])
    matrix = distance_matrix_km(places, others)
    assert matrix.shape == (3, 2)
    assert matrix[1, 1] == pytest.approx(one_distance_km(10, 10, 90, 0))
