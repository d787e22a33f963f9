"""Where a site may be whose place is unknown or wrong: what its own samples and its neighbours' say.

How it works
------------
A site is somewhere: at a place where sites or crawlers were seen before. Each such place (`Candidates`) says
what the round trips from all crawlers would be, by distance. Samples make some places likely and rule others
out, as in finding a position by distances from known points; what is expected of the other crawlers is the
mean over the places that are left, and the covariance is their spread plus what any site shows.

Samples of other sites in the same slice or subnet count as well, the less the farther slices of the subnet
are apart (`Kinship`): they weigh the places, but say nothing of the site's own access line.

A Gaussian around the mean of all places, which is what stands for an unknown place where crawlers have none,
needs more probes to find the nearest crawler: round trips from a few points on Earth are far from
Gaussian before the first sample, and close to it after the second.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log

import numpy as np
from numpy.typing import NDArray

from ipmicra.delegate.attempt import Attempt
from ipmicra.delegate.config import PredictConfig
from ipmicra.delegate.policies.predict.belief import Normal, student_constant
from ipmicra.delegate.policies.predict.prior import Outlook
from ipmicra.delegate.subnets import slice_of
from ipmicra.model.geo import unit_vectors, vector_distances_km
from ipmicra.model.location import Location
from ipmicra.model.types import Floats

Beside = Mapping[int, tuple[float, float]]
"""What neighbours say: a logarithm and its variance for each crawler."""
CELL_DEGREES = 2.0
"""Places in one cell of this width are one candidate."""
MOST = 256
"""Candidates that are kept: those of the crawlers, and the first places that were seen."""


class Neighbours:
    """Samples of sites without a place, as logarithms: what they say of others in their slice and subnet."""

    def __init__(self) -> None:
        """Begin with none."""
        self._seen: dict[int, dict[int, float]] = {}

    def learn(self, keys: tuple[int, ...], values: Mapping[int, float]) -> None:
        """Take in a site's samples for its subnet and its slice; several of a crawler are averaged."""
        for key in keys:
            known = self._seen.setdefault(key, {})
            for crawler, value in values.items():
                known[crawler] = 0.5 * (known.get(crawler, value) + value)

    def of(self, keys: tuple[int, ...], variances: tuple[float, ...]) -> dict[int, tuple[float, float]]:
        """Return what is known of each crawler, with its variance; the last key that knows it counts."""
        found: dict[int, tuple[float, float]] = {}
        for key, variance in zip(keys, variances, strict=True):
            for crawler, value in self._seen.get(key, {}).items():
                found[crawler] = value, variance
        return found


class Candidates:
    """Places where sites may be, with the expected logarithms of round trips to all crawlers."""

    def __init__(self, config: PredictConfig) -> None:
        """Begin with none."""
        self._config = config
        self._constant = student_constant(config.tail)
        self._points: list[Floats] = []
        self._weights: list[float] = []
        self._cells: dict[tuple[int, int], int] = {}
        self._crawlers: Floats = np.zeros((0, 3))
        self._levels: Floats | None = None

    def __len__(self) -> int:
        """Count the places."""
        return len(self._points)

    def add(self, location: Location) -> None:
        """Count a site or a crawler at a place."""
        cell = int(location.latitude // CELL_DEGREES), int(location.longitude // CELL_DEGREES)
        known = self._cells.get(cell)
        if known is not None:
            self._weights[known] += 1.0
        elif len(self._points) < MOST:
            self._cells[cell] = len(self._points)
            self._points.append(unit_vectors(location.latitude, location.longitude))
            self._weights.append(1.0)
            self._levels = None

    def set_crawlers(self, points: Floats) -> None:
        """Take over the crawlers' places, unit vectors; all of them are known."""
        self._crawlers, self._levels = points, None

    @property
    def levels(self) -> Floats:
        """Expected logarithms, (place, crawler)."""
        if self._levels is None:
            config = self._config
            distances = vector_distances_km(np.array(self._points), self._crawlers)
            self._levels = np.log(distances * config.slope_ms_per_km + config.base_ms + config.offset_ms)
        return self._levels

    def believed(
        self,
        within: Floats,
        own: Mapping[int, float],
        beside: Beside,
    ) -> tuple[Normal, float]:
        """Return what is believed of a site, and the logarithm of the density of its samples.

        `within` is the covariance of any site's round trips at a known place; `own` has its samples as
        logarithms; `beside` has the neighbours', each with the variance that is between.
        """
        levels = self.levels
        scores = np.log(np.array(self._weights) + 1.0)
        scores = scores - log(float(np.exp(scores).sum()))
        if beside:
            near = np.array(list(beside), dtype=np.intp)
            values, variances = np.array(list(beside.values())).T
            scores = scores + self._tail(levels[:, near] - values, variances + within[near, near]).sum(axis=1)
            scores = scores - scores.max()
            scores = scores - log(float(np.exp(scores).sum()))
        if not own:
            return _moments(levels, within, scores), 0.0
        some = np.array(list(own), dtype=np.intp)
        deviations = np.array(list(own.values())) - levels[:, some]
        scores = scores + self._tail(deviations, within[some, some]).sum(axis=1)
        top = float(scores.max())
        density = top + log(float(np.exp(scores - top).sum())) - sum(own.values())
        gain = np.linalg.solve(within[some[:, None], some], within[some]).T
        left = within - gain @ within[some]
        belief = _moments(levels + deviations @ gain.T, left, scores - top)
        return _fixed(belief, some, np.array(list(own.values()))), density

    def _tail(self, deviations: Floats, variances: Floats) -> Floats:
        """Return logarithms of Student densities."""
        freedom = self._config.tail
        found: Floats = -0.5 * (freedom + 1) * np.log1p(deviations**2 / (variances * freedom))
        return found - 0.5 * np.log(variances) + self._constant


def _moments(means: Floats, covariance: Floats, scores: Floats) -> Normal:
    """Return the Gaussian with the moments of a mixture; `scores` are logarithms of weights."""
    weights = np.exp(scores)
    weights /= weights.sum()
    mean = weights @ means
    apart = means - mean
    return Normal(mean, covariance + (apart * weights[:, None]).T @ apart)


def _fixed(belief: Normal, crawlers: NDArray[np.intp], values: Floats) -> Normal:
    """Set what was measured."""
    belief.mean[crawlers] = values
    belief.covariance[crawlers, :] = 0.0
    belief.covariance[:, crawlers] = 0.0
    return belief


class Whereabouts:
    """What is believed of sites without a place."""

    def __init__(self, config: PredictConfig) -> None:
        """Begin without places."""
        self._config = config
        self._candidates, self._neighbours = Candidates(config), Neighbours()
        self._crawlers: Floats = np.zeros((0, 3))

    def add_crawler(self, place: Location | None, points: Floats) -> None:
        """Take note of a crawler; `points` has the places of all."""
        if place is not None:
            self._candidates.add(place)
        self._crawlers = points
        self._candidates.set_crawlers(points)

    @property
    def is_known(self) -> bool:
        """Whether enough places of sites are known, and those of all crawlers."""
        few = self._config.mixed_places + len(self._crawlers)
        return len(self._candidates) >= few and not np.isnan(self._crawlers).any()

    def beside(self, attempt: Attempt, between: float | None) -> Beside:
        """Return what sites without a place in an attempt's slice and subnet say of it.

        `between` is the variance between slices of the subnet, None if it is no wider than one.
        """
        own, variance = slice_of(attempt.address), self._config.unplaced.subnet**2
        if between is None:
            return self._neighbours.of((own,), (variance,))
        return self._neighbours.of((attempt.row, own), (between, variance))

    def believed(self, within: Floats, own: Mapping[int, float], beside: Beside) -> tuple[Normal, float]:
        """Return what is believed of a site, and the logarithm of the density of its samples.

        `within` is the covariance of any site's round trips, apart from what its region adds.
        """
        spread, together = self._config.placed, within.copy()
        regional = spread.root**2 + spread.coarse**2 + spread.country**2 + spread.fine**2
        together.flat[:: len(together) + 1] += regional
        return self._candidates.believed(together, own, beside)

    def learn(self, attempt: Attempt, values: Mapping[int, float], outlook: Outlook) -> None:
        """Note where a site is, or else what it says of its neighbours."""
        place = attempt.location
        if place is not None and outlook.is_placed and place.radius_km <= self._config.coarse_km:
            self._candidates.add(place)
        elif not outlook.is_placed:
            self._neighbours.learn((attempt.row, slice_of(attempt.address)), values)
