"""Centres of groups of places on the Earth."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ipmicra.model.geo import degrees_of, unit_vectors
from ipmicra.model.types import Floats, Rows


def centres(
    group: Rows | NDArray[np.int32], count: int, places: tuple[Floats, Floats], weights: Floats
) -> tuple[Floats, Floats]:
    """Return latitude and longitude of the weighted centre of each group, NaN for an empty one.

    Members without a place do not count. Groups whose weights are all zero, or whose members stand
    opposite each other, have no centre either.
    """
    is_placed = np.isfinite(places[0]) & (weights > 0)
    member, weight = group[is_placed], weights[is_placed]
    vectors = unit_vectors(places[0][is_placed], places[1][is_placed]) * weight[:, None]
    sums = np.array([np.bincount(member, axis, count) for axis in vectors.T], np.float64).T
    latitude, longitude = degrees_of(sums)
    has_centre = sums.any(axis=1)
    return np.where(has_centre, latitude, np.nan), np.where(has_centre, longitude, np.nan)
