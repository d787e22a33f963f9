"""Distances and centres on the Earth.

`distance_km` has the signature of the one in `ipmicra.locate.geodesy`, which is to take its place.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

EARTH_RADIUS_KM = 6371.0088
"""Mean radius of the Earth (IUGG)."""


def distance_km(
    latitude: ArrayLike, longitude: ArrayLike, other_latitude: ArrayLike, other_longitude: ArrayLike
) -> NDArray[np.float64]:
    """Give great-circle distances by the haversine formula; arrays broadcast as numpy's do."""
    phi, lam, phi2, lam2 = (
        np.radians(np.asarray(value, np.float64))
        for value in (latitude, longitude, other_latitude, other_longitude)
    )
    across = np.sin((phi2 - phi) / 2) ** 2 + np.cos(phi) * np.cos(phi2) * np.sin((lam2 - lam) / 2) ** 2
    distance: NDArray[np.float64] = 2 * EARTH_RADIUS_KM * np.arcsin(np.sqrt(np.clip(across, 0, 1)))
    return distance


def unit_vectors(latitude: NDArray[np.float64], longitude: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give places as points on a sphere of radius one, a row each."""
    phi, lam = np.radians(latitude), np.radians(longitude)
    return np.column_stack((np.cos(phi) * np.cos(lam), np.cos(phi) * np.sin(lam), np.sin(phi)))


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
