"""Nearness against load: what each evenness costs in round trips, load and pages per hour.

Theory of operation
-------------------
Two assignments are the ends. By *nearest* every site has its nearest crawler, and crawlers in dense regions
get several times their share. By *equal load* no crawler is above its share, and many sites are fetched from
far away. In between, `AuctionConfig.evenness` limits every crawler to 1 ÷ evenness of its share, and the
auction minimises round trips under that limit; so each point of the curve is the nearest assignment that is
at least as even, and the mean round trip falls as the limit rises. Goodput depends on both: a far site takes
longer, and a list is done when its last crawler is.

Every point is assigned anew: what sites have now would hide what a choice costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ipmicra.assign.balance.auction.assigner import assign_sites
from ipmicra.assign.balance.config import AuctionConfig, PageCost, TradeConfig
from ipmicra.assign.balance.demand import Demand
from ipmicra.assign.balance.goodput import download_s, rate_to_the_end
from ipmicra.model.types import Floats, Rows

NEAREST, EQUAL = 0.0, 1.0
"""The ends of the curve."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TradePoint:
    """What one choice between nearness and load means; None where nothing is assigned."""

    evenness: float | None
    """0 is the nearest crawler, 1 equal load; None for an assignment that was made in another way."""
    mean_rtt_ms: float | None
    """Expected round trip, mean over the sites."""
    busiest: float | None
    """Load of the busiest crawler in relation to its fair share."""
    pages_per_hour: float | None
    """Of the fleet until its last crawler is done, by the equation of download time."""

    def __str__(self) -> str:
        """Write the figures in a line."""
        parts = []
        if self.mean_rtt_ms is not None:
            parts.append(f"mean round trip {self.mean_rtt_ms:.0f} ms")
        if self.busiest is not None:
            parts.append(f"busiest crawler {self.busiest:.2f} of its share")
        if self.pages_per_hour is not None:
            parts.append(f"{float(f'{self.pages_per_hour:.3g}'):,.0f} pages/h")
        return ", ".join(parts)

    def as_record(self) -> dict[str, Any]:
        """Return the figures by name, numbers short enough to read."""
        return {name: None if value is None else round(value, 4) for name, value in asdict(self).items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating:
    """By what assignments are rated."""

    rtt_ms: NDArray[np.floating] | None = None
    """True round trips, sites × crawlers; those of the demand if unknown. Not-a-number does not count."""
    connections: Floats | None = None
    """Downloads of each crawler at a time; the usual number if unknown."""
    cost: PageCost = field(default_factory=PageCost)

    def point(self, demand: Demand, crawler: Rows, evenness: float | None) -> TradePoint:
        """Rate the crawlers that sites have; those without one, or without a round trip, do not count."""
        lines = self.connections
        if lines is None:
            lines = np.full(len(demand.units), float(self.cost.connections))
        rows = np.flatnonzero(crawler >= 0)
        table = demand.cost_ms if self.rtt_ms is None else self.rtt_ms
        rtt_ms = table[rows, crawler[rows]].astype(np.float64)
        is_known = np.isfinite(rtt_ms)
        known, rtt_ms = rows[is_known], rtt_ms[is_known]
        load, rate = demand.load[known], None
        if load.any():
            taken_s = download_s(load, rtt_ms, self.cost)
            rate = rate_to_the_end(load, taken_s, crawler[known], lines)
        return TradePoint(
            evenness=evenness,
            mean_rtt_ms=float(rtt_ms.mean()) if len(rtt_ms) else None,
            busiest=_busiest(demand, rows, crawler[rows]),
            pages_per_hour=rate,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Trade:
    """An assignment, and the points that could have been."""

    sites: int
    chosen: TradePoint
    """As the sites are assigned."""
    points: tuple[TradePoint, ...]
    """Assigned anew, from equal load to the nearest crawlers; at least these two."""


def trade_beside(
    demand: Demand, chosen: TradePoint, rating: Rating, config: AuctionConfig, *, is_fresh: bool
) -> Trade | None:
    """Lay the curve beside what was chosen; None if there is nothing to choose.

    If the choice was `fresh`, made without regard to earlier assignments, it is a point of the curve itself.
    """
    if np.count_nonzero(demand.units > 0) < 2 or chosen.mean_rtt_ms is None:  # noqa: PLR2004 - a choice
        return None
    show = TradeConfig()
    levels = show.levels if len(demand.load) <= show.most_sites else (EQUAL, NEAREST)
    others = [level for level in levels if not (is_fresh and level == chosen.evenness)]
    found = {point.evenness: point for point in trade_curve(demand, others, rating, config)}
    points = tuple(found.get(level, chosen) for level in levels)
    return Trade(sites=len(demand.load), chosen=chosen, points=points)


def trade_curve(
    demand: Demand,
    levels: Sequence[float] = TradeConfig().levels,
    rating: Rating | None = None,
    config: AuctionConfig | None = None,
) -> list[TradePoint]:
    """Assign the sites anew by each evenness, and rate the results."""
    rating, config = rating or Rating(), config or AuctionConfig()
    fresh = replace(demand, previous=None)
    found = (assign_sites(fresh, replace(config, evenness=level)).crawler for level in levels)
    return [rating.point(demand, crawler, level) for crawler, level in zip(found, levels, strict=True)]


def _busiest(demand: Demand, rows: Rows, crawler: Rows) -> float | None:
    """Return the load of the busiest crawler, with what it holds besides, in relation to its share."""
    used = np.bincount(crawler, demand.load[rows], len(demand.units)).astype(np.float64)
    used += 0.0 if demand.held is None else demand.held
    there = demand.units > 0
    if not used[there].any():
        return None
    share = used.sum() * demand.units[there] / demand.units[there].sum()
    return float((used[there] / share).max())
