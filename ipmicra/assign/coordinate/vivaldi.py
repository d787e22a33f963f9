"""Vivaldi with heights: coordinates for fleets without landmarks, one sample at a time.

Each crawler in turn samples another one and moves along the line between them, the farther the less it trusts
itself. All crawlers do so side by side in one array step, as they would at the same time on the net.
"""

from __future__ import annotations

import numpy as np

from ipmicra.assign.coordinate.config import VivaldiConfig
from ipmicra.assign.coordinate.gnp import Embedding
from ipmicra.errors import InputError
from ipmicra.model.types import Floats

_TINY = 1e-9


def place_by_vivaldi(mutual_ms: Floats, config: VivaldiConfig, rng: np.random.Generator) -> Embedding:
    """Place crawlers by their mutual round trips (NaN where a pair was never measured)."""
    count = len(mutual_ms)
    degrees = np.isfinite(mutual_ms).sum(axis=1)
    if not degrees.any():
        raise InputError("coordinates need at least one round trip between two crawlers")
    points = np.zeros((count, config.dimensions))
    heights = np.full(count, config.least_height_ms)
    error = np.full(count, config.first_error)
    for _ in range(config.rounds):
        heard = _partners(mutual_ms, degrees, rng)
        _move(points, heights, error, (heard, mutual_ms[np.arange(count), heard]), config, rng)
    return Embedding(points=points, heights=heights, error=error)


def _partners(mutual_ms: Floats, degrees: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw for each crawler one that it has a sample of; itself if it has none."""
    order = np.argsort(~np.isfinite(mutual_ms), axis=1, kind="stable")
    picks = (rng.random(len(degrees)) * np.maximum(degrees, 1)).astype(np.intp)
    return np.where(degrees > 0, order[np.arange(len(degrees)), picks], np.arange(len(degrees)))


def _move(
    points: Floats,
    heights: Floats,
    error: Floats,
    heard: tuple[np.ndarray, Floats],
    config: VivaldiConfig,
    rng: np.random.Generator,
) -> None:
    """Move every crawler by one sample, in place; the letters of the paper are in VivaldiConfig."""
    other, rtt_ms = heard
    is_known = np.isfinite(rtt_ms)
    rtt = np.where(is_known, rtt_ms, 1.0)
    offsets = points - points[other]
    flat = np.sqrt(np.einsum("ij,ij->i", offsets, offsets))
    lots = rng.normal(size=offsets.shape)  # two on one point move in opposite random directions
    lots /= np.linalg.norm(lots, axis=1, keepdims=True)
    direction = np.where(flat[:, None] > _TINY, offsets / np.maximum(flat, _TINY)[:, None], lots)
    estimated = flat + heights + heights[other]
    trust = error / np.maximum(error + error[other], _TINY)
    missed = np.abs(estimated - rtt) / rtt
    gain = config.error_gain * trust
    step = np.where(is_known, config.step_gain * trust * (rtt - estimated), 0.0)
    error[:] = np.where(
        is_known, np.clip(missed * gain + error * (1 - gain), 0, 2 * config.first_error), error
    )
    # Heights add in a difference of two coordinates, so the unit vector's height is (h1 + h2) / length.
    share = 1 / np.maximum(estimated, _TINY)
    points += direction * (step * flat * share)[:, None] + np.where(
        flat[:, None] > _TINY, 0.0, direction * step[:, None]
    )
    raised = heights + (heights + heights[other]) * step * share
    heights[:] = np.maximum(raised, config.least_height_ms)
