"""What round trips allow: bounds on distance, votes they rule out, proofs of anycast, a location."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ipmicra.locate.config import PhysicsConfig
from ipmicra.locate.geodesy import FARTHEST_KM, distance_km, one_distance_km, point_at
from ipmicra.model.location import Heuristic, Hint, Location
from ipmicra.model.sample import Sample

_GOLDEN_ANGLE_DEG = 137.50776405003785
_INSIDE = 0.8
"""Share of the intersection within the radius."""
_FEW_POINTS = 64
"""Points inside an intersection below which it is looked at more closely."""
_LEAST_RADIUS_KM = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A site lies within this distance of a crawler."""

    crawler: str
    latitude: float
    longitude: float
    rtt_ms: float
    farthest_km: float
    """The crawler's own radius included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Struck:
    """A vote that cannot be true."""

    hint: Hint
    crawler: str
    reason: str


def bounds_of(
    samples: Iterable[Sample], places: Mapping[str, Location], config: PhysicsConfig
) -> list[Bound]:
    """Turn samples into bounds, one a crawler; lost ones and crawlers without a place say nothing."""
    shortest: dict[str, float] = {}
    for sample in samples:
        if sample.rtt_ms is not None and sample.rtt_ms > 0 and sample.crawler in places:
            shortest[sample.crawler] = min(sample.rtt_ms, shortest.get(sample.crawler, sample.rtt_ms))
    return [
        Bound(
            crawler=crawler,
            latitude=places[crawler].latitude,
            longitude=places[crawler].longitude,
            rtt_ms=rtt_ms,
            farthest_km=min(FARTHEST_KM, rtt_ms * config.bound_km_per_ms + places[crawler].radius_km),
        )
        for crawler, rtt_ms in shortest.items()
    ]


def strike(
    hints: Sequence[Hint], bounds: Sequence[Bound], config: PhysicsConfig
) -> tuple[list[Hint], list[Struck]]:
    """Part votes into those that round trips allow and those they rule out.

    A vote is ruled out when no point within its radius, and the slack, can be reached in time.
    """
    kept, struck = [], []
    for hint in hints:
        against = next((found for bound in bounds if (found := _ruled_out(hint, bound, config))), None)
        if against:
            struck.append(against)
        else:
            kept.append(hint)
    return kept, struck


def _ruled_out(hint: Hint, bound: Bound, config: PhysicsConfig) -> Struck | None:
    place = hint.location
    away = one_distance_km(place.latitude, place.longitude, bound.latitude, bound.longitude)
    if away - place.radius_km <= bound.farthest_km + config.slack_km:
        return None
    allowed = f"which allows {bound.farthest_km:.0f} km"
    reason = f"{bound.crawler} is {away:.0f} km away and saw {bound.rtt_ms:g} ms, {allowed}"
    return Struck(hint=hint, crawler=bound.crawler, reason=reason)


def prove_anycast(bounds: Sequence[Bound], config: PhysicsConfig) -> tuple[Bound, Bound] | None:
    """Give two bounds that no single place can meet; None if there are none."""
    if len(bounds) < 2:  # noqa: PLR2004 - a pair
        return None
    latitude, longitude, farthest = _columns(bounds)
    apart = distance_km(latitude[:, None], longitude[:, None], latitude[None, :], longitude[None, :])
    gap = apart - farthest[:, None] - farthest[None, :] - config.slack_km
    one, other = np.unravel_index(int(np.argmax(gap)), gap.shape)
    return (bounds[int(one)], bounds[int(other)]) if gap[one, other] > 0 else None


def latency_hint(bounds: Sequence[Bound], config: PhysicsConfig) -> Hint | None:
    """Locate by the intersection of all bounds; None if there are too few, or they leave half the world."""
    if len(bounds) < config.fewest_samples:
        return None
    tightest = min(bounds, key=lambda bound: bound.farthest_km)
    points = _disc(tightest.latitude, tightest.longitude, tightest.farthest_km, config.grid_points)
    inside = _allowed(points, bounds, 0.0)
    if len(inside) == 0:
        inside = _allowed(points, bounds, config.slack_km)
    if len(inside) == 0:
        return None
    latitude, longitude = _middle(inside)
    reach = float(distance_km(latitude, longitude, inside[:, 0], inside[:, 1]).max())
    if len(inside) < _FEW_POINTS:
        spacing = tightest.farthest_km * 2 / np.sqrt(config.grid_points)
        closer = _allowed(_disc(latitude, longitude, reach + spacing, config.grid_points), bounds, 0.0)
        if len(closer):
            inside = closer
            latitude, longitude = _middle(inside)
    radius = float(np.quantile(distance_km(latitude, longitude, inside[:, 0], inside[:, 1]), _INSIDE))
    if radius > config.widest_km:
        return None
    return Hint(
        heuristic=Heuristic.LATENCY,
        location=Location(
            latitude=round(latitude, 4),
            longitude=round(longitude, 4),
            radius_km=round(max(radius, _LEAST_RADIUS_KM), 1),
        ),
        evidence=f"{len(bounds)} round trips, the shortest {tightest.rtt_ms:g} ms from {tightest.crawler}",
    )


def _columns(bounds: Sequence[Bound]) -> NDArray[np.float64]:
    return np.array([(bound.latitude, bound.longitude, bound.farthest_km) for bound in bounds]).T


def _disc(latitude: float, longitude: float, radius_km: float, count: int) -> NDArray[np.float64]:
    """Spread points evenly over a disc, as seeds in a sunflower."""
    order = np.arange(count) + 0.5
    return np.stack(
        point_at(latitude, longitude, order * _GOLDEN_ANGLE_DEG, radius_km * np.sqrt(order / count)), axis=1
    )


def _allowed(points: NDArray[np.float64], bounds: Sequence[Bound], slack_km: float) -> NDArray[np.float64]:
    latitude, longitude, farthest = _columns(bounds)
    away = distance_km(points[:, :1], points[:, 1:], latitude[None, :], longitude[None, :])
    is_allowed = (away <= farthest[None, :] + slack_km).all(axis=1)
    allowed: NDArray[np.float64] = points[is_allowed]
    return allowed


def _middle(points: NDArray[np.float64]) -> tuple[float, float]:
    """Give the centre of points on the sphere."""
    phi, theta = np.radians(points[:, 0]), np.radians(points[:, 1])
    x, y, z = (
        float(np.mean(axis))
        for axis in (np.cos(phi) * np.cos(theta), np.cos(phi) * np.sin(theta), np.sin(phi))
    )
    return float(np.degrees(np.arctan2(z, np.hypot(x, y)))), float(np.degrees(np.arctan2(y, x)))
