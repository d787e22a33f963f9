"""Joining: what a scheme sees, and the quick way for overlays without sites."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ipmicra.assign.overlay.kernels import tree as kernels
from ipmicra.assign.overlay.options import Half
from ipmicra.model.types import Floats

if TYPE_CHECKING:
    from ipmicra.assign.overlay.overlay import Overlay

CODES = {"DL": kernels.DIMENSION_LOOP, "MP": kernels.MIDDLE_POINT}
"""Schemes that compiled code can carry out."""


class View:
    """What a scheme may ask about an overlay while a crawler joins."""

    def __init__(self, overlay: Overlay, crawler: int, zone: int) -> None:
        """Look at an overlay from where a newcomer stands."""
        self._overlay = overlay
        self._tree = overlay.zones.tree
        self.point: Floats = overlay.points[crawler]
        self.original: Floats = overlay.originals[crawler]
        self.zone = zone
        self.options = overlay.options
        self.joined_share = len(overlay) / overlay.expected if overlay.expected else 0.0

    def low(self, zone: int) -> Floats:
        """Return the lower corner of a zone."""
        low: Floats = self._tree.low[zone]
        return low

    def high(self, zone: int) -> Floats:
        """Return the upper corner of a zone."""
        high: Floats = self._tree.high[zone]
        return high

    def next_axis(self, zone: int) -> int:
        """Return the dimension after the one that the zone was made by."""
        return int(kernels.next_axis(self._tree, zone))

    def owner_point(self, zone: int) -> Floats:
        """Return where a zone's crawler stands."""
        point: Floats = self._overlay.points[self._tree.owner[zone]]
        return point

    def owner_original(self, zone: int) -> Floats:
        """Return where a zone's crawler stands before clamping."""
        point: Floats = self._overlay.originals[self._tree.owner[zone]]
        return point

    def sites(self, zone: int) -> Floats:
        """Return the coordinates of the sites that a zone's crawler holds in it, clamped to the space."""
        return self._overlay.sites.points[self._inside(zone)]

    def site_originals(self, zone: int) -> Floats:
        """Return the coordinates of the same sites before clamping."""
        return self._overlay.sites.originals[self._inside(zone)]

    def _inside(self, zone: int) -> list[int]:
        return self._overlay.sites.within(int(self._tree.owner[zone]), self.low(zone), self.high(zone))

    def load(self, zone: int) -> float:
        """Return the load of a zone's crawler."""
        return float(self._overlay.sites.load(int(self._tree.owner[zone])))

    def neighbours(self, zone: int) -> list[int]:
        """Return the zones that share a face with one."""
        found: list[int] = self._overlay.zones.neighbours(zone, is_torus=self.options.is_torus).tolist()
        return found

    def most_loaded(self) -> int:
        """Return a zone of the crawler with the highest load; the newcomer's where there is no load."""
        busiest = self._overlay.sites.busiest
        return self.zone if busiest is None else int(self._overlay.zone_of[busiest])


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
    """Let crawlers join in compiled code; give how many did before a zone was too small to split."""
    is_random = overlay.options.half is Half.RANDOM and overlay.scheme.upper() == "DL"
    draws = overlay.rng.integers(0, 2, len(numbers)) if is_random else np.full(len(numbers), -1)
    tree, code = overlay.zones.tree, fast_code(overlay)
    done = kernels.join_many(tree, overlay.points, overlay.zone_of, numbers, code, draws)
    overlay.counted(int(done))
    return int(done)
