"""From numbered parts to crawlers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ipmicra.model.geo import distances_km
from ipmicra.partition.centres import centres
from ipmicra.partition.methods.metis.graph import Vertices
from ipmicra.partition.problem import Column, Problem

_FAR_KM = 1e9
"""Farther than anything: a part must not go to a crawler of another capacity."""


def parts_to_crawlers(problem: Problem, vertices: Vertices, part: NDArray[np.int64]) -> Column:
    """Assign each part to one crawler: the nearest to its centre, as far as all can have their nearest.

    Floating crawlers take the parts as numbered. Parts were cut for the capacity of the crawler of the same
    number, so a part only goes to a crawler of the same capacity.
    """
    if problem.crawlers.is_placed:
        part = _nearest(problem, vertices, part)[part]
    return part[vertices.of_site].astype(np.int32)


def _nearest(problem: Problem, vertices: Vertices, part: NDArray[np.int64]) -> NDArray[np.int64]:
    """Find the crawler of each part so that pages × distance is least in all."""
    from scipy.optimize import linear_sum_assignment

    crawlers, parts = problem.crawlers, problem.parts
    weights = np.maximum(vertices.pages, 1.0)
    latitude, longitude = centres(part, parts, (vertices.latitude, vertices.longitude), weights)
    away = distances_km(
        latitude[:, None], longitude[:, None], crawlers.latitude[None, :], crawlers.longitude[None, :]
    )
    pages = np.bincount(part, weights, parts)
    cost = np.nan_to_num(away, nan=0.0) * pages[:, None]
    is_other = crawlers.capacity[:, None] != crawlers.capacity[None, :]
    rows, columns = linear_sum_assignment(cost + is_other * _FAR_KM * pages.sum())
    crawler = np.empty(parts, np.int64)
    crawler[rows] = columns
    return crawler


def renumbered(column: Column, before: Column, parts: int) -> Column:
    """Renumber parts so that as many sites as possible keep their number."""
    from scipy.optimize import linear_sum_assignment

    shared = np.bincount(column * np.int64(parts) + before, minlength=parts * parts).reshape(parts, parts)
    rows, columns = linear_sum_assignment(shared, maximize=True)
    number = np.empty(parts, np.int32)
    number[rows] = columns
    return number[column]
