"""The Earth: one radius, one distance, one bound by the speed of light.

How it works
------------
The Earth is a sphere of the mean radius. A distance on it is an arc, and an arc follows from two chords, the
straight lines through the ground from one point of the unit sphere to the other and to the other's antipode:

    arc = 2 R atan2(near / 2, far / 2)     a quarter turn: near = far = √2, arc 10,008 km

Half of either chord follows from three angles: `rise`, half the difference of the latitudes; `mean`, half
their sum; `turn`, half the difference of the longitudes:

    near / 2 = hypot(sin rise · cos turn, cos mean · sin turn)
    far / 2  = hypot(cos rise · cos turn, sin mean · sin turn)

The chords are not subtracted from anything, so no digits are lost, neither between neighbours nor between
opposite ends of the Earth. (The haversine is near² / 4. The arc of that alone is wrong by up to 20 cm near
the antipode, enough to break the triangle inequality.) `distances_km` is this formula for columns of degrees.
`km_between` is the same for one pair in plain Python, in an eighth of the time that numpy needs to handle one
number, for callers that need one distance at a time.

Those who hold vectors have the near chord already and take the arc from it alone, arc = 2 R asin(near / 2):
`arc_km` for search trees, `vector_distances_km` for places kept as vectors. That is exact to millimetres on
the same continent and to 0.2 km near the antipode. tests/laws/test_geodesy_laws.py compares all of them with
yet another formula.

Light covers 300 km per millisecond in a vacuum, two thirds of that in fibre. A round trip pays the way
twice, hence the two speeds here are per millisecond of *round trip*. Which of the two to use depends on what
is said:

- `VACUUM_KM_PER_MS` proves: a round trip that is shorter is false, whatever the path is made of.
- `FIBRE_KM_PER_MS` estimates: long paths on the ground are fibre, so nothing real is quicker in practice.

Callers add their own allowance for places that are not known exactly.

A sphere is wrong by at most 0.6 % against the ellipsoid. Places known to within kilometres, and paths that
take detours of a third, do not need more.
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from ipmicra.model.types import Floats

EARTH_RADIUS_KM = 6371.0088
"""Mean radius (IUGG)."""
FARTHEST_KM = math.pi * EARTH_RADIUS_KM
"""Half the way round: nothing on the ground is farther."""
VACUUM_KM_PER_MS = 299.792458 / 2
"""Farthest that a round trip of one millisecond can have gone, one way."""
FIBRE_KM_PER_MS = VACUUM_KM_PER_MS * 2 / 3
"""The same in fibre, where light has two thirds of its speed."""

_RING_TURNS = np.arange(6) * np.pi / 3
_RING_ANGLES = np.concatenate([[0.0], _RING_TURNS, _RING_TURNS + 0.5])
_RING_REACH = np.concatenate([[0.0], np.full(6, 0.5), np.full(6, 1.0)])


class Placed(Protocol):
    """Anything with a place: a location, a city, a crawler's circle."""

    @property
    def latitude(self) -> float:
        """Degrees north."""

    @property
    def longitude(self) -> float:
        """Degrees east."""


def km_between(place: Placed, other: Placed) -> float:
    """Return the great-circle distance between two places."""
    rise = math.radians(other.latitude - place.latitude) / 2
    mean = math.radians(other.latitude + place.latitude) / 2
    turn = math.radians(other.longitude - place.longitude) / 2
    along, across = math.cos(turn), math.sin(turn)
    near = math.hypot(math.sin(rise) * along, math.cos(mean) * across)
    far = math.hypot(math.cos(rise) * along, math.sin(mean) * across)
    return 2 * EARTH_RADIUS_KM * math.atan2(near, far)


def distances_km(
    latitude: ArrayLike, longitude: ArrayLike, other_latitude: ArrayLike, other_longitude: ArrayLike
) -> Floats:
    """Return great-circle distances between columns of degrees, which broadcast as numpy's arrays do."""
    south, west, north, east = (
        np.asarray(degrees, np.float64) for degrees in (latitude, longitude, other_latitude, other_longitude)
    )
    rise, mean, turn = (np.radians(angle) / 2 for angle in (north - south, north + south, east - west))
    along, across = np.cos(turn), np.sin(turn)
    near = np.hypot(np.sin(rise) * along, np.cos(mean) * across)
    far = np.hypot(np.cos(rise) * along, np.sin(mean) * across)
    distances: Floats = 2 * EARTH_RADIUS_KM * np.arctan2(near, far)
    return distances


def vector_distances_km(points: Floats, others: Floats) -> Floats:
    """Return great-circle distances between two sets of unit vectors, (n, m)."""
    return arc_km(np.sqrt(((points[:, None, :] - others[None, :, :]) ** 2).sum(-1)))


def arc_km(chord: Floats) -> Floats:
    """Return distances on the ground for straight lines between points of the unit sphere."""
    arc: Floats = 2 * EARTH_RADIUS_KM * np.arcsin(np.minimum(1.0, chord / 2))
    return arc


def unit_vectors(latitude: ArrayLike, longitude: ArrayLike) -> Floats:
    """Return points on the unit sphere, (…, 3), for degrees north and east."""
    north, east = np.radians(latitude), np.radians(longitude)
    return np.stack([np.cos(north) * np.cos(east), np.cos(north) * np.sin(east), np.sin(north)], axis=-1)


def point_of(place: Placed | None) -> Floats:
    """Return the point of a place on the unit sphere; NaN if it is unknown."""
    return np.full(3, np.nan) if place is None else unit_vectors(place.latitude, place.longitude)


def degrees_of(vectors: Floats) -> tuple[Floats, Floats]:
    """Return latitudes and longitudes of vectors of any length, (…, 3): the inverse of `unit_vectors`."""
    x, y, z = vectors[..., 0], vectors[..., 1], vectors[..., 2]
    return np.degrees(np.arctan2(z, np.hypot(x, y))), np.degrees(np.arctan2(y, x))


def point_at(
    latitude: float, longitude: float, bearing_deg: ArrayLike, away_km: ArrayLike
) -> tuple[Floats, Floats]:
    """Return the points reached from one point by going a distance in a direction (0 is north)."""
    start, turn = math.radians(latitude), np.radians(np.asarray(bearing_deg, np.float64))
    angle = np.asarray(away_km, np.float64) / EARTH_RADIUS_KM
    reached = np.arcsin(
        np.clip(math.sin(start) * np.cos(angle) + math.cos(start) * np.sin(angle) * np.cos(turn), -1, 1)
    )
    east = np.arctan2(
        np.sin(turn) * np.sin(angle) * math.cos(start), np.cos(angle) - math.sin(start) * np.sin(reached)
    )
    return np.degrees(reached), (longitude + np.degrees(east) + 540.0) % 360.0 - 180.0


def ring_around(point: Floats, radius_km: float) -> Floats:
    """Return unit vectors that stand for a place known to within a radius (in four cases of five): (13, 3).

    The point itself, six at half the radius, six at the radius between those: their mean square distance is
    that of a normal distribution with the same 80 % radius.
    """
    east = np.cross([0.0, 0.0, 1.0], point)
    length = np.linalg.norm(east)
    # At the poles every direction is south; any one will do.
    east = np.array([0.0, 1.0, 0.0]) if length < 1e-9 else east / length  # noqa: PLR2004
    north = np.cross(point, east)
    offsets = np.cos(_RING_ANGLES)[:, None] * east + np.sin(_RING_ANGLES)[:, None] * north
    reach = (_RING_REACH * radius_km / EARTH_RADIUS_KM)[:, None]
    around: Floats = np.cos(reach) * point + np.sin(reach) * offsets
    return around
