"""An overlay that is kept from call to call: zones, crawlers by name, and where sites stand in its frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ipmicra.assign.coordinate.align import aligned
from ipmicra.assign.coordinate.space import learn_space_moving
from ipmicra.assign.overlay.overlay import Overlay
from ipmicra.assign.packing import pack, unpack
from ipmicra.errors import CorruptStateError
from ipmicra.model.types import Floats

KIND = "kept overlay"
SCHEME = "DL"
"""Zones are cut in the middle, one dimension after the other, as in NC-CAN."""
_MOVED = 0.05
"""Part of the sites that the bounds of coordinate space move; see docs/overlay.md."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where named things stand by the newest fit, in a frame of its own."""

    names: Sequence[str]
    points: Floats
    is_known: NDArray[np.bool_]
    """False for what has no sample and stands anywhere."""


@dataclass(slots=True)
class KeptOverlay:
    """Zones with their crawlers, and sites with the coordinates by which they were inserted."""

    overlay: Overlay
    crawlers: dict[str, int] = field(default_factory=dict)
    """Number in the overlay of each crawler that is there."""
    sites: dict[str, Floats] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)
    """Sites whose coordinate rests on samples."""

    @classmethod
    def begin(cls, crawlers: Standing, sites: Standing) -> Self:
        """Let crawlers join one after the other in a space learnt from the sites."""
        kept = cls(Overlay(learn_space_moving(sites.points, _MOVED), scheme=SCHEME))
        numbers = kept.overlay.join_many(crawlers.points)
        kept.crawlers = dict(zip(crawlers.names, numbers.tolist(), strict=True))
        kept._insert(sites, sites.points)
        return kept

    def owners(self, sites: Sequence[str]) -> list[str | None]:
        """Name the crawler in whose zone each site lies; None for sites that were never inserted."""
        inside = [name for name in sites if name in self.sites]
        if not inside or not len(self.overlay):
            return [None] * len(sites)
        names = {number: name for name, number in self.crawlers.items()}
        found = self.overlay.owners(np.stack([self.sites[name] for name in inside])).tolist()
        owner = {site: names[number] for site, number in zip(inside, found, strict=True)}
        return [owner.get(name) for name in sites]

    def carry(self, crawlers: Standing, sites: Standing) -> bool:
        """Let the fleet of now leave and join; False if too little is left of the old one to go on.

        A crawler or site that was there keeps its zone or coordinate, unless it drifted farther than the
        zone's diagonal: such a crawler rejoins, such a site is inserted anew.
        """
        anchors = self._anchors(crawlers, sites)
        if len(anchors) <= self.overlay.space.dimensions:
            return False
        now, then = (np.stack(side) for side in zip(*anchors, strict=True))
        same = [row for row, name in enumerate(crawlers.names) if name in self.crawlers]
        named = [crawlers.names[row] for row in same]
        fleet = self._points_of(named), crawlers.points[same]
        drifts = drift(fleet, fleet)
        gone = set(self.crawlers) - set(crawlers.names)
        gone |= {name for name, ms in zip(named, drifts.tolist(), strict=True) if self._is_far(name, ms)}
        moved = self._drifted_sites(sites, fleet)
        for name in sorted(gone, key=self.crawlers.__getitem__):
            self.overlay.leave(self.crawlers.pop(name))
        for name, point in zip(crawlers.names, aligned(crawlers.points, now, then), strict=True):
            if name not in self.crawlers:
                self.crawlers[name] = self.overlay.join(point)
        for name in moved:
            del self.sites[name]
        self._insert(sites, aligned(sites.points, now, then))
        return True

    def _anchors(self, crawlers: Standing, sites: Standing) -> list[tuple[Floats, Floats]]:
        """Pair the places of what was there before and is there now."""
        pairs = [
            (point, self._points_of([name])[0])
            for name, point in zip(crawlers.names, crawlers.points, strict=True)
            if name in self.crawlers
        ]
        pairs += [
            (point, self.sites[name])
            for name, point, is_known in zip(sites.names, sites.points, sites.is_known, strict=True)
            if is_known and name in self.known
        ]
        return pairs

    def _points_of(self, names: Sequence[str]) -> Floats:
        """Give where crawlers stood when they joined."""
        points: Floats = self.overlay.originals[[self.crawlers[name] for name in names]]
        return points

    def _is_far(self, crawler: str, ms: float) -> bool:
        """Tell whether a drift is longer than a crawler's zone."""
        low, high = self.overlay.bounds(self.overlay.zones_of(self.crawlers[crawler])[0])
        return bool(ms > np.linalg.norm(high - low))

    def _drifted_sites(self, sites: Standing, fleet: tuple[Floats, Floats]) -> list[str]:
        """Name the sites that have their first sample, or drifted farther than their zone is long."""
        rows = [row for row, name in enumerate(sites.names) if sites.is_known[row] and name in self.sites]
        if not rows:
            return []
        names = [sites.names[row] for row in rows]
        then = np.stack([self.sites[name] for name in names])
        drifts = drift((then, sites.points[rows]), fleet).tolist()
        return [
            name
            for name, owner, ms in zip(names, self.owners(names), drifts, strict=True)
            if name not in self.known or owner is None or self._is_far(owner, ms)
        ]

    def _insert(self, sites: Standing, points: Floats) -> None:
        """Insert the sites that are not there."""
        for name, point, is_known in zip(sites.names, points, sites.is_known, strict=True):
            if name not in self.sites:
                self.sites[name] = point
                if is_known:
                    self.known.add(name)

    def to_bytes(self) -> bytes:
        """Save: a versioned, checksummed form that `from_bytes` reads."""
        facts = {
            "crawlers": self.crawlers,
            "sites": list(self.sites),
            "known": [name in self.known for name in self.sites],
        }
        points = np.stack(list(self.sites.values())) if self.sites else np.empty((0, 0))
        overlay = np.frombuffer(self.overlay.to_bytes(), np.int8)
        return pack(KIND, facts, {"points": points, "overlay": overlay})

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Restore; anything damaged raises CorruptStateError."""
        facts, arrays = unpack(KIND, data)
        try:
            overlay = Overlay.from_bytes(arrays["overlay"].tobytes())
            crawlers = {str(name): int(number) for name, number in facts["crawlers"].items()}
            sites = dict(zip(facts["sites"], arrays["points"], strict=True))
            known = {name for name, is_known in zip(sites, facts["known"], strict=True) if is_known}
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise CorruptStateError(f"saved {KIND}: {error}") from error
        has_names = sorted(crawlers.values()) == overlay.crawlers().tolist()
        if not has_names or (sites and arrays["points"].shape[1] != overlay.space.dimensions):
            raise CorruptStateError(f"saved {KIND}: names, zones and coordinates do not fit together")
        return cls(overlay, crawlers=crawlers, sites=sites, known=known)


def drift(things: tuple[Floats, Floats], fleet: tuple[Floats, Floats]) -> Floats:
    """Give how far things have drifted against a fleet, each in the frames of then and of now.

    It is the middle of the changes of their distances to the crawlers, which a turned or mirrored frame
    leaves alone: two fits of the same samples may fold a point over, and that is no drift.
    """
    then, now = (
        np.linalg.norm(points[:, None, :] - crawlers[None, :, :], axis=2)
        for points, crawlers in zip(things, fleet, strict=True)
    )
    if not then.shape[1]:
        return np.zeros(len(then))
    middle: Floats = np.median(np.abs(now - then), axis=1)
    return middle
