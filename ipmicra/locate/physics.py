"""What round trips say about a place: bounds, votes that they reject, proofs of anycast, a location.

How it works
------------
A round trip of `rtt_ms` from a crawler puts the site into a circle around it: light in fibre gets no farther
(`ipmicra.model.geo`; the crawler's own radius is added). Those circles (`Bound`) are used three times:

1. A vote of another heuristic is *rejected* if no point within its radius lies in every circle.
2. Two circles that do not meet *prove anycast*: the address is in more than one place, and votes on where it
   is mean little.
3. Three or more circles that do meet leave a small area: their intersection is a vote of its own. It has no
   simple outline, so points are spread over the tightest circle, as seeds in a sunflower, and those outside
   another circle are dropped. The vote is the centre of the remaining points; its radius covers four of five.
   If few points are left, the area is small beside the circle: points are spread a second time, around it.

Fibre rather than vacuum, because the bound is used to choose between votes and not to accuse a crawler; the
slack covers coordinates that are rounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ipmicra.locate.config import LatencyConfig
from ipmicra.model.geo import (
    FARTHEST_KM,
    FIBRE_KM_PER_MS,
    degrees_of,
    distances_km,
    km_between,
    point_at,
    unit_vectors,
)
from ipmicra.model.location import Heuristic, Hint, Location
from ipmicra.model.sample import Sample
from ipmicra.model.types import Floats

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
class RejectedVote:
    """A vote that cannot be true."""

    hint: Hint
    crawler: str
    reason: str


def bounds_of(samples: Iterable[Sample], places: Mapping[str, Location]) -> list[Bound]:
    """Turn samples into bounds, one per crawler; lost ones and crawlers without a place say nothing."""
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
            farthest_km=min(FARTHEST_KM, rtt_ms * FIBRE_KM_PER_MS + places[crawler].radius_km),
        )
        for crawler, rtt_ms in shortest.items()
    ]


def reject_votes(
    hints: Sequence[Hint], bounds: Sequence[Bound], config: LatencyConfig
) -> tuple[list[Hint], list[RejectedVote]]:
    """Divide votes into those that round trips allow and those they rule out.

    A vote is ruled out when no point within its radius, and the slack, can be reached in time.
    """
    kept, rejected = [], []
    for hint in hints:
        against = next((found for bound in bounds if (found := _ruled_out(hint, bound, config))), None)
        if against:
            rejected.append(against)
        else:
            kept.append(hint)
    return kept, rejected


def _ruled_out(hint: Hint, bound: Bound, config: LatencyConfig) -> RejectedVote | None:
    away = km_between(hint.location, bound)
    if away - hint.location.radius_km <= bound.farthest_km + config.slack_km:
        return None
    allowed = f"which allows {bound.farthest_km:.0f} km"
    reason = f"{bound.crawler} is {away:.0f} km away and saw {bound.rtt_ms:g} ms, {allowed}"
    return RejectedVote(hint=hint, crawler=bound.crawler, reason=reason)


def prove_anycast(bounds: Sequence[Bound], config: LatencyConfig) -> tuple[Bound, Bound] | None:
    """Return two bounds that no single place can meet; None if there are none."""
    if len(bounds) < 2:  # noqa: PLR2004 - a pair
        return None
    latitude, longitude, farthest = _columns(bounds)
    distances = distances_km(latitude[:, None], longitude[:, None], latitude[None, :], longitude[None, :])
    gap = distances - farthest[:, None] - farthest[None, :] - config.slack_km
    one, other = np.unravel_index(int(np.argmax(gap)), gap.shape)
    return (bounds[int(one)], bounds[int(other)]) if gap[one, other] > 0 else None


def latency_hint(bounds: Sequence[Bound], config: LatencyConfig) -> Hint | None:
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
    reach = float(distances_km(latitude, longitude, inside[:, 0], inside[:, 1]).max())
    if len(inside) < _FEW_POINTS:
        spacing = tightest.farthest_km * 2 / np.sqrt(config.grid_points)
        closer = _allowed(_disc(latitude, longitude, reach + spacing, config.grid_points), bounds, 0.0)
        if len(closer):
            inside = closer
            latitude, longitude = _middle(inside)
    radius = float(np.quantile(distances_km(latitude, longitude, inside[:, 0], inside[:, 1]), _INSIDE))
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


def _columns(bounds: Sequence[Bound]) -> Floats:
    return np.array([(bound.latitude, bound.longitude, bound.farthest_km) for bound in bounds]).T


def _disc(latitude: float, longitude: float, radius_km: float, count: int) -> Floats:
    """Spread points evenly over a disc, as seeds in a sunflower."""
    order = np.arange(count) + 0.5
    return np.stack(
        point_at(latitude, longitude, order * _GOLDEN_ANGLE_DEG, radius_km * np.sqrt(order / count)), axis=1
    )


def _allowed(points: Floats, bounds: Sequence[Bound], slack_km: float) -> Floats:
    latitude, longitude, farthest = _columns(bounds)
    away = distances_km(points[:, :1], points[:, 1:], latitude[None, :], longitude[None, :])
    is_allowed = (away <= farthest[None, :] + slack_km).all(axis=1)
    allowed: Floats = points[is_allowed]
    return allowed


def _middle(points: Floats) -> tuple[float, float]:
    """Return the centre of points on the sphere."""
    latitude, longitude = degrees_of(unit_vectors(points[:, 0], points[:, 1]).mean(axis=0))
    return float(latitude), float(longitude)
