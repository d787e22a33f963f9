"""Great-circle distance by another known formula: the angle between two vectors from the Earth's centre."""

from __future__ import annotations

import math

EARTH_RADIUS_KM = 6371.0088


def vector(latitude: float, longitude: float) -> tuple[float, float, float]:
    phi, theta = math.radians(latitude), math.radians(longitude)
    return math.cos(phi) * math.cos(theta), math.cos(phi) * math.sin(theta), math.sin(phi)


def slow_distance_km(
    latitude: float, longitude: float, other_latitude: float, other_longitude: float
) -> float:
    """Take the angle from cross and dot product, which is exact for near and far points alike."""
    a, b = vector(latitude, longitude), vector(other_latitude, other_longitude)
    cross = (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])
    dot = sum(x * y for x, y in zip(a, b, strict=True))
    return EARTH_RADIUS_KM * math.atan2(math.hypot(*cross), dot)
