"""Landmarks: which crawlers to choose, and where they stand by their mutual round trips."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ipmicra.assign.coordinate.config import DescentConfig, GnpConfig
from ipmicra.assign.coordinate.levenberg import Anchors
from ipmicra.errors import InputError
from ipmicra.model.types import Floats

_TINY = 1e-9
_EXACTNESS = 1e-8
"""Part of the squared remainder at which a step is solved well enough."""


def choose_landmarks(mutual_ms: Floats, count: int, *, floor_ms: float, noise: float) -> NDArray[np.intp]:
    """Choose the crawlers whose round trips predict those to all the others best.

    A host's round trips to all crawlers are taken as one draw from a Gaussian whose covariance the crawlers'
    own rows give (in logarithms, `floor_ms` added). The next landmark is the crawler that, once measured
    with a relative error of `noise`, leaves the least variance of all the rest.
    """
    if not 1 <= count <= len(mutual_ms):
        raise InputError(f"{count} landmarks cannot be chosen from {len(mutual_ms)} crawlers")
    logs = np.log(mutual_ms + floor_ms)
    means = np.nanmean(np.where(np.isfinite(logs).any(axis=0), logs, 0.0), axis=0)
    rows = np.where(np.isfinite(logs), logs, means)
    np.fill_diagonal(rows, np.log(floor_ms))
    rows -= rows.mean(axis=0)
    covariance = rows.T @ rows / len(rows) + noise**2 * np.eye(len(rows))
    is_heard = np.isfinite(mutual_ms).any(axis=0)
    chosen: list[int] = []
    for _ in range(count):
        variance = np.maximum(np.diag(covariance), _TINY)
        gain = np.where(is_heard, (covariance**2).sum(axis=0) / variance, -1.0)
        gain[chosen] = -np.inf
        best = int(gain.argmax())
        chosen.append(best)
        covariance = covariance - np.outer(covariance[:, best], covariance[best]) / variance[best]
    return np.array(chosen, dtype=np.intp)


def place_landmarks(mutual_ms: Floats, config: GnpConfig, rng: np.random.Generator) -> Anchors:
    """Place landmarks so that the relative error over all pairs is least; NaN where a pair was not measured.

    Descends with all coordinates at once, from classical scaling and from random places; the best end counts.
    """
    if len(mutual_ms) < 2 or not np.isfinite(mutual_ms).any():  # noqa: PLR2004
        raise InputError("coordinates need at least two landmarks with a round trip between them")
    silent = np.flatnonzero(~np.isfinite(mutual_ms).any(axis=1))
    if len(silent):
        raise InputError(
            f"landmark {int(silent[0])} has no round trip to another one: leave it out or measure it"
        )
    spread = float(np.nanmedian(mutual_ms)) / 2
    shape = (len(mutual_ms), config.dimensions)
    starts = [_scaled(mutual_ms, config.dimensions)]
    starts += [rng.normal(0, spread, shape) for _ in range(config.landmark_starts - 1)]
    pairs = _Pairs(mutual_ms, config)
    ends = [pairs.descended(start, config.descent) for start in starts]
    best, _ = min(ends, key=lambda end: end[1])
    heights = best[:, config.dimensions] if config.has_height else np.zeros(len(best))
    return Anchors(points=best[:, : config.dimensions], heights=heights)


class _Pairs:
    """The measured pairs of landmarks, and the descent over all of their coordinates."""

    def __init__(self, mutual_ms: Floats, config: GnpConfig) -> None:
        first, second = np.triu_indices(len(mutual_ms), 1)
        rtt_ms = mutual_ms[first, second]
        is_known = np.isfinite(rtt_ms)
        self.first, self.second, self.rtt_ms = first[is_known], second[is_known], rtt_ms[is_known]
        self.weights = self.rtt_ms**-config.nearness
        self.weights *= float(np.median(self.rtt_ms)) ** (config.nearness - 1)  # one unit for all powers
        self.dimensions = config.dimensions
        self.has_height = config.has_height

    def descended(self, start: Floats, config: DescentConfig) -> tuple[Floats, float]:
        """Return the end of the descent from a start, and its error (sum of squares)."""
        state = np.column_stack([start, np.zeros(len(start))]) if self.has_height else start
        slopes, misfit = self._misfit(state)
        error, damping = float((misfit * misfit).sum()), config.first_damping
        for _ in range(config.rounds * 3):
            trial = self._stepped(state, slopes, misfit, damping)
            trial_slopes, trial_misfit = self._misfit(trial)
            gain = error - float((trial_misfit * trial_misfit).sum())
            if gain > 0:
                state, slopes, misfit, error = trial, trial_slopes, trial_misfit, error - gain
                damping *= config.damping_down
            else:
                damping *= config.damping_up
            if 0 <= gain < config.enough * error / 10 or damping > 1 / _TINY:
                break
        return state, error

    def _misfit(self, state: Floats) -> tuple[Floats, Floats]:
        """Return the weighted errors of the pairs, and how each changes with either of its landmarks."""
        offsets = state[self.first, : self.dimensions] - state[self.second, : self.dimensions]
        distance = np.sqrt(np.einsum("ij,ij->i", offsets, offsets)) + _TINY
        direction = offsets * (self.weights / distance)[:, None]
        slopes = np.stack([direction, -direction])
        estimated = distance
        if self.has_height:
            estimated = estimated + state[self.first, -1] + state[self.second, -1]
            weights = np.broadcast_to(self.weights[:, None], (2, len(estimated), 1))
            slopes = np.concatenate([slopes, weights], axis=2)
        return slopes, (estimated - self.rtt_ms) * self.weights

    def _stepped(self, state: Floats, slopes: Floats, misfit: Floats, damping: float) -> Floats:
        """Take one damped step; heights stay at or above 0.

        The normal equations are put together pair by pair: a pair touches four of their blocks.
        """
        count, width = state.shape
        normal = np.zeros((count, count, width, width))
        gradient = np.zeros((count, width))
        ends = (self.first, self.second)
        for row, rows in enumerate(ends):
            np.add.at(gradient, rows, slopes[row] * misfit[:, None])
            for column, columns in enumerate(ends):
                block = slopes[row][:, :, None] * slopes[column][:, None, :]
                np.add.at(normal, (rows, columns), block)
        matrix = normal.transpose(0, 2, 1, 3).reshape(count * width, count * width)
        diagonal = matrix.diagonal()
        spread = damping * diagonal + _TINY * (1 + diagonal.max())
        matrix[np.diag_indices_from(matrix)] += spread
        trial = state - _solved(matrix, gradient.ravel()).reshape(state.shape)
        if self.has_height:
            np.maximum(trial[:, -1], 0, out=trial[:, -1])
        return trial


def _solved(matrix: Floats, target: Floats) -> Floats:
    """Solve a positive definite system by conjugate gradients, scaled by the diagonal.

    A step of a descent need not be exact. LAPACK would start threads for a matrix of this size, and on a busy
    machine they take far longer to wait for one another than the work takes.
    """
    scale = 1 / matrix.diagonal()
    answer = np.zeros_like(target)
    left = target.copy()
    turned = scale * left
    direction = turned.copy()
    size = float((left * turned).sum())
    enough = _EXACTNESS * size
    for _ in range(len(target)):
        if size <= enough:
            break
        pushed = np.einsum("ij,j->i", matrix, direction)
        step = size / float((direction * pushed).sum())
        answer += step * direction
        left -= step * pushed
        turned = scale * left
        size, before = float((left * turned).sum()), size
        direction = turned + (size / before) * direction
    return answer


def _scaled(mutual_ms: Floats, dimensions: int) -> Floats:
    """Place by classical scaling: the leading directions of the centred squared round trips."""
    count = len(mutual_ms)
    squares = np.where(np.isfinite(mutual_ms), mutual_ms, np.nanmedian(mutual_ms)) ** 2
    np.fill_diagonal(squares, 0)
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    values, vectors = np.linalg.eigh(-centred / 2)
    points = np.zeros((count, dimensions))
    kept = min(dimensions, count)
    points[:, :kept] = vectors[:, ::-1][:, :kept] * np.sqrt(np.maximum(values[::-1][:kept], 0))
    return points + 1e-3 * np.arange(count)[:, None]  # equal points have no direction to part in
