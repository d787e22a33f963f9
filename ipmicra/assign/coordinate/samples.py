"""Round trips as they come: repeated, missing, impossible."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ipmicra.errors import InputError
from ipmicra.model.types import Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaned:
    """Round trips that can be used, and how many could not."""

    rtt_ms: Floats
    """NaN where there is no usable sample."""
    refused: int
    """Values that were zero, negative or infinite; NaN is a missing sample and is not counted."""


def clean(rtt_ms: ArrayLike) -> Cleaned:
    """Keep finite positive round trips; the last axis but two, if there is one, is repetition (median)."""
    values = np.asarray(rtt_ms, dtype=np.float64)
    if values.ndim not in {2, 3}:
        raise InputError(f"round trips are a table of hosts × crawlers, not {values.ndim} dimensions")
    is_usable = np.isfinite(values) & (values > 0)
    refused = int(np.count_nonzero(~is_usable & ~np.isnan(values)))
    kept = np.where(is_usable, values, np.nan)
    return Cleaned(rtt_ms=kept if values.ndim == 2 else _median(kept), refused=refused)  # noqa: PLR2004


def clean_mutual(rtt_ms: ArrayLike) -> Floats:
    """Clean the round trips between crawlers: both directions are averaged, the diagonal is missing."""
    values = np.array(rtt_ms, dtype=np.float64)
    if values.ndim != 2 or values.shape[0] != values.shape[1]:  # noqa: PLR2004
        raise InputError(f"round trips between crawlers are a square table, not {values.shape}")
    np.fill_diagonal(values, np.nan)
    kept = clean(values).rtt_ms
    return _median(np.stack([kept, kept.T]))


def _median(layers: Floats) -> Floats:
    """Take the median over the first axis; NaN where nothing was measured."""
    is_known = np.isfinite(layers).any(axis=0)
    filled = np.where(is_known, layers, 0.0)
    return np.where(is_known, np.nanmedian(filled, axis=0), np.nan)
