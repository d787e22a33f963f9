"""Distances on the Earth and what light makes of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ipmicra.model.types import Floats

EARTH_KM = 6371.0


def unit_vectors(latitudes: Any, longitudes: Any) -> Floats:  # noqa: ANN401 - whatever numpy takes
    """Give points on the unit sphere, (…, 3), for degrees north and east."""
    north, east = np.radians(latitudes), np.radians(longitudes)
    return np.stack([np.cos(north) * np.cos(east), np.cos(north) * np.sin(east), np.sin(north)], axis=-1)


def distances_km(points: Floats, others: Floats) -> Floats:
    """Give great-circle distances between two sets of unit vectors, (n, m).

    By the chord, which keeps its digits where points are close: a quarter turn is 10,008 km.
    """
    chord = np.sqrt(np.maximum(0.0, ((points[:, None, :] - others[None, :, :]) ** 2).sum(-1)))
    apart: Floats = 2 * EARTH_KM * np.arcsin(np.minimum(1.0, chord / 2))
    return apart


def ring_around(point: Floats, radius_km: float) -> Floats:
    """Give points that stand for a place known to within a radius (four cases of five): (13, 3).

    The point itself, six at half the radius, six at the radius between those: their mean square distance is
    that of a normal distribution with the same 80 % radius.
    """
    east = np.cross([0.0, 0.0, 1.0], point)
    east = np.array([0.0, 1.0, 0.0]) if np.linalg.norm(east) < 1e-9 else east / np.linalg.norm(east)  # noqa: PLR2004
    north = np.cross(point, east)
    turns = np.arange(6) * np.pi / 3
    angles = np.concatenate([[0.0], turns, turns + 0.5])
    reach = np.concatenate([[0.0], np.full(6, 0.5), np.full(6, 1.0)]) * radius_km / EARTH_KM
    offsets = np.cos(angles)[:, None] * east + np.sin(angles)[:, None] * north
    around: Floats = np.cos(reach)[:, None] * point + np.sin(reach)[:, None] * offsets
    return around
