"""The bounds of coordinate space, learnt from a sample, and clamping to them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ipmicra.errors import InputError
from ipmicra.model.types import Floats

_LEAST_WIDTH = 1e-6
"""Milliseconds; a dimension in which all points are equal still gets room."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """A box of coordinate space: every coordinate is clamped to it before its owner is looked up."""

    low: Floats
    high: Floats
    """Both belong to the space."""

    def __post_init__(self) -> None:
        """Refuse a box without room."""
        if self.low.shape != self.high.shape or self.low.ndim != 1 or not len(self.low):
            raise InputError("a space has one low and one high bound per dimension")
        if not (
            np.isfinite(self.low).all() and np.isfinite(self.high).all() and (self.low < self.high).all()
        ):
            raise InputError("every low bound of a space must be finite and below its high bound")

    @property
    def dimensions(self) -> int:
        """Number of dimensions."""
        return len(self.low)

    def clamped(self, points: ArrayLike) -> Floats:
        """Move points outside to the nearest place on the bound; the caller keeps the originals."""
        return np.clip(np.asarray(points, dtype=np.float64), self.low, self.high)

    def moved(self, points: ArrayLike) -> NDArray[np.bool_]:
        """Return which points clamping moves."""
        values = np.asarray(points, dtype=np.float64)
        return np.asarray(((values < self.low) | (values > self.high)).any(axis=-1))


def learn_space(points: ArrayLike, cut: float) -> Space:
    """Cut a share (0 to 0.5) of a sample off at both ends of each dimension; the rest is the space."""
    values = np.asarray(points, dtype=np.float64)
    if values.ndim != 2 or not len(values) or not np.isfinite(values).all():  # noqa: PLR2004
        raise InputError("bounds are learnt from a table of finite coordinates with at least one row")
    if not 0 <= cut < 0.5:  # noqa: PLR2004
        raise InputError(f"a share of {cut} cannot be cut off at both ends")
    low, high = np.quantile(values, [cut, 1 - cut], axis=0)
    room = np.maximum(_LEAST_WIDTH, np.abs(low) * _LEAST_WIDTH)
    is_flat = high - low < room
    return Space(low=np.where(is_flat, low - room, low), high=np.where(is_flat, high + room, high))


def learn_space_moving(points: ArrayLike, share: float) -> Space:
    """Learn the space that clamping moves a given share of the sample into, over all dimensions together."""
    return learn_space(points, moving_cut(points, share))


def moving_cut(points: ArrayLike, share: float) -> float:
    """Return what is to be cut off at each end (λ) so that clamping moves a given share of the sample."""
    low, high = 0.0, share / 2
    for _ in range(40):
        middle = (low + high) / 2
        is_few = learn_space(points, middle).moved(points).mean() <= share
        low, high = (middle, high) if is_few else (low, middle)
    return low
