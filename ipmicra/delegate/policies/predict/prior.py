"""What is expected of a site before any sample of its own.

Two sources are added up, both in logarithms of round trips, one number per crawler:

- *Geography* says how far each crawler is from the site's place: the expected logarithms, the floors that
  light sets, and how unsure the place makes them (`Outlook`).
- The *field* is what other sites taught: a straight line that corrects the dependence on distance, levels of
  regions, organisations and subnets (`forest`), and the covariance between crawlers within a site.

`Field.expect` joins them to an `Expectation`. There is one field for sites with a place and one for those
without: what is learnt of the one does not hold for the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf

import numpy as np
from numpy.typing import NDArray

from ipmicra.delegate.attempt import Considered, Verdict
from ipmicra.delegate.config import PredictConfig
from ipmicra.delegate.policies.predict.belief import Normal
from ipmicra.delegate.policies.predict.forest import Branch, Forest
from ipmicra.model.geo import FIBRE_KM_PER_MS, ring_around, unit_vectors, vector_distances_km
from ipmicra.model.location import Location
from ipmicra.model.types import Floats

POINT_KM = 10.0
"""A place known to within this is a point."""
PLACES_KEPT = 2048
"""Places whose prior is kept: some 40 MB at most, for 50 crawlers."""
MARGIN = 1.2
"""Radii taken off a distance before light's time counts as a floor."""
NUGGET = 1e-4
"""Variance of a single sample beside all else; keeps matrices sound."""
MIDDLE = float(np.log(20.0))
"""Logarithm around which the dependence on distance turns."""
SURE = 1e-9


# --- geography


@dataclass(frozen=True, slots=True)
class Outlook:
    """One site's prior, one number a crawler."""

    mean: Floats
    floors: Floats
    """Milliseconds taken off before the logarithm."""
    least: Floats
    """Shortest round trips that light allows, in ms."""
    covariance: Floats | None
    """Of the logarithms, for want of an exact place; None for a point."""
    is_placed: bool


class Geography:
    """The crawlers' places; NaN where unknown."""

    def __init__(self, config: PredictConfig) -> None:
        """Begin without crawlers."""
        self._config = config
        self.points: Floats = np.zeros((0, 3))
        self.known: NDArray[np.bool_] = np.zeros(0, np.bool_)
        self._nowhere: tuple[Floats, Floats] | None = None
        self._outlooks: dict[tuple[float, float, float], Outlook] = {}

    def add(self, location: Location | None) -> None:
        """Append a crawler."""
        point = (
            np.full(3, np.nan) if location is None else unit_vectors(location.latitude, location.longitude)
        )
        self.points = np.concatenate([self.points, point[None]])
        self.known = ~np.isnan(self.points[:, 0])
        self._nowhere = None
        self._outlooks.clear()

    def closeness(self) -> Floats:
        """Return the correlation of crawlers by their distance; unknown places are far from all."""
        count = len(self.points)
        result = np.eye(count)
        held = np.flatnonzero(self.known)
        distances = vector_distances_km(self.points[held], self.points[held])
        shared = 1.0 - self._config.own_share
        result[np.ix_(held, held)] = shared * np.exp(-distances / self._config.together_km)
        np.fill_diagonal(result, 1.0)
        return result

    def outlook(self, location: Location | None) -> Outlook:
        """Return the prior for a site at a place; places come again and again."""
        if location is None or not self.known.any():
            return self._outlook_nowhere()
        place = location.latitude, location.longitude, location.radius_km
        found = self._outlooks.get(place)
        if found is None:
            if len(self._outlooks) >= PLACES_KEPT:
                self._outlooks.clear()
            found = self._outlooks[place] = self._outlook_at(location)
        return found

    def _outlook_at(self, location: Location) -> Outlook:
        centre = unit_vectors(location.latitude, location.longitude)
        is_point = location.radius_km <= POINT_KM
        places = centre[None] if is_point else ring_around(centre, location.radius_km)
        distances = self._distances(places)
        levels = self._levels(distances)
        off = location.radius_km if is_point else MARGIN * location.radius_km
        least = np.maximum(distances[0] - off, 0.0) / FIBRE_KM_PER_MS
        least[~self.known] = 0.0
        mean = levels.mean(axis=0)
        covariance = None if is_point else _spread(levels - mean)
        return Outlook(
            mean=mean,
            floors=self._config.floor_share * least,
            least=least,
            covariance=self._with_strangers(covariance),
            is_placed=True,
        )

    def nowhere(self) -> tuple[Floats, Floats]:
        """Return mean and covariance of logarithms for a site that may be anywhere.

        Crawlers stand where sites are, so each crawler's place is as likely as another.
        """
        if self._nowhere is None:
            count, config = len(self.points), self._config
            mean, covariance = np.full(count, np.log(config.typical_ms)), np.zeros((count, count))
            if self.known.sum() > 1:
                levels = self._levels(self._distances(self.points[self.known]), config.slope_ms_per_km)
                mean = levels.mean(axis=0)
                covariance = _spread(levels - mean)
            strangers = np.flatnonzero(~self.known) if self.known.sum() > 1 else np.arange(count)
            covariance[strangers, strangers] += config.unknown_pair_spread**2
            self._nowhere = mean, covariance
        return self._nowhere

    def _outlook_nowhere(self) -> Outlook:
        mean, _covariance = self.nowhere()
        nil = np.zeros_like(mean)
        return Outlook(mean=mean, floors=nil, least=nil, covariance=None, is_placed=False)

    def _distances(self, places: Floats) -> Floats:
        """Return distances in km, (place, crawler); a typical one for crawlers of unknown place."""
        config = self._config
        distances = np.full((len(places), len(self.points)), config.typical_ms / config.slope_ms_per_km)
        distances[:, self.known] = vector_distances_km(places, self.points[self.known])
        return distances

    def _levels(self, distances: Floats, slope_ms_per_km: float | None = None) -> Floats:
        config = self._config
        if slope_ms_per_km is None:
            slope_ms_per_km = config.slope_ms_per_km - config.floor_share / FIBRE_KM_PER_MS
        return np.log(distances * slope_ms_per_km + config.base_ms + config.offset_ms)

    def _with_strangers(self, covariance: Floats | None) -> Floats | None:
        """Make the crawlers of unknown place unsure."""
        if self.known.all():
            return covariance
        count = len(self.points)
        covariance = np.zeros((count, count)) if covariance is None else covariance
        strangers = np.flatnonzero(~self.known)
        covariance[strangers, strangers] += self._config.unknown_pair_spread**2
        return covariance


def _spread(deviations: Floats) -> Floats:
    """Return the covariance of rows that are equally likely."""
    covariance: Floats = deviations.T @ deviations / len(deviations)
    return covariance


# --- what other sites taught


@dataclass(frozen=True, slots=True)
class Expectation:
    """What is believed of a site before any sample of its own, one number a crawler."""

    outlook: Outlook
    branch: Branch
    mean: Floats
    covariance: Floats
    level: Floats
    """The part of the mean that the levels give."""
    variance: Floats
    """How unsure the levels are."""
    sites: int
    """Sites learnt from until then."""

    def belief(self) -> Normal:
        """Return the Gaussian to condition on samples."""
        return Normal(self.mean, self.covariance)


class Field:
    """A Gaussian for every site: prior by distance + levels + what is common to a site and its crawlers.

    The covariance within a site starts from a simple form and follows the samples: for each site the
    expectation of the residuals' products, given what was seen, is added to `prior_sites` times that form.
    """

    def __init__(self, config: PredictConfig, within: Floats) -> None:
        """Begin with the covariance within a site that is expected before any sample."""
        self._config = config
        self.forest = Forest(len(within))
        self._simple = within
        self._products = np.zeros_like(within)
        self._sites = 0
        self._within = within
        self._line = np.zeros(2)
        self._line_covariance = np.diag([config.intercept_spread**2, config.slope_spread**2])

    def __repr__(self) -> str:
        """Say how much was learnt."""
        return f"<Field: {self._sites} sites, {self.forest!r}>"

    @property
    def within(self) -> Floats:
        """The covariance between crawlers within a site."""
        return self._within

    def add_crawler(self, within: Floats) -> None:
        """Make room for one more crawler; `within` is the simple covariance of all."""
        old = len(self._simple)
        self._simple = within
        products = within * self._sites
        products[:old, :old] = self._products
        self._products = products
        self._renew()
        self.forest.add_crawler()

    def expect(self, outlook: Outlook, branch: Branch) -> Expectation:
        """Return what is believed of a site before any sample of its own."""
        level, variance = self.forest.expect(branch)
        line = _line(outlook.mean)
        mean = outlook.mean + line @ self._line + level
        covariance = line @ self._line_covariance @ line.T + self._within
        if outlook.covariance is not None:
            covariance += outlook.covariance
        covariance.flat[:: len(mean) + 1] += variance + NUGGET
        return Expectation(outlook, branch, mean, covariance, level, variance, self._sites)

    def expect_beside(self, prior: Expectation, square: float) -> Expectation:
        """Return what is believed of a site in another slice of the same subnet, by the variance between."""
        return self.expect(prior.outlook, prior.branch.another_slice(square))

    def excess_over_kin(self, prior: Expectation, crawlers: NDArray[np.intp], values: Floats) -> float | None:
        """Return the mean squared deviation of samples from what other slices foretold, beyond the noise.

        None where other slices foretold nothing, or the slice itself is known: it says nothing of the others.
        """
        subnet, own = prior.branch.common[-2:].tolist()
        seen = self.forest.knows(subnet)[crawlers]
        if not seen.any() or self.forest.knows(own).any():
            return None
        some = crawlers[seen]
        noise = prior.covariance[some, some] - (prior.branch.slice_square or 0.0)
        return float(((values[seen] - prior.mean[some]) ** 2 - noise).mean())

    def learn(
        self, prior: Expectation, crawlers: NDArray[np.intp], values: Floats, weight: float = 1.0
    ) -> None:
        """Take in the samples of one site, as logarithms; `prior` is what was expected of it.

        Samples with a weight below 1 count as noisy ones.
        """
        if prior.sites != self._sites:  # other sites taught something meanwhile
            prior = self.expect(prior.outlook, prior.branch)
        seen: Floats = prior.covariance[crawlers[:, None], crawlers]
        if weight < 1.0:
            seen = seen + np.diag(seen.diagonal()) * (1.0 / weight - 1.0)
        inverse: Floats = np.asarray(np.linalg.inv(seen), np.float64)
        pull = inverse @ (values - prior.mean[crawlers])
        self._learn_within(crawlers, inverse, pull)
        self._learn_line(_line(prior.outlook.mean[crawlers]), inverse, pull)
        before = prior.variance[crawlers]
        after = np.maximum(before - before**2 * inverse.diagonal(), SURE)
        centre = prior.level[crawlers]
        precision = np.maximum(1.0 / after - 1.0 / before, 0.0)
        message = (centre + before * pull) / after - centre / before
        self.forest.learn(prior.branch, crawlers, precision, message)

    def _learn_within(self, crawlers: NDArray[np.intp], inverse: Floats, pull: Floats) -> None:
        """Add the expected products of one site's residuals (one step of expectation maximisation)."""
        reach = self._within[:, crawlers]
        residual = reach @ pull
        self._products += residual[:, None] * residual + self._within - reach @ inverse @ reach.T
        self._sites += 1
        self._renew()

    def _renew(self) -> None:
        trust = self._config.prior_sites
        self._within = (trust * self._simple + self._products) / (trust + self._sites)

    def _learn_line(self, line: Floats, inverse: Floats, pull: Floats) -> None:
        """Update intercept and slope."""
        reach = self._line_covariance @ line.T
        self._line = self._line + reach @ pull
        self._line_covariance = self._line_covariance - reach @ inverse @ reach.T


def _line(levels: Floats) -> Floats:
    line = np.ones((len(levels), 2))
    line[:, 1] = levels - MIDDLE
    return line


# --- notes of an attempt


@dataclass(slots=True)
class Notes:
    """What the policy knows in the course of an attempt."""

    prior: Expectation
    belief: Normal
    offset_ms: float
    """Added to round trips before the logarithm."""
    taken_in: set[int] = field(default_factory=set)
    """Crawlers whose sample the belief has."""
    savings: Floats | None = None
    """Expected saving of a probe by each crawler, when last computed."""
    expected: dict[int, tuple[float, float]] = field(default_factory=dict)
    """Expected round trip and saving of those asked."""
    density: float = 0.0
    """Logarithm of the density of the samples taken in."""
    beside: Mapping[int, tuple[float, float]] | None = None
    """If the site may be anywhere: what its neighbours say, a logarithm and its variance for each crawler."""
    is_misplaced: bool = False
    """There was a place, and the samples say that it is wrong."""
    doubt: float = 0.0
    """Chance that the place is wrong, by the samples so far."""
    elsewhere: Notes | None = None
    """What is known if it is wrong; None if that is out of the question."""
    regret_ms: float = inf
    """What an answer without any sample was expected to lose."""
    source: str = ""
    """Where that place was from."""

    def expected_ms(self, crawler: int) -> float:
        """Return the round trip that is expected of a crawler."""
        level = float(self.belief.mean[crawler])
        return max(0.0, float(self.prior.outlook.floors[crawler] + np.exp(level)) - self.offset_ms)


def unasked(
    notes: Notes, names: list[str], free: NDArray[np.intp], best_ms: float | None, price_ms: float
) -> list[Considered]:
    """Say why each crawler that was not asked was not."""
    savings = np.zeros(len(names)) if notes.savings is None else notes.savings
    least = notes.prior.outlook.least
    return [
        Considered(
            crawler=names[crawler],
            verdict=Verdict.NOT_ASKED,
            reason=_why_not(float(least[crawler]), best_ms, savings[crawler], price_ms),
            expected_ms=notes.expected_ms(crawler),
            saving_ms=float(savings[crawler]),
        )
        for crawler in free.tolist()
    ]


def _why_not(least_ms: float, best_ms: float | None, saving_ms: float, price_ms: float) -> str:
    if best_ms is not None and least_ms >= best_ms:
        return f"light needs {least_ms:.1f} ms from there"
    return f"expected saving of a probe: {saving_ms:.2f} ms, its price: {price_ms:.2f} ms"
