"""GNP: any number of hosts, placed against landmarks whose coordinates are known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ipmicra.assign.coordinate.config import GnpConfig
from ipmicra.assign.coordinate.levenberg import Anchors, Task, descend
from ipmicra.errors import InputError
from ipmicra.model.types import Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedding:
    """Coordinates of hosts: vectors, and heights where the embedding has them."""

    points: Floats
    heights: Floats
    error: Floats
    """Mean relative error of each host's samples; NaN for a host without any."""

    def distances(self, other: Embedding) -> Floats:
        """Estimate the round trips from these hosts (rows) to others (columns), in milliseconds."""
        squares = (
            np.einsum("ij,ij->i", self.points, self.points)[:, None]
            + np.einsum("ij,ij->i", other.points, other.points)
            - 2 * self.points @ other.points.T
        )
        estimated: Floats = np.sqrt(np.maximum(squares, 0)) + self.heights[:, None] + other.heights
        return estimated

    def part(self, rows: NDArray[np.intp]) -> Embedding:
        """Return some of the hosts."""
        return Embedding(points=self.points[rows], heights=self.heights[rows], error=self.error[rows])


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """Where hosts with few samples are expected."""

    points: Floats
    """One row per host."""
    pull: float
    """What a relative error of the place counts beside one sample's."""


def place_hosts(
    rtt_ms: Floats,
    anchors: Anchors,
    config: GnpConfig,
    *,
    expectation: Expectation | None = None,
    rng: np.random.Generator | None = None,
) -> Embedding:
    """Place hosts by their round trips to the anchors, NaN where missing; all of them at once.

    A host without a single sample stands in the middle of the anchors, or where it is expected. A second and
    further starts need `rng`.
    """
    task = weighed(rtt_ms, config.nearness)
    if expectation is not None:
        task = _pulled(task, expectation, config)
    best, errors = descend(anchors, task, _started(_near_start(task, anchors), config), config.descent)
    for _ in range(config.starts - 1):
        if rng is None:
            raise InputError("several starts need random numbers: pass a generator")
        start = _started(_random_start(len(rtt_ms), anchors, rng), config)
        ends, again = descend(anchors, task, start, config.descent)
        is_better = again < errors
        best[is_better], errors[is_better] = ends[is_better], again[is_better]
    return embedded(best, rtt_ms, anchors)


def weighed(rtt_ms: Floats, nearness: float) -> Task:
    """Make the task of samples whose errors count relative to the round trip."""
    is_known = np.isfinite(rtt_ms)
    filled = np.where(is_known, rtt_ms, 1.0)
    return Task(rtt_ms=filled, weights=np.where(is_known, filled**-nearness, 0.0))


def _pulled(task: Task, expectation: Expectation, config: GnpConfig) -> Task:
    """Pull hosts with too few samples to fix their place to where they are expected."""
    counts = np.count_nonzero(task.weights, axis=1)
    mean = task.weights.sum(axis=1) / np.maximum(counts, 1)
    pull = np.where(counts > config.dimensions + config.has_height, 0.0, expectation.pull * mean)
    pull = np.where(counts == 0, 1.0, pull)
    return Task(
        rtt_ms=task.rtt_ms, weights=task.weights, expected=_started(expectation.points, config), pull=pull
    )


def embedded(state: Floats, rtt_ms: Floats, anchors: Anchors) -> Embedding:
    """Make an embedding of fitted coordinates, with each host's mean relative error."""
    dimensions = anchors.points.shape[1]
    points = state[:, :dimensions]
    heights = state[:, dimensions] if state.shape[1] > dimensions else np.zeros(len(state))
    blank = np.zeros(len(anchors.points))
    estimated = Embedding(points=points, heights=heights, error=heights).distances(
        Embedding(points=anchors.points, heights=anchors.heights, error=blank)
    )
    is_known = np.isfinite(rtt_ms)
    relative = np.where(is_known, np.abs(estimated - rtt_ms) / np.where(is_known, rtt_ms, 1.0), 0.0)
    counts = is_known.sum(axis=1)
    error = np.where(counts > 0, relative.sum(axis=1) / np.maximum(counts, 1), np.nan)
    return Embedding(points=points, heights=heights, error=error)


def _started(points: Floats, config: GnpConfig) -> Floats:
    """Add the column of heights, at 0, where the embedding has them."""
    return np.column_stack([points, np.zeros(len(points))]) if config.has_height else points


def _near_start(task: Task, anchors: Anchors) -> Floats:
    """Start between the anchors, near those that are near."""
    pull = task.weights**2
    total = pull.sum(axis=1, keepdims=True)
    return np.where(
        total > 0, pull @ anchors.points / np.where(total > 0, total, 1), anchors.points.mean(axis=0)
    )


def _random_start(hosts: int, anchors: Anchors, rng: np.random.Generator) -> Floats:
    """Start around a random anchor."""
    spread = anchors.points.std() / 2
    drawn = anchors.points[rng.integers(0, len(anchors.points), hosts)]
    start: Floats = drawn + rng.normal(0, 1, drawn.shape) * spread
    return start
