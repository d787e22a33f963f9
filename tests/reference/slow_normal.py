"""Conditioning by the textbook's formula, and expectations by brute force."""

from __future__ import annotations

import numpy as np

from ipmicra.model.types import Floats


def condition_all(mean: Floats, covariance: Floats, seen: dict[int, float]) -> tuple[Floats, Floats]:
    """Condition on several values at once."""
    at = list(seen)
    inverse = np.linalg.inv(covariance[np.ix_(at, at)])
    gain = covariance[:, at] @ inverse
    values = np.array([seen[i] for i in at])
    return mean + gain @ (values - mean[at]), covariance - gain @ covariance[at]


def saving_by_chance(
    draws: Floats, best_ms: float, *, floor_ms: float, least_ms: float, offset_ms: float, fixed_ms: float
) -> float:
    """Average what a round trip saves over many draws of its logarithm."""
    round_trips = np.maximum(np.maximum(floor_ms + np.exp(draws) - offset_ms, least_ms), 0.0)
    saved = fixed_ms * np.log((best_ms + fixed_ms) / (round_trips + fixed_ms))
    return float(np.maximum(saved, 0.0).mean())
