"""When crawlers come and go: drawn ahead, so that all schemes live through the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ipmicra.lab.churn.config import ChurnConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """One stay of a crawler, in steps."""

    crawler: int
    start: float
    end: float
    """May lie after the end of the experiment."""
    is_announced: bool
    """Whether it leaves in order or fails; its tasks are executed again either way."""


def draw_lives(config: ChurnConfig, rng: np.random.Generator) -> list[Life]:
    """Draw all stays of all crawlers; those gone come back after a gap."""
    order = rng.permutation(config.crawlers)
    first = max(1, round(config.first_share * config.crawlers))
    waits = rng.exponential(1 / config.joins_per_step, config.crawlers - first)
    starts = np.concatenate([np.zeros(first), np.cumsum(waits)])
    lives: list[Life] = []
    for crawler, start in zip(order.tolist(), starts.tolist(), strict=True):
        lives += _stays(crawler, start, config, rng)
    return sorted(lives, key=lambda life: (life.start, life.crawler))


def _stays(crawler: int, start: float, config: ChurnConfig, rng: np.random.Generator) -> list[Life]:
    """Draw the stays of one crawler from its first start on."""
    stays = []
    while start < config.steps:
        end = start + max(1.0, rng.normal(*config.life_steps))
        stays.append(Life(crawler=crawler, start=start, end=end, is_announced=bool(rng.integers(2))))
        start = end + max(1.0, rng.normal(*config.gap_steps))
    return stays


def alive_steps(lives: list[Life], config: ChurnConfig) -> np.ndarray:
    """Count the steps during which each crawler is present."""
    total = np.zeros(config.crawlers)
    for life in lives:
        total[life.crawler] += min(life.end, config.steps) - life.start
    return total
