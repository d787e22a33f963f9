"""Sums by group."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def sums_by(group: NDArray[Any], weights: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Add up the weights of each group; an empty group has 0."""
    sums: NDArray[np.float64] = np.bincount(group, weights, count).astype(np.float64, copy=False)
    return sums
