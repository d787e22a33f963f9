"""What a splitting scheme sees of the overlay, and what it answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ipmicra.model.types import Floats
from ipmicra.native import kernels

if TYPE_CHECKING:
    from ipmicra.assign.overlay.overlay import Overlay


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """The answer of a scheme: cut this zone here."""

    zone: int
    axis: int
    position: float
    """Must lie strictly inside the zone, or the overlay cuts in its own way."""
    takes_upper: bool | None = None
    """Which half the newcomer takes; None leaves it to the overlay's options."""


class JoinView:
    """What a scheme may ask about an overlay while a crawler joins; zones are numbers."""

    def __init__(self, overlay: Overlay, crawler: int, zone: int) -> None:
        """Look at an overlay from where a newcomer stands."""
        self._overlay = overlay
        self._tree = overlay.zones.tree
        self.point: Floats = overlay.points[crawler]
        """Where the newcomer stands, clamped to the space."""
        self.original: Floats = overlay.originals[crawler]
        """The same before clamping: what its true distances are computed from."""
        self.zone = zone
        """The zone that holds it."""
        self.options = overlay.options
        self.joined_share = len(overlay) / overlay.expected if overlay.expected else 0.0
        """Crawlers that have joined, as a part of those expected."""

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
        return kernels.next_axis(self._tree, zone)

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


Scheme = Callable[[JoinView], Cut]


def middle_of(view: JoinView, zone: int) -> Cut:
    """Cut in the middle of the next dimension."""
    axis = view.next_axis(zone)
    return Cut(zone=zone, axis=axis, position=float(view.low(zone)[axis] + view.high(zone)[axis]) / 2)


def median_of(view: JoinView, zone: int) -> Cut:
    """Cut the next dimension at the median site; in the middle where there are too few sites."""
    axis = view.next_axis(zone)
    sites = view.sites(zone)
    if len(sites) < 2:  # noqa: PLR2004
        return middle_of(view, zone)
    return Cut(zone=zone, axis=axis, position=float(np.median(sites[:, axis])))
