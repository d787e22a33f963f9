"""An upper bound: pages that could be downloaded with full knowledge and work cut at will.

The linear programme (pages of each site on each crawler; demand of each site; connection time of each
crawler) is bounded by its dual: every choice of prices gives a valid bound, so a few hundred steps downhill
are enough and a solver is not needed.
"""

from __future__ import annotations

import numpy as np

from ipmicra.lab.churn.config import ChurnConfig
from ipmicra.lab.churn.lives import Life, alive_steps
from ipmicra.lab.churn.population import ChurnWorld
from ipmicra.model.types import Floats

_ROUNDS = 400
_FIRST_STEP = 0.3
"""First step of the descent, relative to the prices."""


def bound_mbps(world: ChurnWorld, lives: list[Life], config: ChurnConfig) -> float:
    """Return the highest mean goodput, in megabits per second: demand, or what the connections can do."""
    demand: Floats = world.whole.pages.astype(np.float64) * config.submissions
    room_ms = alive_steps(lives, config) * config.step_ms * config.connections
    return config.mbps(most_pages(demand, room_ms, world.rtt_ms + config.fixed_ms))


def most_pages(demand: Floats, room_ms: Floats, page_ms: Floats) -> float:
    """Bound the pages that crawlers (rows of `page_ms`) can download in a given connection time."""
    if not len(room_ms) or not room_ms.any():
        return 0.0
    best = float(demand.sum())
    prices = np.full(len(room_ms), _uniform_price(demand, room_ms, page_ms))
    for round_ in range(_ROUNDS):
        worth = 1 - prices[:, None] * page_ms
        taker = worth.argmax(axis=0)
        gain = np.maximum(worth[taker, np.arange(len(demand))], 0)
        best = min(best, float(prices @ room_ms + demand @ gain))
        busy_ms = np.bincount(
            taker, demand * page_ms[taker, np.arange(len(demand))] * (gain > 0), len(room_ms)
        )
        slope = (room_ms - busy_ms) / np.maximum(room_ms.max(), 1.0)
        prices = np.maximum(prices - _FIRST_STEP / (1 + round_) ** 0.6 * slope / page_ms.mean(), 0)
    return best


def _uniform_price(demand: Floats, room_ms: Floats, page_ms: Floats) -> float:
    """Return the best price if all crawlers have the same: where the nearest work fills the room."""
    nearest = page_ms.min(axis=0)
    order = np.argsort(nearest)
    needed = np.cumsum((demand * nearest)[order])
    place = int(np.searchsorted(needed, room_ms.sum()))
    return 0.0 if place >= len(demand) else float(1 / nearest[order[place]])
