"""What an embedding leaves unexplained, learnt from the crawlers' own rows by kernel ridge regression.

Each crawler is also a host whose round trips to all the others are known. A new host is given the
corrections of the crawlers that it resembles: in its round trips to the landmarks (a bell), and in where the
embedding misses those round trips (a line). All of it in logarithms, since errors grow with the round trip.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ipmicra.assign.coordinate.config import RidgeConfig
from ipmicra.model.types import Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """What two hosts are compared by: both in logarithms, one row per host, one column per landmark."""

    samples: Floats
    surprise: Floats
    """Sample less what the embedding says; 0 where there is no sample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One choice of the regression's three numbers."""

    width: float
    slope: float
    penalty: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ridge:
    """A fitted correction: for any host, what to add to the logarithm of each crawler's estimate."""

    known: Likeness
    scale: float
    """Median squared distance between the crawlers' sample vectors."""
    unit: float
    """Mean square of the crawlers' surprise."""
    settings: tuple[Setting, ...]
    duals: tuple[Floats, ...]
    """Weights of the crawlers' rows, one table per setting."""
    left_out: Floats
    """Corrections of the crawlers, each found without its own row."""

    def corrections(self, hosts: Likeness) -> Floats:
        """Return the mean correction of all settings."""
        total = np.zeros((len(hosts.samples), len(self.known.samples)))
        for setting, dual in zip(self.settings, self.duals, strict=True):
            total += _kernel(hosts, self.known, setting, self.scale, self.unit) @ dual
        return total / len(self.settings)


def likeness(rtt_ms: Floats, estimated_ms: Floats, floor_ms: float) -> Likeness:
    """Return what hosts are compared by; the embedding's estimate fills in for a missing sample."""
    estimated = np.log(estimated_ms + floor_ms)
    samples = np.where(np.isfinite(rtt_ms), np.log(rtt_ms + floor_ms), estimated)
    return Likeness(samples=samples, surprise=samples - estimated)


def fit_ridge(known: Likeness, errors: Floats, config: RidgeConfig) -> Ridge:
    """Fit to the errors that an embedding makes on the crawlers' rows; NaN where there is no truth.

    Every setting is tried on each crawler with its own row left out (in closed form); the best few are kept.
    """
    is_known = np.isfinite(errors)
    target = np.where(is_known, errors, 0.0)
    squares = _squares(known.samples, known.samples)
    scale = float(np.median(squares[~np.eye(len(squares), dtype=bool)])) or 1.0
    unit = float(np.mean(known.surprise**2)) or 1.0
    trials = []
    for numbers in product(config.widths, config.slopes, config.penalties):
        setting = Setting(width=numbers[0], slope=numbers[1], penalty=numbers[2])
        dual, left_out = _solved(_kernel(known, known, setting, scale, unit), target, setting.penalty)
        loss = float(np.mean((target - left_out)[is_known] ** 2))
        trials.append((loss, setting, dual, left_out))
    best = sorted(trials, key=lambda trial: trial[0])[: config.kept]
    return Ridge(
        known=known,
        scale=scale,
        unit=unit,
        settings=tuple(setting for _, setting, _, _ in best),
        duals=tuple(dual for _, _, dual, _ in best),
        left_out=np.mean([left_out for _, _, _, left_out in best], axis=0),
    )


def _solved(kernel: Floats, target: Floats, penalty: float) -> tuple[Floats, Floats]:
    """Return the weights, and the prediction of each row made without it."""
    inverse = np.linalg.inv(kernel + penalty * np.eye(len(kernel)))
    dual = inverse @ target
    return dual, target - dual / np.diag(inverse)[:, None]


def _kernel(one: Likeness, other: Likeness, setting: Setting, scale: float, unit: float) -> Floats:
    """Return how alike hosts are."""
    bell = np.exp(-_squares(one.samples, other.samples) / (scale * setting.width))
    line: NDArray[np.float64] = one.surprise @ other.surprise.T / (one.surprise.shape[1] * unit)
    kernel: Floats = bell + setting.slope * line
    return kernel


def _squares(one: Floats, other: Floats) -> Floats:
    """Return mean squared differences of all pairs of rows."""
    total = (one**2).sum(axis=1)[:, None] + (other**2).sum(axis=1) - 2 * one @ other.T
    squares: Floats = np.maximum(total, 0) / one.shape[1]
    return squares
