"""Load balancing on INSERT: an overloaded crawler hands a task on to a neighbour that has less to do."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ipmicra.assign.balance.config import LbiConfig
from ipmicra.model.types import Floats, Rows

_LEAST = 1e-9
"""Kept from zero: loads and distances are weighed relative to their mean."""


def forwarded(
    first: int,
    task_load: NDArray[np.generic],
    page_load: Floats,
    neighbours: Callable[[int], Rows],
    *,
    config: LbiConfig,
    distance: Callable[[Rows], Floats] | None = None,
) -> list[int]:
    """Give the crawlers that a task passes, from the one in whose zone its key lies to the one that takes it.

    Loads are relative to capacity, one a crawler. A crawler hands a task on while it is overloaded and a
    neighbour is better off than itself; after `config.hops` steps the last one must take it. `distance` (from
    crawlers to the site, in milliseconds) is needed where the config gives distance a weight.
    """
    path = [first]
    while len(path) <= config.hops and task_load[path[-1]] > config.threshold:
        around = np.append(neighbours(path[-1]), path[-1])
        scores = page_load[around]
        if config.distance_weight and distance is not None:
            scores = weighed(scores, distance(around), config.distance_weight)
        best = int(around[scores.argmin()])
        if best == path[-1] or scores.min() >= scores[-1]:
            break
        path.append(best)
    return path


def weighed(loads: Floats, distances: Floats, distance_weight: float) -> Floats:
    """Add loads and distances, each relative to its mean; an infinite load stays infinite."""
    scaled_loads, scaled_distances = (values / _mean(values) for values in (loads, distances))
    total: Floats = (1 - distance_weight) * scaled_loads + distance_weight * scaled_distances
    return np.where(np.isfinite(loads), total, np.inf)


def _mean(values: Floats) -> float:
    finite = values[np.isfinite(values)]
    return max(float(finite.mean()), _LEAST) if len(finite) else 1.0
