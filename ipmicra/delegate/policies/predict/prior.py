"""What geography says before any sample: expected logarithms, floors and how unsure the place makes them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ipmicra.delegate.config import PredictConfig
from ipmicra.model.geo import FIBRE_KM_PER_MS, ring_around, unit_vectors, vector_distances_km
from ipmicra.model.location import Location
from ipmicra.model.types import Floats

POINT_KM = 10.0
"""A place known to within this is a point."""
PLACES_KEPT = 2048
"""Places whose prior is kept: some 40 MB at most, for 50 crawlers."""
MARGIN = 1.2
"""Radii taken off a distance before light's time counts as a floor."""


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
        result[np.ix_(held, held)] = np.exp(-distances / self._config.together_km)
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
