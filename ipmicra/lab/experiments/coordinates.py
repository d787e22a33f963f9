"""How well coordinates name the nearest crawler, method by method.

Crawlers are drawn at random; the others are hosts. Crawlers know the round trips among themselves; each host
is measured by the landmarks alone, which are crawlers too. A method may use just that, and must name the
nearest of all crawlers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ipmicra.assign.coordinate.coordinates import Coordinates
from ipmicra.errors import InputError
from ipmicra.model.types import Floats

FEWEST = 2
"""Landmarks below which there is no distance between them."""
TOP = 5
"""Candidates that count as the best few."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What is tried."""

    crawlers: int = 60
    landmarks: int = 20
    chooses_landmarks: bool = True
    """Whether landmarks are chosen for what they reveal; else the first crawlers drawn are the landmarks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """How a method did; shares are between 0 and 1."""

    top1: float
    """Hosts whose nearest crawler was named."""
    top5: float
    """Hosts whose nearest crawler is among the five best."""
    mean_excess_ms: float
    """Mean round trip to the crawler named less that to the nearest."""
    median_relative_error: float
    """Of the round trips that no landmark measured."""
    within_tenth: float
    """Share of these round trips whose relative error is below a tenth."""
    within_half: float
    hosts_per_second: float
    errors: Floats
    """All relative errors, for their distribution: figures 8 and 13 of Xu et al. 2010."""


def try_method(rtt_ms: Floats, method: str, trial: Trial, seed: int, clock: Callable[[], float]) -> Accuracy:
    """Try a method once on a matrix of round trips (0 or NaN where a pair is unknown)."""
    if not FEWEST <= trial.landmarks <= trial.crawlers < len(rtt_ms):
        raise InputError(
            f"{trial.crawlers} crawlers with {trial.landmarks} landmarks do not fit {len(rtt_ms)} nodes: "
            "there must be at least 2 landmarks, no more than crawlers, and nodes left to be hosts"
        )
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(rtt_ms))
    crawlers, hosts = order[: trial.crawlers], order[trial.crawlers :]
    wanted: int | Sequence[int] = trial.landmarks if trial.chooses_landmarks else range(trial.landmarks)
    fitted = Coordinates.fit(rtt_ms[np.ix_(crawlers, crawlers)], rng=rng, landmarks=wanted, method=method)
    truth = rtt_ms[np.ix_(hosts, crawlers)]
    truth = np.where(truth > 0, truth, np.nan)
    truth = truth[np.isfinite(truth).any(axis=1)]
    samples = np.full_like(truth, np.nan)
    samples[:, fitted.landmarks] = truth[:, fitted.landmarks]
    start = clock()
    predicted = fitted.predict(samples)
    seconds = clock() - start
    return _accuracy_of(
        truth, predicted, fitted.nearest(samples, TOP), samples, len(truth) / max(seconds, 1e-9)
    )


def _accuracy_of(
    truth: Floats, predicted: Floats, named: NDArray[np.intp], samples: Floats, speed: float
) -> Accuracy:
    known = np.where(np.isfinite(truth), truth, np.inf)
    least = known.min(axis=1)
    of_named = np.take_along_axis(known, named, axis=1)
    excess = np.where(np.isfinite(of_named[:, 0]), of_named[:, 0], np.nan) - least
    is_open = np.isfinite(truth) & ~np.isfinite(samples)
    error = np.abs(predicted[is_open] - truth[is_open]) / truth[is_open]
    return Accuracy(
        top1=float(np.mean(of_named[:, 0] == least)),
        top5=float(np.mean((of_named == least[:, None]).any(axis=1))),
        mean_excess_ms=float(np.nanmean(excess)),
        median_relative_error=float(np.median(error)) if error.size else 0.0,
        within_tenth=float((error < 0.1).mean()) if error.size else 1.0,  # noqa: PLR2004
        within_half=float((error < 0.5).mean()) if error.size else 1.0,  # noqa: PLR2004
        hosts_per_second=speed,
        errors=error,
    )
