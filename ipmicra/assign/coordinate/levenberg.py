"""Placing many hosts at once: damped least squares (Levenberg–Marquardt) on stacks of small systems."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ipmicra.assign.coordinate.config import DescentConfig
from ipmicra.model.types import Floats

_TINY = 1e-9
"""Kept from zero: the direction from a point to itself is undefined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchors:
    """Points whose coordinates are known."""

    points: Floats
    """One row each, in milliseconds."""
    heights: Floats
    """One each, in milliseconds; zeros where the embedding has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What hosts are fitted to: round trips to anchors, and where each is expected."""

    rtt_ms: Floats
    """One row per host, one column per anchor; any number where the weight is 0."""
    weights: Floats
    """What an error of one millisecond counts; 0 for a missing sample."""
    expected: Floats | None = None
    """Where each host is pulled to; None for nowhere."""
    pull: Floats | None = None
    """Penalty of a millisecond away from there, one per host."""

    def part(self, chosen: slice | NDArray[np.intp]) -> Task:
        """Return the task of some hosts."""
        return Task(
            rtt_ms=self.rtt_ms[chosen],
            weights=self.weights[chosen],
            expected=None if self.expected is None else self.expected[chosen],
            pull=None if self.pull is None else self.pull[chosen],
        )


def descend(anchors: Anchors, task: Task, start: Floats, config: DescentConfig) -> tuple[Floats, Floats]:
    """Return the coordinates that fit each host best, from its start, and the errors (sums of squares).

    A start has one number more than an anchor's point if hosts have heights; heights stay at or above 0.
    """
    ends, errors = np.empty_like(start), np.empty(len(start))
    for first in range(0, len(start), config.batch):
        chosen = slice(first, first + config.batch)
        ends[chosen], errors[chosen] = _descend(anchors, task.part(chosen), start[chosen], config)
    return ends, errors


def _descend(anchors: Anchors, task: Task, start: Floats, config: DescentConfig) -> tuple[Floats, Floats]:
    """Descend with one batch; hosts that have arrived are left out of further steps."""
    ends, errors = start.copy(), np.empty(len(start))
    active = np.arange(len(start))
    state = start.copy()
    slopes, misfit = _misfit(anchors, task, state)
    error = np.einsum("ij,ij->i", misfit, misfit)
    damping = np.full(len(start), config.first_damping)
    errors[:] = error
    for _ in range(config.rounds):
        trial = _stepped(state, slopes, misfit, damping, anchors.points.shape[1])
        trial_slopes, trial_misfit = _misfit(anchors, task, trial)
        trial_error = np.einsum("ij,ij->i", trial_misfit, trial_misfit)
        is_better = trial_error < error
        is_done = _is_done(error, trial_error, damping, config)
        better = np.flatnonzero(is_better)
        state[better], error[better] = trial[better], trial_error[better]
        slopes[better], misfit[better] = trial_slopes[better], trial_misfit[better]
        ends[active[better]], errors[active[better]] = state[better], error[better]
        damping = np.where(is_better, damping * config.damping_down, damping * config.damping_up)
        if is_done.any():
            left = np.flatnonzero(~is_done)
            if not len(left):
                break
            active, state, error, damping = active[left], state[left], error[left], damping[left]
            slopes, misfit, task = slopes[left], misfit[left], task.part(left)
    return ends, errors


def _is_done(error: Floats, trial_error: Floats, damping: Floats, config: DescentConfig) -> NDArray[np.bool_]:
    """Return which hosts have arrived: a good step gained hardly anything, or no step helps any more."""
    gain = error - trial_error
    is_flat = (gain >= 0) & (gain <= config.enough * error)
    return is_flat | (damping > 1 / _TINY)


def _misfit(anchors: Anchors, task: Task, state: Floats) -> tuple[Floats, Floats]:
    """Return the weighted errors of all samples and how they change with the coordinates."""
    dimensions = anchors.points.shape[1]
    offsets = state[:, None, :dimensions] - anchors.points[None]
    distance = np.sqrt(np.einsum("ijk,ijk->ij", offsets, offsets)) + _TINY
    slopes = offsets * (task.weights / distance)[:, :, None]
    estimated = distance + anchors.heights
    if state.shape[1] > dimensions:
        estimated += state[:, dimensions:]
        slopes = np.concatenate([slopes, task.weights[:, :, None]], axis=2)
    misfit = (estimated - task.rtt_ms) * task.weights
    if task.expected is None or task.pull is None:
        return slopes, misfit
    pull = task.pull[:, None]
    pulled = np.broadcast_to(np.eye(state.shape[1]), (len(state), state.shape[1], state.shape[1]))
    return (
        np.concatenate([slopes, pulled * pull[:, :, None]], axis=1),
        np.concatenate([misfit, (state - task.expected) * pull], axis=1),
    )


def _stepped(state: Floats, slopes: Floats, misfit: Floats, damping: Floats, dimensions: int) -> Floats:
    """Take one damped step."""
    turned = slopes.transpose(0, 2, 1)
    normal = turned @ slopes
    gradient = (turned @ misfit[:, :, None])[:, :, 0]
    diagonal = np.einsum("nii->ni", normal)  # a view: adding to it adds to the matrices
    diagonal += damping[:, None] * diagonal + _TINY * (1 + diagonal.max(axis=1, keepdims=True))
    trial = state - np.linalg.solve(normal, gradient[:, :, None])[:, :, 0]
    if state.shape[1] > dimensions:
        np.maximum(trial[:, dimensions:], 0, out=trial[:, dimensions:])
    return trial
