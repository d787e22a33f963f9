"""Joining in compiled code: the quick way for overlays without sites."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ipmicra.assign.overlay.kernels import tree as kernels
from ipmicra.assign.overlay.options import Half

if TYPE_CHECKING:
    from ipmicra.assign.overlay.overlay import Overlay

CODES = {"DL": kernels.DIMENSION_LOOP, "MP": kernels.MIDDLE_POINT}
"""Schemes that compiled code can carry out."""


def fast_code(overlay: Overlay) -> int | None:
    """Return the number of a scheme that compiled code can carry out as things stand; None for the others."""
    is_plain = not overlay.more_zones and not overlay.sites.holder.size
    return overlay.code if is_plain else None


def joined_one(overlay: Overlay, crawler: int, code: int) -> bool:
    """Let one crawler join in compiled code; False if the zone was too small to split."""
    overlay.zones.reserve(1)
    is_random = overlay.options.half is Half.RANDOM and code == kernels.DIMENSION_LOOP
    half = int(overlay.rng.integers(2)) if is_random else -1
    is_done = bool(kernels.join_one(overlay.zones.tree, overlay.points, overlay.zone_of, crawler, code, half))
    if is_done:
        overlay.counted(1)
    return is_done


def joined_many(overlay: Overlay, numbers: NDArray[np.int64]) -> int:
    """Let crawlers join in compiled code; return how many did before a zone was too small to split."""
    is_random = overlay.options.half is Half.RANDOM and overlay.scheme.upper() == "DL"
    draws = overlay.rng.integers(0, 2, len(numbers)) if is_random else np.full(len(numbers), -1)
    tree, code = overlay.zones.tree, fast_code(overlay)
    done = kernels.join_many(tree, overlay.points, overlay.zone_of, numbers, code, draws)
    overlay.counted(int(done))
    return int(done)
