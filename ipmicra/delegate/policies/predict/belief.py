"""What is believed of one site in the course of an attempt, as its samples come in.

How it works
------------
A site is at one of several places (`Belief`): a single one if its place is known well, some around it if not,
and all places where sites were seen if its place is unknown or may be wrong. At each of them the logarithms
of the round trips from all crawlers are a Gaussian; the means differ, the covariance is the same. A sample

- weighs the places, as in finding a position by distances from known points. Densities are those of a Student
  distribution, so that one detour does not rule a place out;
- conditions the Gaussians, so it says something of the other crawlers as well.

There may be hundreds of places and few of them are likely after a sample. So a sample does not touch all
means: it is kept as what it changes at each place and for each crawler, whose product is added where a mean
is asked for (`means_at`). The loops are compiled (`ipmicra/native/delegate/belief.c`).

`Savings` gives the expected saving of a probe by each crawler and the expected regret of an answer, both as
means over the places that are left.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from math import exp, isqrt, lgamma, log, pi
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ipmicra.delegate.policies.predict.covariance import Covariance
from ipmicra.model.types import Floats
from ipmicra.native import kernels

LEAST_VARIANCE = 1e-12
DRAWS = 1024
"""Draws by which the expected regret is taken."""
POINTS = 15
"""Points at which the expected saving of a probe is taken."""
RIVALS = 7
"""Crawlers that are compared with the holder: those with the highest expected savings."""
LEAST_WEIGHT = 1e-2
"""Places this much less likely than the likeliest do not count."""
_WHOLE = np.ones(1)


@cache
def student_constant(tail: float) -> float:
    """Return the logarithm of a Student density at its middle, for a scale of 1."""
    return lgamma((tail + 1) / 2) - lgamma(tail / 2) - 0.5 * log(tail * pi)


class Likely(NamedTuple):
    """The places that count: their weights, and what is believed there, (place, crawler)."""

    weights: Floats
    means: Floats
    floors: Floats
    least: Floats


def _nothing() -> Floats:
    return np.empty((0, 0))


@dataclass(slots=True)
class Belief:
    """What is believed of log(round trip - floor + offset): (place, crawler), with the places' weights."""

    prior: Floats
    """Means before the samples."""
    floors: Floats
    """Milliseconds taken off before the logarithm."""
    least: Floats
    """Shortest round trips that light allows, in ms."""
    scores: Floats
    """Logarithms of the places' weights, which add up to 1."""
    before: Covariance
    """Between crawlers, the same at all places, before the samples."""
    offset_ms: float
    tail: float
    """Degrees of freedom of the Student distribution."""
    surprise: float = 0.0
    """Sum of squared, standardised deviations of what was seen."""
    seen: int = 0
    density: float = 0.0
    """Logarithm of the density of what was seen."""
    _deviations: Floats = field(default_factory=_nothing)
    """How far each sample was from the mean of its crawler: (sample, place)."""
    _gains: Floats = field(default_factory=_nothing)
    """What a deviation of 1 of each sample says of all crawlers: (sample, crawler)."""
    _spreads: tuple[float, ...] = ()
    """Variance of each sample, when it came."""
    variances: Floats = field(init=False)
    """What is left of the crawlers' variances; nil of those whose round trip is known."""
    _likely: Likely | None = None

    def __post_init__(self) -> None:
        """Begin with the variances before the samples."""
        self.variances = self.before.variances

    def condition(self, crawler: int, rtt_ms: float, noise: float = 0.0) -> None:
        """Take note of one crawler's round trip.

        With `noise`, a variance, it is that of a neighbour. Without, it is the site's own: its variance
        becomes nil.
        """
        variance, samples = float(self.variances[crawler]), len(self._gains) + 1
        scores, variances = np.empty_like(self.scores), np.empty_like(self.variances)
        deviations, gains = np.empty((samples, len(scores))), np.empty((samples, len(variances)))
        evidence, surprise = kernels.condition_belief(
            self.arrays(), self.column(crawler), crawler, rtt_ms, noise, scores, variances, deviations, gains
        )
        self.scores, self.variances, self._deviations, self._gains = scores, variances, deviations, gains
        self._spreads = (*self._spreads, variance + noise)
        self._likely = None
        if not noise:
            self.density += evidence + student_constant(self.tail) - 0.5 * log(variance)
            self.surprise += surprise
            self.seen += 1

    def column(self, crawler: int) -> Floats:
        """Return the covariances of one crawler with all, by now."""
        found = self.before.column(crawler)
        if self._spreads:
            found -= (self._spreads * self._gains[:, crawler]) @ self._gains
            found[self.variances == 0.0] = 0.0
            found[crawler] = self.variances[crawler]
        return found

    def block(self, crawlers: NDArray[np.intp]) -> Floats:
        """Return the covariances of some crawlers with each other, by now."""
        found = self.before.block(crawlers)
        if self._spreads:
            some = self._gains[:, crawlers]
            found -= (some.T * self._spreads) @ some
            is_known = self.variances[crawlers] == 0.0
            found[is_known], found[:, is_known] = 0.0, 0.0
            np.fill_diagonal(found, self.variances[crawlers])
        return found

    def arrays(self) -> kernels.Belief:
        """Return what compiled code needs."""
        return (
            self.prior,
            self.floors,
            self.least,
            self.scores,
            self.variances,
            self._deviations,
            self._gains,
            self.offset_ms,
            self.tail,
        )

    @property
    def means(self) -> Floats:
        """What is believed at all places."""
        return self.means_at(slice(None))

    def means_at(self, places: NDArray[np.intp] | slice) -> Floats:
        """Return what is believed at some places."""
        found: Floats = self.prior[places]
        return found + self._deviations.T[places] @ self._gains if len(self._gains) else found

    @property
    def widening(self) -> float:
        """The variance's factor after surprises: above 1 if samples strayed more than expected."""
        return max(1.0, (self.tail + self.surprise) / (self.tail + self.seen))

    def or_elsewhere(self, other: Belief, share: float) -> Belief:
        """Return a belief in the places of both, with a share for the other's, before any sample."""
        return Belief(
            np.concatenate((self.means, other.means)),
            np.concatenate((self.floors, other.floors)),
            np.concatenate((self.least, other.least)),
            np.concatenate((self.scores + log(1.0 - share), other.scores + log(share))),
            self.before,
            self.offset_ms,
            self.tail,
        )

    def likely(self) -> Likely:
        """Return the places that count."""
        if self._likely is None:
            self._likely = self.places_from(LEAST_WEIGHT)
        return self._likely

    def places_from(self, least_weight: float) -> Likely:
        """Return the places that are at least so likely beside the likeliest."""
        if len(self.scores) == 1:
            return Likely(_WHOLE, self.means, self.floors, self.least)
        weights = np.exp(self.scores - self.scores.max())
        some = (weights >= least_weight).nonzero()[0]
        weights = weights[some]
        return Likely(weights / weights.sum(), self.means_at(some), self.floors[some], self.least[some])

    def logarithms(self) -> Floats:
        """Return the expected log(round trip + offset) of each crawler."""
        likely = self.likely()
        found: Floats = likely.weights @ np.log(likely.floors + np.exp(likely.means))
        return found

    def expected_ms(self, crawler: int) -> float:
        """Return the round trip that is expected of a crawler."""
        found = kernels.expect_logarithm(self.arrays(), crawler, LEAST_WEIGHT)
        return max(0.0, exp(found) - self.offset_ms)


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

    def over_known(self, belief: Belief, best_ms: float) -> Floats:
        """Return what a probe by each crawler may save beside a measured round trip, in ms."""
        saved = np.empty(len(belief.variances))
        kernels.save_over_known(
            belief.arrays(),
            best_ms,
            self.fixed_ms,
            LEAST_WEIGHT,
            belief.widening,
            LEAST_VARIANCE,
            quantile_points(POINTS),
            saved,
        )
        return saved

    def over_expected(self, belief: Belief, holder: int) -> Floats:
        """Return what each crawler may save beside the one that is expected to be the nearest, in ms."""
        saved = np.empty(len(belief.variances))
        kernels.save_over_expected(
            belief.arrays(),
            belief.column(holder),
            holder,
            self.fixed_ms,
            LEAST_WEIGHT,
            LEAST_VARIANCE,
            saved,
        )
        return saved

    def regret_among(
        self, belief: Belief, holder: int, usable: NDArray[np.intp], enough_ms: float
    ) -> tuple[float, Floats]:
        """Return what a holder is expected to lose against all who may be asked, and against each.

        Where one of them alone makes it lose `enough_ms`, that is returned: more does not matter.
        """
        savings = self.over_expected(belief, holder)
        counted = np.zeros_like(savings)
        counted[usable] = savings[usable]
        counted[holder] = 0.0
        most = float(counted.max())
        return (most if most >= enough_ms else self.regret(belief, holder, counted)), counted

    def regret(self, belief: Belief, holder: int, savings: Floats) -> float:
        """Return what a crawler is expected to lose against the nearest of all, without a sample, in ms.

        `savings` has what each of the others may save beside it, nil for those that do not count. Several
        may, so their largest is too low and their sum too high.
        """
        rivals = np.argsort(-savings)[:RIVALS]
        some = np.concatenate(([holder], rivals[(savings[rivals] > 0) & (rivals != holder)]))
        shifted = np.maximum(self._drawn(belief, belief.likely(), some), 0.0) + self.fixed_ms
        return float(np.log(shifted[:, 0] / shifted.min(axis=1)).mean()) * self.fixed_ms

    def chance(self, belief: Belief, crawler: int, usable: NDArray[np.intp]) -> float:
        """Return how likely a crawler is the nearest of those that may be asked.

        All places count: hundreds that are unlikely each may be likely together.
        """
        some = np.concatenate(([crawler], usable[usable != crawler])).astype(np.intp)
        drawn = self._drawn(belief, belief.places_from(0.0), some, belief.widening)
        return float((drawn.argmin(axis=1) == 0).mean())

    def _drawn(
        self, belief: Belief, likely: Likely, crawlers: NDArray[np.intp], widening: float = 1.0
    ) -> Floats:
        """Return draws of some crawlers' round trips: of the place first, then of the deviations there."""
        scales, directions = np.linalg.eigh(belief.block(crawlers) * widening)
        values = normal_draws(len(crawlers)) @ (directions * np.sqrt(np.maximum(scales, 0.0))).T
        at = np.zeros((1, 1), np.intp)  # a single place is the same for all draws
        if len(likely.weights) > 1:
            found = np.searchsorted(likely.weights.cumsum(), even_draws())
            at = np.minimum(found, len(likely.weights) - 1)[:, None]
        drawn: Floats = np.exp(values + likely.means[at, crawlers])
        return np.maximum(drawn + (likely.floors[at, crawlers] - self.offset_ms), likely.least[at, crawlers])


@cache
def normal_draws(count: int) -> Floats:
    """Return draws of independent standard normal numbers, always the same; each with its opposite.

    Points of a lattice fill the unit cube more evenly than chance, and so need fewer for the same accuracy.
    """
    shifts = np.sqrt(_primes(count)) % 1.0  # square roots of primes make the lattice
    cube = (np.arange(1, DRAWS // 2 + 1)[:, None] * shifts + 0.5 / DRAWS) % 1.0
    normal = NormalDist()
    half = np.array([normal.inv_cdf(min(max(x, 1e-6), 1 - 1e-6)) for x in cube.ravel().tolist()])
    half = half.reshape(cube.shape)
    return np.concatenate((half, -half))


def _primes(count: int) -> NDArray[np.intp]:
    """Return the first primes; the n-th lies below n (ln n + ln ln n), from the sixth on."""
    is_prime = np.ones(int(count * (log(count + 2) + log(log(count + 3)) + 2)) + 16, bool)
    is_prime[:2] = False
    for number in range(2, isqrt(len(is_prime)) + 1):
        is_prime[number * number :: number] = False
    return np.flatnonzero(is_prime)[:count]


@cache
def even_draws() -> Floats:
    """Return numbers between 0 and 1 in order, for both halves: each place gets a run of the lattice."""
    half = (np.arange(DRAWS // 2) + 0.5) / (DRAWS // 2)
    return np.concatenate((half, half))
