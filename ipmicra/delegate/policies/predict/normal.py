"""Gaussians over the logarithms of round trips: conditioning, and what one more probe may save."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import erf, sqrt
from statistics import NormalDist

import numpy as np

from ipmicra.model.types import Floats

LEAST_VARIANCE = 1e-12


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


def _loss(margin: Floats) -> Floats:
    """Return E[max(margin + z, 0)] for a standard normal z."""
    density = np.exp(-0.5 * margin * margin) / sqrt(2 * np.pi)
    below = np.array([0.5 + 0.5 * erf(x / sqrt(2)) for x in margin.tolist()])
    loss: Floats = margin * below + density
    return loss
