"""What is believed of one site in the course of an attempt, as its samples come in.

A belief is a Gaussian over the logarithms of the round trips from all crawlers (`Normal`). Each sample
answers three questions:

- What does it say of the other crawlers? The Gaussian is conditioned on it.
- Is one more probe worth its price? `Savings` gives the expected saving of a probe by each crawler.
- Is the place wrong? `PlacementCheck` compares the density of the samples under the prior of the place with
  that under the location-free prior.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import erf, lgamma, log, log1p, pi, sqrt
from statistics import NormalDist
from typing import Protocol

import numpy as np

from ipmicra.delegate.config import PredictConfig
from ipmicra.model.types import Floats

LEAST_VARIANCE = 1e-12
DRAWS = 256
"""Draws by which the expected regret is taken."""
RIVALS = 7
"""Crawlers that are compared with the holder: those with the highest expected savings."""
NARROWEST = 0.5
"""No expectation without a place is narrower than this, in logarithms: a bound, to save its making."""


class Bounds(Protocol):
    """What light says of a site's round trips, one number per crawler."""

    @property
    def floors(self) -> Floats:
        """Milliseconds taken off before the logarithm."""

    @property
    def least(self) -> Floats:
        """Shortest round trips that light allows, in ms."""


@dataclass(slots=True)
class Normal:
    """What is believed of the vector of log(round trip - floor + offset), one number a crawler."""

    mean: Floats
    covariance: Floats
    surprise: float = 0.0
    """Sum of squared, standardised deviations of what was seen."""
    seen: int = 0

    def condition(self, crawler: int, value: float) -> None:
        """Take note of one crawler's value; its variance becomes nil."""
        mean, covariance = self.mean, self.covariance
        variance = covariance[crawler, crawler]
        deviation = value - mean[crawler]
        gain = covariance[crawler] / variance
        self.surprise += float(deviation * deviation / variance)
        self.seen += 1
        self.mean = mean + gain * deviation
        self.covariance = covariance - gain[:, None] * covariance[crawler]
        self.covariance[crawler, :] = 0.0
        self.covariance[:, crawler] = 0.0
        self.mean[crawler] = value

    def widening(self, tail: float) -> float:
        """Return the variance's factor after surprises: above 1 if samples strayed more than expected."""
        return max(1.0, (tail + self.surprise) / (tail + self.seen))


@cache
def quantile_points(count: int) -> Floats:
    """Return the midpoints of equally likely slices of the standard normal distribution."""
    normal = NormalDist()
    return np.array([normal.inv_cdf((i + 0.5) / count) for i in range(count)])


@dataclass(frozen=True, slots=True)
class Savings:
    """How savings are valued; see `PredictConfig`."""

    offset_ms: float
    fixed_ms: float
    quantiles: int

    def over_known(
        self, belief: Normal, floors: Floats, least: Floats, best_ms: float, widening: float
    ) -> Floats:
        """Return what a probe by each crawler may save beside a measured round trip, in ms.

        `floors` were taken off before the logarithm; `least` is what light allows.
        """
        deviation = np.sqrt(np.maximum(belief.covariance.diagonal() * widening, LEAST_VARIANCE))
        values = belief.mean[:, None] + deviation[:, None] * quantile_points(self.quantiles)
        round_trips = np.maximum(floors[:, None] + np.exp(values) - self.offset_ms, least[:, None])
        ratio = (best_ms + self.fixed_ms) / (np.maximum(round_trips, 0.0) + self.fixed_ms)
        saved: Floats = np.log(np.maximum(ratio, 1.0)).sum(axis=1) * (self.fixed_ms / self.quantiles)
        return saved

    def over_expected(self, belief: Normal, floors: Floats, holder: int) -> Floats:
        """Return what each crawler may save beside the one that is expected to be the nearest, in ms."""
        spread_ms = np.exp(belief.mean)
        shifted = floors + spread_ms
        level, share = np.log(shifted), spread_ms / shifted
        variance = belief.covariance.diagonal() * share**2
        together = belief.covariance[holder] * share * share[holder]
        deviation = np.sqrt(np.maximum(variance[holder] + variance - 2 * together, LEAST_VARIANCE))
        logarithms = deviation * _loss((level[holder] - level) / deviation)
        expected_ms = shifted[holder] - self.offset_ms
        saved: Floats = logarithms * shifted[holder] / (expected_ms + self.fixed_ms) * self.fixed_ms
        return saved

    def regret(self, belief: Normal, outlook: Bounds, holder: int, savings: Floats) -> float:
        """Return what a crawler is expected to lose against the nearest of all, without a sample, in ms.

        `savings` has what each of the others may save beside it, nil for those that do not count. Several
        may: their largest is a lower bound, their sum an upper one, which decides most cases.
        """
        rivals = np.argsort(-savings)[:RIVALS]
        some = np.concatenate(([holder], rivals[(savings[rivals] > 0) & (rivals != holder)]))
        covariance = belief.covariance[some[:, None], some] + LEAST_VARIANCE * np.eye(len(some))
        values = belief.mean[some] + normal_draws(len(some)) @ np.linalg.cholesky(covariance).T
        trips = np.maximum(outlook.floors[some] + np.exp(values) - self.offset_ms, outlook.least[some])
        shifted = np.maximum(trips, 0.0) + self.fixed_ms
        return float(np.log(shifted[:, 0] / shifted.min(axis=1)).mean()) * self.fixed_ms


@cache
def normal_draws(count: int) -> Floats:
    """Return draws of independent standard normal numbers, always the same."""
    return np.random.default_rng(0).standard_normal((DRAWS, count))


def _loss(margin: Floats) -> Floats:
    """Return E[max(margin + z, 0)] for a standard normal z."""
    density = np.exp(-0.5 * margin * margin) / sqrt(2 * np.pi)
    below = np.array([0.5 + 0.5 * erf(x / sqrt(2)) for x in margin.tolist()])
    loss: Floats = margin * below + density
    return loss


class PlacementCheck:
    """Counts wrong places, and weighs one site's samples.

    Densities are those of a Student distribution, so that one detour does not refute a place.
    """

    def __init__(self, config: PredictConfig) -> None:
        """Begin with the share that is expected before any sample."""
        self._config = config
        self._tail = config.tail
        self._constant = lgamma((self._tail + 1) / 2) - lgamma(self._tail / 2) - 0.5 * log(self._tail * pi)
        self._sites = 0
        self._wrong = 0

    def __repr__(self) -> str:
        """Say what was counted."""
        return f"<PlacementCheck: {self._wrong} of {self._sites} places wrong>"

    def learn(self, *, is_wrong: bool) -> None:
        """Count a site that had a place and was sampled."""
        self._sites += 1
        self._wrong += is_wrong

    @property
    def share(self) -> float:
        """Share of places that are wrong, by what was expected and seen."""
        trust = self._config.places_trusted
        return (trust * self._config.misplaced + self._wrong) / (trust + self._sites)

    @property
    def seen_share(self) -> float:
        """The same by what was seen alone: nil until the first wrong place."""
        return self._wrong / (self._config.places_trusted + self._sites)

    def density(self, belief: Normal, crawler: int, value: float) -> float:
        """Return the logarithm of the density of a round trip whose shifted logarithm is `value`."""
        variance = float(belief.covariance[crawler, crawler])
        deviation = value - float(belief.mean[crawler])
        surprise = log1p(deviation * deviation / (variance * self._tail))
        return self._constant - 0.5 * log(variance) - 0.5 * (self._tail + 1) * surprise - value

    def most(self, values: list[float]) -> float:
        """Return the highest density that no place could give to such values."""
        return len(values) * (self._constant - log(NARROWEST)) - sum(values)

    def is_wrong(self, placed: float, unplaced: float) -> bool:
        """Return whether a wrong place is likelier than a right one, by the logarithms of both densities."""
        share = self.share
        return unplaced + log(share) > placed + log(1.0 - share) if share < 1.0 else True
