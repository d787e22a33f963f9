"""What a splitting scheme sees of the overlay, and what it answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ipmicra.assign.overlay.options import OverlayOptions
from ipmicra.model.types import Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """The answer of a scheme: cut this zone here."""

    zone: int
    axis: int
    position: float
    """Must lie strictly inside the zone, or the overlay cuts in its own way."""
    takes_upper: bool | None = None
    """Which half the newcomer takes; None leaves it to the overlay's options."""


class JoinView(Protocol):
    """What a scheme may ask while somebody joins; zones are numbers."""

    point: Floats
    """Where the newcomer stands, clamped to the space."""
    original: Floats
    """The same before clamping: what its true distances are reckoned from."""
    zone: int
    """The zone that holds it."""
    options: OverlayOptions
    joined_share: float
    """Crawlers that have joined, as a part of those expected."""

    def low(self, zone: int) -> Floats:
        """Return the lower corner of a zone."""

    def high(self, zone: int) -> Floats:
        """Return the upper corner of a zone."""

    def next_axis(self, zone: int) -> int:
        """Return the dimension after the one that the zone was made by."""

    def owner_point(self, zone: int) -> Floats:
        """Return where a zone's crawler stands, clamped to the space."""

    def owner_original(self, zone: int) -> Floats:
        """Return where a zone's crawler stands before clamping."""

    def sites(self, zone: int) -> Floats:
        """Return the coordinates of the sites that a zone's crawler holds in it, clamped to the space."""

    def site_originals(self, zone: int) -> Floats:
        """Return the coordinates of the same sites before clamping."""

    def load(self, zone: int) -> float:
        """Return the load of a zone's crawler."""

    def neighbours(self, zone: int) -> list[int]:
        """Return the zones that share a face with one."""

    def most_loaded(self) -> int:
        """Return a zone of the crawler with the highest load of all."""


Scheme = Callable[[JoinView], Cut]


def middle_of(view: JoinView, zone: int) -> Cut:
    """Cut in the middle of the next dimension."""
    axis = view.next_axis(zone)
    return Cut(zone=zone, axis=axis, position=float(view.low(zone)[axis] + view.high(zone)[axis]) / 2)


def median_of(view: JoinView, zone: int) -> Cut:
    """Cut the next dimension at the median site; in the middle where there are no sites to part."""
    axis = view.next_axis(zone)
    sites = view.sites(zone)
    if len(sites) < 2:  # noqa: PLR2004
        return middle_of(view, zone)
    return Cut(zone=zone, axis=axis, position=float(np.median(sites[:, axis])))
