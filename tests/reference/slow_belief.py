"""What is believed of a site, straight from the formulas: every mean is kept, every point is looked at."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from statistics import NormalDist

import numpy as np

from ipmicra.delegate.policies.predict.belief import Belief
from ipmicra.model.types import Floats

NORMAL = NormalDist()


def covariance_of(belief: Belief) -> Floats:
    """Return the whole covariance of a belief, by now."""
    return belief.block(np.arange(len(belief.variances)))


@dataclass
class SlowBelief:
    """Means (place, crawler), scores of the places, one covariance."""

    means: Floats
    floors: Floats
    least: Floats
    scores: Floats
    covariance: Floats
    offset_ms: float
    tail: float
    surprise: float = 0.0

    def condition(self, crawler: int, rtt_ms: float, noise: float) -> None:
        """Take note of a round trip."""
        variance = self.covariance[crawler, crawler] + noise
        for place in range(len(self.means)):
            value = log(max(rtt_ms - self.floors[place, crawler], 0.0) + self.offset_ms)
            deviation = value - self.means[place, crawler]
            squared = deviation**2 / variance
            self.scores[place] -= value + 0.5 * (self.tail + 1) * log(1 + squared / self.tail)
            self.means[place] += deviation * self.covariance[crawler] / variance
        self.scores -= log(sum(np.exp(self.scores)))
        self.covariance = (
            self.covariance - np.outer(self.covariance[crawler], self.covariance[crawler]) / variance
        )
        if not noise:
            self.covariance[crawler, :] = self.covariance[:, crawler] = 0.0

    def weights(self, least: float) -> Floats:
        """Return the places' weights, nil for the unlikely."""
        weights = np.exp(self.scores - self.scores.max())
        weights[weights < least] = 0.0
        found: Floats = weights / weights.sum()
        return found

    def over_known(
        self, best_ms: float, fixed_ms: float, points: Floats, widening: float, least: float
    ) -> Floats:
        """Return the mean over all places and points of what each crawler may save."""
        saved = np.zeros(len(self.covariance))
        for place, weight in enumerate(self.weights(least)):
            for crawler in range(len(saved)):
                deviation = sqrt(max(self.covariance[crawler, crawler] * widening, 1e-12))
                trips = np.exp(self.means[place, crawler] + deviation * points)
                trips = np.maximum(
                    trips + self.floors[place, crawler] - self.offset_ms, self.least[place, crawler]
                )
                ratios = np.maximum((best_ms + fixed_ms) / (trips + fixed_ms), 1.0)
                saved[crawler] += weight * fixed_ms * float(np.log(ratios).mean())
        return saved

    def over_expected(self, holder: int, fixed_ms: float, least: float) -> Floats:
        """Return what each crawler may save beside one that has no sample either."""
        saved = np.zeros(len(self.covariance))
        for place, weight in enumerate(self.weights(least)):
            trips = self.floors[place] + np.exp(self.means[place])
            shares = np.exp(self.means[place]) / trips
            own = trips[holder]
            for crawler in range(len(saved)):
                spread = self.covariance * np.outer(shares, shares)
                variance = spread[holder, holder] + spread[crawler, crawler] - 2 * spread[holder, crawler]
                deviation = sqrt(max(variance, 1e-12))
                margin = log(own / trips[crawler]) / deviation
                loss = margin * NORMAL.cdf(margin) + NORMAL.pdf(margin)
                saved[crawler] += (
                    weight * deviation * loss * own / (own - self.offset_ms + fixed_ms) * fixed_ms
                )
        return saved
