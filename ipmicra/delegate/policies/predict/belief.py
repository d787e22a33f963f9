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
from math import erf, exp, lgamma, log, log1p, log2, pi, sqrt
from statistics import NormalDist
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ipmicra.delegate.config import PredictConfig
from ipmicra.model.types import Floats

LEAST_VARIANCE = 1e-12
MOST_LOG = 500.0
"""Logarithms of ratios are cut here, before they overflow."""
DRAWS = 512
"""Draws by which the expected regret is taken."""
PRIMES = np.array([p for p in range(2, 2000) if all(p % d for d in range(2, int(p**0.5) + 1))])
"""Square roots of primes make the lattice of the draws."""
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

    def regret_among(
        self, belief: Normal, outlook: Bounds, holder: int, usable: NDArray[np.intp], enough_ms: float
    ) -> tuple[float, Floats]:
        """Return what a holder is expected to lose against all who may be asked, and against each.

        Where one of them alone makes it lose `enough_ms`, that is returned: more does not matter.
        """
        savings = self.over_expected(belief, outlook.floors, holder)
        counted = np.zeros_like(savings)
        counted[usable] = savings[usable]
        counted[holder] = 0.0
        most = float(counted.max())
        return (most if most >= enough_ms else self.regret(belief, outlook, holder, counted)), counted

    def regret(self, belief: Normal, outlook: Bounds, holder: int, savings: Floats) -> float:
        """Return what a crawler is expected to lose against the nearest of all, without a sample, in ms.

        `savings` has what each of the others may save beside it, nil for those that do not count. Several
        may, so their largest is too low and their sum too high.
        """
        rivals = np.argsort(-savings)[:RIVALS]
        some = np.concatenate(([holder], rivals[(savings[rivals] > 0) & (rivals != holder)]))
        covariance = belief.covariance[some[:, None], some] + LEAST_VARIANCE * np.eye(len(some))
        values = belief.mean[some] + normal_draws(len(some)) @ np.linalg.cholesky(covariance).T
        trips = np.maximum(outlook.floors[some] + np.exp(values) - self.offset_ms, outlook.least[some])
        shifted = np.maximum(trips, 0.0) + self.fixed_ms
        return float(np.log(shifted[:, 0] / shifted.min(axis=1)).mean()) * self.fixed_ms

    def chance(self, belief: Normal, outlook: Bounds, crawler: int, usable: NDArray[np.intp]) -> float:
        """Return how likely a crawler is the nearest of those that may be asked."""
        others = usable[usable != crawler]
        some = np.concatenate(([crawler], others)).astype(np.intp)
        covariance = belief.covariance[some[:, None], some]
        scales, directions = np.linalg.eigh(covariance)
        root = directions * np.sqrt(np.maximum(scales, 0.0))
        values = belief.mean[some] + normal_draws(len(some)) @ root.T
        trips = np.maximum(outlook.floors[some] + np.exp(values) - self.offset_ms, outlook.least[some])
        return float((trips.argmin(axis=1) == 0).mean())


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


def _loss(margin: Floats) -> Floats:
    """Return E[max(margin + z, 0)] for a standard normal z."""
    density = np.exp(-0.5 * margin * margin) / sqrt(2 * np.pi)
    below = np.array([0.5 + 0.5 * erf(x / sqrt(2)) for x in margin.tolist()])
    loss: Floats = margin * below + density
    return loss


def student_constant(tail: float) -> float:
    """Return the logarithm of a Student density at its middle, for a scale of 1."""
    return lgamma((tail + 1) / 2) - lgamma(tail / 2) - 0.5 * log(tail * pi)


class WrongShare:
    """Counts places and wrong ones among them, in all and by source."""

    def __init__(self, config: PredictConfig) -> None:
        """Begin without any."""
        self._config = config
        self.sites = self.wrong = 0
        self._by_source: dict[str, tuple[int, int]] = {}

    def count(self, source: str, *, is_wrong: bool) -> None:
        """Count a place."""
        sites, wrong = self._by_source.get(source, (0, 0))
        self._by_source[source] = sites + 1, wrong + is_wrong
        self.sites += 1
        self.wrong += is_wrong

    def of(self, source: str, assumed: float) -> float:
        """Return the share of a source's wrong places; it leans on that of all, which leans on `assumed`."""
        trust, own_trust = self._config.places_trusted, self._config.source_trust
        share = (trust * assumed + self.wrong) / (trust + self.sites)
        sites, wrong = self._by_source.get(source, (0, 0))
        return (own_trust * share + wrong) / (own_trust + sites)


class PlacementCheck:
    """Counts wrong places, and weighs one site's samples.

    Densities are those of a Student distribution, so that one detour does not refute a place.
    """

    def __init__(self, config: PredictConfig) -> None:
        """Begin with the share that is expected before any sample."""
        self._config = config
        self._tail = config.tail
        self._constant = student_constant(self._tail)
        self._all, self._sure = WrongShare(config), WrongShare(config)
        self._lost_ms = 0.0

    def __repr__(self) -> str:
        """Say what was counted."""
        return f"<PlacementCheck: {self._all.wrong} of {self._all.sites} places wrong>"

    def learn(self, source: str, loss_ms: float | None, *, was_sure: bool) -> None:
        """Count a site that had a place from some source and was sampled.

        `loss_ms` is what believing the place would have cost, None if it was right; `was_sure` says that the
        place alone nearly settled the site.
        """
        is_wrong = loss_ms is not None
        self._all.count(source, is_wrong=is_wrong)
        self._lost_ms += loss_ms or 0.0
        if was_sure:
            self._sure.count(source, is_wrong=is_wrong)

    def share(self, source: str) -> float:
        """Return the share of a source's places that are wrong: as assumed, as seen of all, as seen of it."""
        return self._all.of(source, self._config.misplaced)

    def expected_loss_ms(self, source: str) -> float:
        """Return what believing a place without a probe is expected to lose; nil until the first wrong one.

        Only places count that nearly settled their sites: where more was unknown, more is wrong.
        """
        return self._sure.of(source, 0.0) * self.loss_ms

    @property
    def loss_ms(self) -> float:
        """Mean loss of believing a wrong place."""
        trust = self._config.losses_trusted
        return (trust * self._config.misplaced_loss_ms + self._lost_ms) / (trust + self._all.wrong)

    def density(self, belief: Normal, crawler: int, value: float) -> float:
        """Return the logarithm of the density of a round trip whose shifted logarithm is `value`."""
        variance = float(belief.covariance[crawler, crawler])
        deviation = value - float(belief.mean[crawler])
        surprise = log1p(deviation * deviation / (variance * self._tail))
        return self._constant - 0.5 * log(variance) - 0.5 * (self._tail + 1) * surprise - value

    def most(self, values: list[float]) -> float:
        """Return the highest density that no place could give to such values."""
        return len(values) * (self._constant - log(NARROWEST)) - sum(values)

    def doubt(self, source: str, placed: float, unplaced: float) -> float:
        """Return the chance that a place is wrong, by the logarithms of the samples' densities."""
        share = self.share(source)
        if share >= 1.0:
            return 1.0
        return 1.0 / (1.0 + exp(min(placed - unplaced, MOST_LOG)) * (1.0 - share) / share)


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
