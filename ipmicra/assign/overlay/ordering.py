"""The order in which the crawlers of a fleet join: tried, and chosen by how near sites end up.

A zone is cut between the newcomer and whoever owns the place where it stands, and a cut is for ever. So zones
depend on the order of joining, and with few crawlers very much: docs/overlay.md has figures. Where a whole
fleet joins at once nobody has come first, and the order is ours to choose. Each order is tried on the sites
that are known and on a few imagined ones around each crawler, which count less and speak for sites to come.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ipmicra.assign.overlay.config import ZoneConfig
from ipmicra.assign.overlay.overlay import Overlay
from ipmicra.model.types import Floats, Rows


def chosen_order(
    crawlers: Floats,
    sites: tuple[Floats, Floats],
    draw: Callable[[Rows], Overlay],
    config: ZoneConfig,
) -> tuple[Overlay, Rows]:
    """Return the zones by the best order of joining that was tried, and that order.

    `sites` are coordinates and expected round trips to the crawlers (sites × crawlers; NaN if unknown),
    `draw` lets crawlers join in an order.
    """
    rng = np.random.default_rng(config.seed)
    imagined = _imagined(crawlers, config.imagined, rng)
    points = np.concatenate([sites[0], imagined])
    away = np.concatenate([sites[1], _distances(imagined, crawlers)])
    excess = np.where(np.isfinite(away), away - np.nanmin(away, axis=1, keepdims=True), 0.0)
    weights = np.concatenate([np.ones(len(sites[0])), np.full(len(imagined), config.imagined_weight)])
    first = np.arange(len(crawlers))
    best, order = draw(first), first
    is_quick = best.code is not None
    least = np.inf
    for number in range(config.orders if is_quick else config.slow_orders):
        now = first if number == 0 else rng.permutation(len(crawlers))
        zones = best if number == 0 else draw(now)
        owners = now[zones.owners(points)]
        cost = float((weights * excess[np.arange(len(points)), owners]).sum())
        if cost < least:
            best, order, least = zones, now, cost
    return best, order


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
