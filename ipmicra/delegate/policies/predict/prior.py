"""What is expected of a site before any sample of its own.

Two sources are added up, both in logarithms of round trips, one number per crawler:

- *Geography* says how far each crawler is from the site's place (`Outlook`). A place is a point, or some
  points around it where it is not known well: the settlements of its country near it, by their number of
  people, and a ring. Light gives a bound from below.
- The *field* is what other sites taught: a straight line that corrects the dependence on distance, levels of
  regions, organisations and subnets (`forest`), and the covariance between crawlers within a site.

`Field.expect` joins them to an `Expectation`. There is one field for sites with a place and one for those
without: what is learnt of the one does not hold for the other.

A place may stand for several points. What is learnt from a site is weighed by how likely its own samples made
each of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ipmicra.delegate.config import PredictConfig
from ipmicra.delegate.policies.predict.belief import Belief
from ipmicra.delegate.policies.predict.covariance import Covariance, Within
from ipmicra.delegate.policies.predict.forest import Branch, Forest
from ipmicra.delegate.ports import Settlements
from ipmicra.model.geo import FIBRE_KM_PER_MS, point_of, ring_around, unit_vectors, vector_distances_km
from ipmicra.model.location import Location
from ipmicra.model.types import Floats

POINT_KM = 10.0
"""A place known to within this is a point."""
SETTLED_KM = 50.0
"""A place known to within this is one settlement."""
OUTLOOKS_BYTES = 64_000_000
"""What the outlooks of places may take that are kept for the next site there."""
RING_MARGIN = 0.4
"""Radii taken off the distance of a point of the ring before light's time counts as a floor."""
MARGIN_KM = 100.0
"""The same for a settlement, which stands for others around it."""
MOST_SETTLEMENTS = 24
"""Settlements that stand for a place: the likeliest."""
WIDTHS = 1.5
"""Radii within which two thirds of a place's settlements count, beside their number of people."""
ABROAD = 0.2
"""Share of the ring beside settlements: the country may be wrong, and its neighbour right."""
NUGGET = 1e-4
"""Variance of a single sample beside all else; keeps matrices sound."""
MIDDLE = float(np.log(20.0))
"""Logarithm around which the dependence on distance turns."""
SURE = 1e-9


# --- geography


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a place says of a site's round trips: (point, crawler)."""

    levels: Floats
    """Expected logarithms."""
    floors: Floats
    """Milliseconds taken off before the logarithm."""
    least: Floats
    """Shortest round trips that light allows, in ms."""
    scores: Floats
    """Logarithms of the points' weights, which add up to 1."""
    unsure: Floats | None
    """Variances of the logarithms, for want of crawlers' places; None if all are known."""
    is_placed: bool


class Geography:
    """The crawlers' places; NaN where unknown."""

    def __init__(self, config: PredictConfig, settlements: Settlements | None = None) -> None:
        """Begin without crawlers."""
        self._config, self._settlements = config, settlements
        self.points: Floats = np.zeros((0, 3))
        self.known: NDArray[np.bool_] = np.zeros(0, np.bool_)
        self._nowhere: tuple[Floats, Floats] | None = None
        self._outlooks: dict[tuple[float, float, float, str | None], Outlook] = {}

    def add(self, location: Location | None) -> None:
        """Append a crawler."""
        self.points = np.concatenate([self.points, point_of(location)[None]])
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
        place = location.latitude, location.longitude, location.radius_km, location.country
        found = self._outlooks.get(place)
        if found is None:
            found = self._outlook_at(location)
            if len(self._outlooks) * 3 * found.levels.nbytes >= OUTLOOKS_BYTES:
                self._outlooks.clear()
            self._outlooks[place] = found
        return found

    def _outlook_at(self, location: Location) -> Outlook:
        centre = unit_vectors(location.latitude, location.longitude)
        if location.radius_km <= POINT_KM:
            return self.outlook_of(centre[None], np.ones(1), location.radius_km)
        ring = ring_around(centre, location.radius_km)
        weights, margins = np.ones(len(ring)), np.full(len(ring), RING_MARGIN * location.radius_km)
        settled = self._settled(location, centre)
        if settled is None:
            return self.outlook_of(ring, weights, margins[:, None])
        points, people = settled
        weights = np.concatenate((people / people.sum() * (1 - ABROAD), weights / len(ring) * ABROAD))
        margins = np.concatenate((np.full(len(points), MARGIN_KM), margins))
        return self.outlook_of(np.concatenate((points, ring)), weights, margins[:, None])

    def _settled(self, location: Location, centre: Floats) -> tuple[Floats, Floats] | None:
        """Return the settlements that a place stands for and their weights; None if there are none."""
        if location.radius_km <= SETTLED_KM or location.country is None or self._settlements is None:
            return None
        points, people = self._settlements.of(location.country)
        away = vector_distances_km(centre[None], points)[0] / (WIDTHS * location.radius_km)
        weights = people * np.exp(-0.5 * away**2)
        likeliest = np.argsort(-weights, kind="stable")[:MOST_SETTLEMENTS]
        likeliest = likeliest[away[likeliest] < 2.0]  # noqa: PLR2004 - widths
        return (points[likeliest], weights[likeliest]) if len(likeliest) else None

    def outlook_of(self, points: Floats, weights: Floats, off_km: float | Floats) -> Outlook:
        """Return the prior for a site at any of some points, give or take so many kilometres."""
        distances = self._distances(points)
        least = np.maximum(distances - off_km, 0.0) / FIBRE_KM_PER_MS
        least[:, ~self.known] = 0.0
        return Outlook(
            levels=self._levels(distances),
            floors=self._config.floor_share * least,
            least=least,
            scores=np.log(weights / weights.sum()),
            unsure=self.of_strangers(),
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
                covariance = (levels - mean).T @ (levels - mean) / len(levels)
            strangers = np.flatnonzero(~self.known) if self.known.sum() > 1 else np.arange(count)
            covariance[strangers, strangers] += config.unknown_pair_spread**2
            self._nowhere = mean, covariance
        return self._nowhere

    def _outlook_nowhere(self) -> Outlook:
        mean, _covariance = self.nowhere()
        nil = np.zeros((1, len(mean)))
        return Outlook(
            levels=mean[None], floors=nil, least=nil, scores=np.zeros(1), unsure=None, is_placed=False
        )

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

    def of_strangers(self) -> Floats | None:
        """Return variances that make crawlers of unknown place unsure; None if there are none."""
        return None if self.known.all() else np.where(self.known, 0.0, self._config.unknown_pair_spread**2)


# --- what other sites taught


@dataclass(frozen=True, slots=True)
class Samples:
    """One site's round trips, to learn from."""

    crawlers: NDArray[np.intp]
    rtts_ms: Floats
    places: Floats
    """How likely each point of the site's place is by now."""
    weight: float = 1.0
    """Below 1 they count as noisy ones."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """What is believed of a site before any sample of its own, one number per crawler."""

    outlook: Outlook
    branch: Branch
    means: Floats
    """At each point of its place."""
    covariance: Covariance
    level: Floats
    """The part of the mean that the levels give."""
    variance: Floats
    """How unsure the levels are."""
    sites: int
    """Sites learnt from until then."""

    def belief(self, config: PredictConfig) -> Belief:
        """Return what to condition on samples."""
        outlook = self.outlook
        return Belief(
            self.means,
            outlook.floors,
            outlook.least,
            outlook.scores,
            self.covariance,
            config.offset_ms,
            config.tail,
        )


class Field:
    """A Gaussian for every site: prior by distance + levels + what is common to a site and its crawlers.

    The covariance within a site starts from a simple form and follows the samples: for each site the
    expectation of the residuals' products, given what was seen, is added to `prior_sites` times that form
    (`Within`).
    """

    def __init__(self, config: PredictConfig, within: Floats) -> None:
        """Begin with the covariance within a site that is expected before any sample."""
        self._config = config
        self.forest = Forest(len(within))
        self._within = Within(within, config.prior_sites)
        self._line = np.zeros(2)
        self._line_covariance = np.diag([config.intercept_spread**2, config.slope_spread**2])

    def __repr__(self) -> str:
        """Say how much was learnt."""
        return f"<Field: {self.sites} sites, {self.forest!r}>"

    @property
    def within(self) -> Covariance:
        """The covariance between crawlers within a site."""
        return self._within.now

    @property
    def sites(self) -> int:
        """Sites learnt from."""
        return self._within.sites

    def add_crawler(self, within: Floats) -> None:
        """Make room for one more crawler; `within` is the simple covariance of all."""
        self._within.add_crawler(within)
        self.forest.add_crawler()

    def expect(self, outlook: Outlook, branch: Branch) -> Expectation:
        """Return what is believed of a site before any sample of its own."""
        level, variance = self.forest.expect(branch)
        means = self._by_distance(outlook.levels) + level
        line = _line(np.exp(outlook.scores) @ outlook.levels)
        own = variance + NUGGET
        if outlook.unsure is not None:
            own += outlook.unsure
        covariance = self.within.of_site(own, line, self._line_covariance)
        return Expectation(outlook, branch, means, covariance, level, variance, self.sites)

    def expect_beside(self, prior: Expectation, square: float) -> Expectation:
        """Return what is believed of a site in another slice of the same subnet, by the variance between."""
        return self.expect(prior.outlook, prior.branch.another_slice(square))

    def expect_at(self, levels: Floats, regions: Sequence[NDArray[np.intp] | None]) -> Floats:
        """Return the expected logarithms of any site at some points, (point, crawler).

        `levels` are those by distance alone; `regions` have the trees' nodes of each point, None if nothing
        was learnt there.
        """
        means = self._by_distance(levels)
        known = [i for i, nodes in enumerate(regions) if nodes is not None]
        if known:
            nodes = np.array([regions[i] for i in known])
            means[known] += self.forest.expect_regions(nodes, self._config.placed)
        return means

    def _by_distance(self, levels: Floats) -> Floats:
        found: Floats = levels + self._line[0] + self._line[1] * (levels - MIDDLE)
        return found

    def excess_over_kin(self, prior: Expectation, samples: Samples) -> float | None:
        """Return the mean squared deviation of samples from what other slices foretold, beyond the noise.

        None where other slices foretold nothing, or the slice itself is known: it says nothing of the others.
        """
        subnet, own = self.forest.found(prior.branch).common[-2:].tolist()
        seen = self.forest.knows(subnet)[samples.crawlers]
        if not seen.any() or self.forest.knows(own).any():
            return None
        residuals, covariance = self._residuals(prior, samples)
        noise = covariance.diagonal() - (prior.branch.slice_square or 0.0)
        return float((residuals**2 - noise)[seen].mean())

    def _residuals(self, prior: Expectation, samples: Samples) -> tuple[Floats, Floats]:
        """Return how far samples are from what was expected, as logarithms, and the covariance of that."""
        crawlers, weights = samples.crawlers, samples.places
        trips = np.maximum(samples.rtts_ms - prior.outlook.floors[:, crawlers], 0.0)
        residuals = np.log(trips + self._config.offset_ms) - prior.means[:, crawlers]
        mean = weights @ residuals
        apart = residuals - mean
        between = (apart * weights[:, None]).T @ apart
        return mean, prior.covariance.block(crawlers) + between

    def learn(self, prior: Expectation, samples: Samples) -> None:
        """Take in the samples of one site; `prior` is what was expected of it."""
        found, expected = self.forest.found(prior.branch), prior.branch.common
        if prior.sites != self.sites or (found.common != expected).any():
            prior = self.expect(prior.outlook, found)  # other sites taught something meanwhile
        branch = self.forest.grown(found)
        crawlers = samples.crawlers
        residuals, seen = self._residuals(prior, samples)
        if samples.weight < 1.0:
            seen = seen + np.diag(seen.diagonal()) * (1.0 / samples.weight - 1.0)
        inverse: Floats = np.asarray(np.linalg.inv(seen), np.float64)
        pull = inverse @ residuals
        self._within.learn(crawlers, inverse, pull)
        self._learn_line(_line((samples.places @ prior.outlook.levels)[crawlers]), inverse, pull)
        before = prior.variance[crawlers]
        after = np.maximum(before - before**2 * inverse.diagonal(), SURE)
        centre = prior.level[crawlers]
        precision = np.maximum(1.0 / after - 1.0 / before, 0.0)
        message = (centre + before * pull) / after - centre / before
        self.forest.learn(branch, crawlers, precision, message)

    def _learn_line(self, line: Floats, inverse: Floats, pull: Floats) -> None:
        """Update intercept and slope."""
        reach = self._line_covariance @ line.T
        self._line = self._line + reach @ pull
        self._line_covariance = self._line_covariance - reach @ inverse @ reach.T


def _line(levels: Floats) -> Floats:
    line = np.ones((len(levels), 2))
    line[:, 1] = levels - MIDDLE
    return line
