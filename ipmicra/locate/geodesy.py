"""Distances on the Earth, in kilometres and degrees, one or many at once."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

EARTH_RADIUS_KM = 6371.0088
"""Mean radius of the Earth (IUGG); a great circle is off by at most 0.6 % from the ellipsoid."""
FARTHEST_KM = math.pi * EARTH_RADIUS_KM
"""Half the way round: nothing on the ground is farther."""


def distance_km(
    latitude: ArrayLike, longitude: ArrayLike, other_latitude: ArrayLike, other_longitude: ArrayLike
) -> NDArray[np.float64]:
    """Give great-circle distances by the haversine formula; arrays broadcast as numpy's do."""
    latitude1, longitude1, latitude2, longitude2 = (
        np.radians(np.asarray(value, np.float64))
        for value in (latitude, longitude, other_latitude, other_longitude)
    )
    half_chord = (
        np.sin((latitude2 - latitude1) / 2) ** 2
        + np.cos(latitude1) * np.cos(latitude2) * np.sin((longitude2 - longitude1) / 2) ** 2
    )
    distance: NDArray[np.float64] = 2 * EARTH_RADIUS_KM * np.arcsin(np.sqrt(np.clip(half_chord, 0, 1)))
    return distance


def one_distance_km(
    latitude: float, longitude: float, other_latitude: float, other_longitude: float
) -> float:
    """Give one great-circle distance; the same formula without numpy's overhead."""
    phi1, phi2 = math.radians(latitude), math.radians(other_latitude)
    half_chord = (
        math.sin((phi2 - phi1) / 2) ** 2
        + math.cos(phi1) * math.cos(phi2) * math.sin(math.radians(other_longitude - longitude) / 2) ** 2
    )
    return 2 * EARTH_RADIUS_KM * math.asin(math.sqrt(min(1.0, max(0.0, half_chord))))


def distance_matrix_km(places: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give all distances between rows of (latitude, longitude): one row a place, one column another."""
    return distance_km(places[:, None, 0], places[:, None, 1], others[None, :, 0], others[None, :, 1])


def point_at(
    latitude: float, longitude: float, bearing_deg: ArrayLike, away_km: ArrayLike
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Give the points reached from one point by going some distance in some direction (0 is north)."""
    phi, turn = math.radians(latitude), np.radians(np.asarray(bearing_deg, np.float64))
    angle = np.asarray(away_km, np.float64) / EARTH_RADIUS_KM
    reached = np.arcsin(
        np.clip(math.sin(phi) * np.cos(angle) + math.cos(phi) * np.sin(angle) * np.cos(turn), -1, 1)
    )
    east = np.arctan2(
        np.sin(turn) * np.sin(angle) * math.cos(phi), np.cos(angle) - math.sin(phi) * np.sin(reached)
    )
    return np.degrees(reached), (longitude + np.degrees(east) + 540.0) % 360.0 - 180.0
