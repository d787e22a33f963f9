"""Centres of places on the Earth, and distances by way of straight lines."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ipmicra.delegate.geometry import unit_vectors
from ipmicra.locate.geodesy import EARTH_RADIUS_KM


def chord_to_km(chord: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turn straight lines between unit vectors into distances on the ground."""
    distance: NDArray[np.float64] = 2 * EARTH_RADIUS_KM * np.arcsin(np.clip(chord / 2, 0, 1))
    return distance


def centres(
    group: NDArray[np.int64] | NDArray[np.int32],
    count: int,
    places: tuple[NDArray[np.float64], NDArray[np.float64]],
    weights: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give latitude and longitude of the weighted centre of each group, not a number for an empty one.

    Members without a place do not count. Groups whose weights are all zero, or whose members stand
    opposite each other, have no centre either.
    """
    is_placed = np.isfinite(places[0]) & (weights > 0)
    vectors = unit_vectors(places[0][is_placed], places[1][is_placed])
    x, y, z = (
        np.bincount(group[is_placed], vectors[:, axis] * weights[is_placed], count) for axis in range(3)
    )
    length = np.sqrt(x**2 + y**2 + z**2)
    with np.errstate(invalid="ignore", divide="ignore"):
        latitude = np.degrees(np.arcsin(np.clip(z / length, -1, 1)))
    longitude = np.where(length > 0, np.degrees(np.arctan2(y, x)), np.nan)
    return latitude, longitude
