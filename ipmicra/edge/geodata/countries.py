"""The middle of each country's people, where the country itself is not in doubt.

A country that comes from a registry may be the wrong one; `locate` gives it a wider radius for that.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from ipmicra.edge.geodata.places import load_gazetteer
from ipmicra.model.geo import degrees_of, unit_vectors, vector_distances_km
from ipmicra.model.location import Location
from ipmicra.model.types import Floats

SHARE_WITHIN = 0.8
"""Share of the people within the radius: four of five, as `Location` has it."""
LEAST_RADIUS_KM = 30.0


@cache
def country_middles() -> dict[str, Location]:
    """Return the middle of each country, by its two letters: where its people are, not its area."""
    return {country: _middle(country, rows) for country, rows in _cities().items()}


@cache
def _cities() -> dict[str, Floats]:
    """Return the cities of each country: latitude, longitude, people."""
    gazetteer = load_gazetteer()
    cities: dict[str, list[tuple[float, float, float]]] = {}
    for number in range(gazetteer.city_count()):
        city = gazetteer.city(number)
        cities.setdefault(city.country, []).append((city.latitude, city.longitude, max(city.population, 1)))
    return {country: np.array(rows) for country, rows in cities.items()}


def _middle(country: str, cities: Floats) -> Location:
    """Return the mean of cities (latitude, longitude, people) on the sphere."""
    points, people = unit_vectors(cities[:, 0], cities[:, 1]), cities[:, 2] / cities[:, 2].sum()
    mean = people @ points
    mean /= np.linalg.norm(mean)
    latitude, longitude = degrees_of(mean)
    distances = vector_distances_km(mean[None], points)[0]
    order = distances.argsort()
    reached = min(int(np.searchsorted(people[order].cumsum(), SHARE_WITHIN)), len(order) - 1)
    return Location(
        latitude=float(latitude),
        longitude=float(longitude),
        radius_km=max(LEAST_RADIUS_KM, float(distances[order][reached])),
        country=country,
    )


class CountrySettlements:
    """Where the people of each country live, in cells of a degree: `Settlements` of the delegator."""

    def __init__(self) -> None:
        """Load nothing yet: most runs ask for few countries, many for none."""
        self._found: dict[str, tuple[Floats, Floats]] = {}

    def of(self, country: str) -> tuple[Floats, Floats]:
        """Return points of a country, as unit vectors, and the people around each; none for no country."""
        found = self._found.get(country)
        if found is None:
            found = self._found[country] = _cells(_cities().get(country, np.zeros((0, 3))))
        return found


def _cells(cities: Floats) -> tuple[Floats, Floats]:
    """Return the middles of cells (unit vectors), weighted by their people, and the people."""
    _cell, at = np.unique(np.floor(cities[:, :2]), axis=0, return_inverse=True)
    people = np.asarray(np.bincount(at.ravel(), cities[:, 2]), np.float64)
    latitude, longitude = (np.bincount(at.ravel(), cities[:, i] * cities[:, 2]) / people for i in (0, 1))
    return unit_vectors(latitude, longitude), people
