"""Joining in compiled code: the quick way for overlays without sites."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ipmicra.assign.overlay.options import Half
from ipmicra.native import kernels

if TYPE_CHECKING:
    from ipmicra.assign.overlay.overlay import Overlay

DIMENSION_LOOP, MIDDLE_POINT = 0, 1
CODES = {"DL": DIMENSION_LOOP, "MP": MIDDLE_POINT}
"""Schemes that compiled code can carry out."""


def fast_code(overlay: Overlay) -> int | None:
    """Return the number of a scheme that compiled code can carry out as things stand; None for the others."""
    is_plain = not overlay.more_zones and not overlay.sites.holder.size
    return overlay.code if is_plain else None


def joined_one(overlay: Overlay, crawler: int, code: int) -> bool:
    """Let one crawler join in compiled code; False if the zone was too small to split."""
    overlay.zones.reserve(1)
    is_random = overlay.options.half is Half.RANDOM and code == DIMENSION_LOOP
    half = int(overlay.rng.integers(2)) if is_random else -1
    is_done = bool(_join(overlay, np.array([crawler]), code, np.array([half])))
    if is_done:
        overlay.counted(1)
    return is_done


def joined_many(overlay: Overlay, numbers: NDArray[np.int64]) -> int:
    """Let crawlers join in compiled code; return how many did before a zone was too small to split."""
    is_random = overlay.options.half is Half.RANDOM and overlay.scheme.upper() == "DL"
    draws = overlay.rng.integers(0, 2, len(numbers)) if is_random else np.full(len(numbers), -1)
    code = fast_code(overlay)
    done = 0 if code is None else _join(overlay, numbers, code, draws)
    overlay.counted(done)
    return done


def _join(overlay: Overlay, numbers: NDArray[np.int64], code: int, halves: NDArray[np.int64]) -> int:
    return kernels.join_many(overlay.zones.tree, overlay.points, overlay.zone_of, numbers, code, halves)
