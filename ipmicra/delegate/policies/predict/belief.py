"""What is believed of one site in the course of an attempt, as its samples come in.

How it works
------------
A site is at one of several places (`Belief`): a single one if its place is known well, some around it if not,
and all places where sites were seen if its place is unknown or may be wrong. At each of them the logarithms
of the round trips from all crawlers are a Gaussian; the means differ, the covariance is the same. A sample

- weighs the places, as in finding a position by distances from known points. Densities are those of a Student
  distribution, so that one detour does not rule a place out;
- conditions the Gaussians, so it says something of the other crawlers as well.

`Savings` gives the expected saving of a probe by each crawler and the expected regret of an answer, both as
means over the places that are left.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from math import exp, inf, lgamma, log, log2, pi, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ipmicra.delegate.attempt import Considered, Verdict
from ipmicra.delegate.config import PredictConfig
from ipmicra.model.types import Floats

if TYPE_CHECKING:
    from ipmicra.delegate.policies.predict.prior import Expectation

LEAST_VARIANCE = 1e-12
LEAST_WEIGHT = 1e-2
"""Places this much less likely than the likeliest do not count."""
DRAWS = 1024
"""Draws by which the expected regret is taken."""
PRIMES = np.array([p for p in range(2, 2000) if all(p % d for d in range(2, int(p**0.5) + 1))])
"""Square roots of primes make the lattice of the draws."""
POINTS = 15
"""Points at which the expected saving of a probe is taken."""
EVEN = 0.5
"""A place with a lower chance than this is given up."""
RIVALS = 7
"""Crawlers that are compared with the holder: those with the highest expected savings."""


@cache
def student_constant(tail: float) -> float:
    """Return the logarithm of a Student density at its middle, for a scale of 1."""
    return lgamma((tail + 1) / 2) - lgamma(tail / 2) - 0.5 * log(tail * pi)


@dataclass(slots=True)
class Belief:
    """What is believed of log(round trip - floor + offset): (place, crawler), with the places' weights."""

    means: Floats
    floors: Floats
    """Milliseconds taken off before the logarithm."""
    least: Floats
    """Shortest round trips that light allows, in ms."""
    scores: Floats
    """Logarithms of the places' weights, which add up to 1."""
    covariance: Floats
    """Between crawlers, the same at all places."""
    offset_ms: float
    tail: float
    """Degrees of freedom of the Student distribution."""
    surprise: float = 0.0
    """Sum of squared, standardised deviations of what was seen."""
    seen: int = 0
    density: float = 0.0
    """Logarithm of the density of what was seen."""

    def condition(self, crawler: int, rtt_ms: float, noise: float = 0.0) -> None:
        """Take note of one crawler's round trip.

        With `noise`, a variance, it is that of a neighbour. Without, it is the site's own: its variance
        becomes nil.
        """
        covariance = self.covariance
        trips = np.maximum(rtt_ms - self.floors[:, crawler], 0.0) + self.offset_ms
        values = np.log(trips)
        deviations = values - self.means[:, crawler]
        variance = float(covariance[crawler, crawler]) + noise
        squares = deviations * deviations / variance
        scores = self.scores - values - 0.5 * (self.tail + 1) * np.log1p(squares / self.tail)
        top = float(scores.max())
        evidence = top + log(float(np.exp(scores - top).sum()))
        self.scores = scores - evidence
        gain = covariance[crawler] / variance
        self.means = self.means + deviations[:, None] * gain
        self.covariance = covariance - gain[:, None] * covariance[crawler]
        if noise:
            return
        self.density += evidence + student_constant(self.tail) - 0.5 * log(variance)
        self.surprise += float(np.exp(self.scores) @ squares)
        self.seen += 1
        self.covariance[crawler, :] = 0.0
        self.covariance[:, crawler] = 0.0

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
            self.covariance,
            self.offset_ms,
            self.tail,
        )

    def likely(self) -> tuple[NDArray[np.intp], Floats]:
        """Return the places that count, and their weights."""
        if len(self.scores) == 1:
            return np.zeros(1, np.intp), np.ones(1)
        weights = np.exp(self.scores - self.scores.max())
        some = np.flatnonzero(weights >= LEAST_WEIGHT)
        weights = weights[some]
        return some, weights / weights.sum()

    def logarithms(self) -> Floats:
        """Return the expected log(round trip + offset) of each crawler."""
        some, weights = self.likely()
        found: Floats = weights @ np.log(self.floors[some] + np.exp(self.means[some]))
        return found

    def expected_ms(self, crawler: int) -> float:
        """Return the round trip that is expected of a crawler."""
        some, weights = self.likely()
        trips = self.floors[some, crawler] + np.exp(self.means[some, crawler])
        return max(0.0, float(np.exp(weights @ np.log(trips))) - self.offset_ms)


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
        some, weights = belief.likely()
        deviation = np.sqrt(np.maximum(belief.covariance.diagonal() * belief.widening, LEAST_VARIANCE))
        means, floors, least = belief.means[some], belief.floors[some], belief.least[some]
        points = quantile_points(POINTS)
        # Most crawlers cannot win even with the lowest of the points: only the others are looked at.
        lowest = floors + np.exp(means + deviation * points[0]) - self.offset_ms
        place, crawler = np.nonzero(np.maximum(lowest, least) < best_ms)
        values = means[place, crawler] + np.multiply.outer(points, deviation[crawler])
        trips = floors[place, crawler] + np.exp(values) - self.offset_ms
        shifted = np.maximum(trips, least[place, crawler]) + self.fixed_ms
        saved = np.log(np.maximum((best_ms + self.fixed_ms) / shifted, 1.0)).sum(axis=0)
        total = np.bincount(crawler, weights[place] * saved, minlength=len(deviation))
        return np.asarray(total, np.float64) * (self.fixed_ms / POINTS)

    def over_expected(self, belief: Belief, holder: int) -> Floats:
        """Return what each crawler may save beside the one that is expected to be the nearest, in ms."""
        some, weights = belief.likely()
        spread_ms = np.exp(belief.means[some])
        shifted = belief.floors[some] + spread_ms
        level, share = np.log(shifted), spread_ms / shifted
        variance = belief.covariance.diagonal() * share**2
        own = shifted[:, holder, None]
        together = belief.covariance[holder] * share * share[:, holder, None]
        deviation = np.sqrt(np.maximum(variance[:, holder, None] + variance - 2 * together, LEAST_VARIANCE))
        logarithms = deviation * _loss((level[:, holder, None] - level) / deviation)
        saved: Floats = weights @ (logarithms * own / (own - self.offset_ms + self.fixed_ms))
        return saved * self.fixed_ms

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
        shifted = np.maximum(self._drawn(belief, some), 0.0) + self.fixed_ms
        return float(np.log(shifted[:, 0] / shifted.min(axis=1)).mean()) * self.fixed_ms

    def chance(self, belief: Belief, crawler: int, usable: NDArray[np.intp]) -> float:
        """Return how likely a crawler is the nearest of those that may be asked."""
        some = np.concatenate(([crawler], usable[usable != crawler])).astype(np.intp)
        return float((self._drawn(belief, some).argmin(axis=1) == 0).mean())

    def _drawn(self, belief: Belief, crawlers: NDArray[np.intp]) -> Floats:
        """Return draws of some crawlers' round trips: of the place first, then of the deviations there."""
        places, weights = belief.likely()
        scales, directions = np.linalg.eigh(belief.covariance[crawlers[:, None], crawlers])
        values = normal_draws(len(crawlers)) @ (directions * np.sqrt(np.maximum(scales, 0.0))).T
        at = places[:, None]  # a single place is the same for all draws
        if len(places) > 1:
            at = places[np.minimum(np.searchsorted(weights.cumsum(), even_draws()), len(places) - 1)][:, None]
        drawn: Floats = np.exp(values + belief.means[at, crawlers])
        return np.maximum(drawn + (belief.floors[at, crawlers] - self.offset_ms), belief.least[at, crawlers])


@cache
def normal_draws(count: int) -> Floats:
    """Return draws of independent standard normal numbers, always the same; each with its opposite.

    Points of a lattice fill the unit cube more evenly than chance, and so need fewer for the same accuracy.
    """
    shifts = np.sqrt(PRIMES[:count]) % 1.0
    cube = (np.arange(1, DRAWS // 2 + 1)[:, None] * shifts + 0.5 / DRAWS) % 1.0
    normal = NormalDist()
    half = np.array([normal.inv_cdf(min(max(x, 1e-6), 1 - 1e-6)) for x in cube.ravel().tolist()])
    half = half.reshape(cube.shape)
    return np.concatenate((half, -half))


@cache
def even_draws() -> Floats:
    """Return numbers between 0 and 1 in order, for both halves: each place gets a run of the lattice."""
    half = (np.arange(DRAWS // 2) + 0.5) / (DRAWS // 2)
    return np.concatenate((half, half))


def _loss(margin: Floats) -> Floats:
    """Return E[max(margin + z, 0)] for a standard normal z."""
    density = np.exp(-0.5 * margin * margin) / sqrt(2 * pi)
    loss: Floats = np.maximum(margin, 0.0) + density * _mills(np.abs(margin))
    return loss


def _mills(distance: Floats) -> Floats:
    """Return E[max(z - distance, 0)] over the density at `distance`, to within 1e-6.

    1 - distance × Mills' ratio, that ratio by formula 26.2.17 of Abramowitz and Stegun.
    """
    t = 1.0 / (1.0 + 0.2316419 * distance)
    ratio = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    tail: Floats = np.maximum(1.0 - distance * ratio, 0.0)
    return tail


# --- notes of an attempt


@dataclass(slots=True)
class Notes:
    """What the policy knows in the course of an attempt."""

    prior: Expectation
    belief: Belief
    taken_in: set[int] = field(default_factory=set)
    """Crawlers whose sample the belief has."""
    savings: Floats | None = None
    """Expected saving of a probe by each crawler, when last computed."""
    is_open: bool = False
    """Whether the belief has places elsewhere, too, after those of the prior: the site's own is in doubt."""
    is_misplaced: bool = False
    """There was a place, and the samples say that it is wrong."""
    regret_ms: float = inf
    """What an answer without any sample was expected to lose."""
    source: str = ""
    """Where that place was from."""

    @property
    def is_refuted(self) -> bool:
        """Whether the place is likelier wrong than right, by the samples so far."""
        return self.is_open and float(np.exp(self.belief.scores[: len(self.prior.means)]).sum()) < EVEN

    def give_up(self, prior: Expectation) -> None:
        """Go on without the place, which is wrong; `prior` is what is expected without it."""
        self.prior, self.is_open, self.is_misplaced = prior, False, True

    def why_stop(self, best_ms: float, next_best: int, price_ms: float) -> str:
        """Say why nobody else is asked, by the crawler that a probe would be worth most of."""
        some, _weights = self.belief.likely()
        if self.belief.least[some, next_best].min() >= best_ms:
            return "light itself cannot be quicker from any other crawler"
        saving = 0.0 if self.savings is None else self.savings[next_best]
        return f"expected saving of one more probe: {saving:.2f} ms, price {price_ms:.2f} ms"

    def weights(self) -> Floats:
        """Return how likely each place of the prior is by now."""
        scores = self.belief.scores[: len(self.prior.means)]
        weights = np.exp(scores - scores.max())
        found: Floats = weights / weights.sum()
        return found


def unasked(
    notes: Notes, names: list[str], free: NDArray[np.intp], best_ms: float | None, price_ms: float
) -> list[Considered]:
    """Say why each crawler that was not asked was not."""
    savings = np.zeros(len(names)) if notes.savings is None else notes.savings
    least = notes.belief.least[notes.belief.likely()[0]].min(axis=0)
    return [
        Considered(
            crawler=names[crawler],
            verdict=Verdict.NOT_ASKED,
            reason=_why_not(float(least[crawler]), best_ms, savings[crawler], price_ms),
            expected_ms=notes.belief.expected_ms(crawler),
            saving_ms=float(savings[crawler]),
        )
        for crawler in free.tolist()
    ]


def _why_not(least_ms: float, best_ms: float | None, saving_ms: float, price_ms: float) -> str:
    if best_ms is not None and least_ms >= best_ms:
        return f"light needs {least_ms:.1f} ms from there"
    return f"expected saving of a probe: {saving_ms:.2f} ms, its price: {price_ms:.2f} ms"


# --- what a probe costs


def price_ms_of(config: PredictConfig, crawlers: int) -> float:
    """Return the price of a probe before a run adjusts it; one that the user sets is fixed."""
    if config.probes_per_site is None:
        return config.probe_price_ms
    return config.probe_price_ms * float((config.fleet / max(crawlers, 1)) ** config.price_fall)


def mean_probes(config: PredictConfig, crawlers: int) -> float | None:
    """Return the mean number of probes per site above which the price rises; None for a fixed price."""
    if config.probes_per_site is None:
        return None
    doublings = log2(max(crawlers, 1) / config.fleet)
    return max(1.0, config.probes_per_site + config.probes_per_doubling * doublings)


class Price:
    """The price of a probe, in ms of expected saving; it rises while more probes are used than wanted."""

    def __init__(self, config: PredictConfig) -> None:
        """Begin with nothing spent."""
        self._config = config
        self.crawlers = config.fleet
        """Size of the fleet."""
        self.overspent = 0.0
        """Probes over the mean that was asked for, since the beginning."""

    def spend(self, probes: int) -> None:
        """Take note of the probes of an attempt."""
        wanted = mean_probes(self._config, self.crawlers)
        if wanted is not None:
            self.overspent += probes - wanted

    @property
    def now_ms(self) -> float:
        """The price now."""
        config, price_ms = self._config, price_ms_of(self._config, self.crawlers)
        if config.probes_per_site is None or self.overspent <= 0:
            return price_ms
        # Limited before the exponential: long runs overspend so far that it would overflow.
        return price_ms * exp(min(config.price_step * self.overspent, log(config.price_rise)))
