"""Moving as little as possible: what newcomers draw to themselves, and what full crawlers give away."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ipmicra.assign.balance.config import AuctionConfig
from ipmicra.model.types import NOBODY, Floats, Rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """What crawlers should have, and may have; 0 for one that does not take part."""

    fair: Floats
    """Each crawler's fair share of the load; moves are limited in these."""
    limit: Floats
    """Load that a crawler may have at most: the share by equal load, else more."""


def settled(
    cost: NDArray[np.float32], load: Floats, shares: Shares, previous: Rows, config: AuctionConfig
) -> Rows:
    """Decide which sites stay where they were: the crawler of each, -1 for those that need a new one.

    First, sites whose crawler is gone lose it; then newcomers draw the sites that gain most; then crawlers
    far above their limit give some away. Besides the first, load of `config.most_moves` mean shares moves at
    most.
    """
    share, limit = shares.fair, shares.limit
    can_stay = (previous >= 0) & np.isfinite(cost[np.arange(len(cost)), np.maximum(previous, 0)])
    kept = np.where(can_stay, previous, NOBODY)
    there = int((share > 0).sum())
    if not there or not can_stay.any():
        return kept
    gone = float(load[(previous >= 0) & ~can_stay].sum())
    budget = config.most_moves * float(share.sum()) / there - gone
    settled_rows = drawn_away(cost, load, limit, kept, config, budget)
    drawn = float(load[settled_rows != kept].sum())
    return shed(cost, load, limit * (1 + config.tolerance), settled_rows, budget - drawn)


def drawn_away(
    cost: NDArray[np.float32],
    load: Floats,
    limit: Floats,
    kept: Rows,
    config: AuctionConfig,
    budget: float,
) -> Rows:
    """Let crawlers without any site draw those to themselves that gain most, up to their limit."""
    held = np.bincount(kept[kept >= 0], minlength=len(limit))
    newcomers = np.flatnonzero((held == 0) & (limit > 0))
    result = kept
    for crawler in newcomers.tolist():
        result = _draw(cost, load, result, crawler, min(limit[crawler], budget / len(newcomers)), config)
    return result


def _draw(
    cost: NDArray[np.float32], load: Floats, kept: Rows, crawler: int, room: float, config: AuctionConfig
) -> Rows:
    """Let one newcomer draw sites until its room is full."""
    rows = np.flatnonzero(kept >= 0)
    now = cost[rows, kept[rows]]
    gain = now - cost[rows, crawler]
    is_worth = gain > config.gain * now
    order = rows[is_worth][np.argsort(-gain[is_worth], kind="stable")]
    result = kept.copy()
    result[order[np.cumsum(load[order]) <= room]] = crawler
    return result


def shed(cost: NDArray[np.float32], load: Floats, room: Floats, kept: Rows, budget: float) -> Rows:
    """Let crawlers over their room give sites away, those first that lose least; the fullest begins."""
    used = np.bincount(kept[kept >= 0], load[kept >= 0], len(room))
    over = np.flatnonzero(used > room)
    result = kept.copy()
    has_room = used < room
    for crawler in over[np.argsort(room[over] - used[over], kind="stable")].tolist():
        own = np.flatnonzero(kept == crawler)
        others = np.where(has_room, cost[own], np.inf).min(axis=1)
        order = own[np.argsort(others - cost[own, crawler], kind="stable")]
        before = np.cumsum(load[order]) - load[order]
        goes = order[(before < used[crawler] - room[crawler]) & (before + load[order] <= budget)]
        result[goes] = NOBODY
        budget -= float(load[goes].sum())
    return result
