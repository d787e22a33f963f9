"""How a fleet that joins at once divides coordinate space: several ways are tried, the nearest one is taken.

A zone is cut between the newcomer and whoever owns the place where it stands, along an axis, and a cut is for
ever. So zones depend on the order of joining and on the directions of the axes, and with few crawlers very
much: docs/overlay.md has figures. Neither is given where a whole fleet joins at once: nobody has come first,
and coordinates are made from distances, which have no directions. So both are tried, on the sites that are
known and on a few imagined ones around each crawler, which count less and speak for sites to come.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ipmicra.assign.overlay.config import ZoneConfig
from ipmicra.assign.overlay.overlay import Overlay
from ipmicra.model.types import Floats, Rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Division:
    """Zones of a fleet."""

    zones: Overlay
    turn: Floats
    """What coordinates are multiplied by before they are looked up."""
    order: Rows
    """Crawlers in the order in which they joined."""

    def owners(self, points: Floats) -> Rows:
        """Return the crawlers, by their number in the fleet, in whose zones points lie."""
        return self.order[self.zones.owners(points @ self.turn)]


Draw = Callable[[Floats], Callable[[Rows], Overlay]]
"""Takes a turn of the axes; returns what lets crawlers join in an order."""


def plain_division(crawlers: Floats, draw: Draw) -> Division:
    """Let crawlers join in the order in which they are listed, along the axes as they are."""
    turn, order = np.eye(crawlers.shape[1]), np.arange(len(crawlers))
    return Division(zones=draw(turn)(order), turn=turn, order=order)


def best_division(crawlers: Floats, sites: tuple[Floats, Floats], draw: Draw, config: ZoneConfig) -> Division:
    """Return the best of the divisions that are tried; the plain one is the first.

    `sites` are coordinates and expected round trips to the crawlers (sites × crawlers; NaN if unknown).
    """
    rng = np.random.default_rng(config.seed)
    imagined = _imagined(crawlers, config.imagined, rng)
    points = np.concatenate([sites[0], imagined])
    away = np.concatenate([sites[1], _distances(imagined, crawlers)])
    excess = np.where(np.isfinite(away), away - np.nanmin(away, axis=1, keepdims=True), 0.0)
    weights = np.concatenate([np.ones(len(sites[0])), np.full(len(imagined), config.imagined_weight)])
    best, least = plain_division(crawlers, draw), np.inf
    is_quick = best.zones.code is not None
    for number in range(config.turns if is_quick else config.slow_turns):
        turn = best.turn if number == 0 else _turned(crawlers.shape[1], rng)
        join = draw(turn)
        for again in range(config.orders if is_quick else config.slow_orders):
            order = np.arange(len(crawlers)) if again == 0 else rng.permutation(len(crawlers))
            tried = Division(zones=join(order), turn=turn, order=order)
            cost = float((weights * excess[np.arange(len(points)), tried.owners(points)]).sum())
            if cost < least:
                best, least = tried, cost
    return best


def _turned(dimensions: int, rng: np.random.Generator) -> Floats:
    """Turn the axes at random."""
    turn: Floats = np.linalg.qr(rng.normal(size=(dimensions, dimensions)))[0]
    return turn


def _imagined(crawlers: Floats, count: int, rng: np.random.Generator) -> Floats:
    """Imagine sites around each crawler, most of them nearer to it than half-way to the next one."""
    apart = _distances(crawlers, crawlers)
    np.fill_diagonal(apart, np.inf)
    reach = np.where(np.isfinite(apart.min(axis=1)), apart.min(axis=1), 0.0) / 2
    ways = rng.normal(size=(len(crawlers), count, crawlers.shape[1]))
    ways /= np.maximum(np.linalg.norm(ways, axis=2, keepdims=True), np.finfo(np.float64).tiny)
    far = rng.exponential(1.0, (len(crawlers), count, 1)) * reach[:, None, None]
    imagined: Floats = (crawlers[:, None] + ways * far).reshape(-1, crawlers.shape[1])
    return imagined


def _distances(points: Floats, crawlers: Floats) -> Floats:
    away: Floats = np.stack([np.linalg.norm(points - one, axis=1) for one in crawlers], axis=1)
    return away
