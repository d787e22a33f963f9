"""An overlay that is kept from call to call: zones, crawlers by name, and where sites stand in its frame.

Theory of operation ------------------- `ipmicra assign` is called again and again: round trips are measured
anew, crawlers come and go. Each call fits coordinates from scratch, and two fits of the same samples differ
by a turn, a mirror and a shift. Zones drawn anew from each fit would hand most sites to other crawlers
although nothing changed on the net. So the zones of the first call are kept, with the coordinates of sites
and crawlers *in the frame of that first fit*, and later fits are brought into that frame:

1. *Anchors* are crawlers, and sites with samples, that exist in both fits. With fewer anchors than dimensions
   plus one the frames cannot be aligned: `carry` returns False and the caller begins a new overlay.
2. *Drift* decides who really moved. It is the median change of a thing's distances to the crawlers of both
   fits, which does not depend on frames. Comparing aligned coordinates instead would see drift where a fit
   merely folded a point over to the other side of the fleet.
3. Crawlers that are gone or drifted farther than their zone's diagonal leave, in the order of their numbers;
   then newcomers and drifted ones join, in the order of the fleet. Takeover and splitting are the overlay's.
4. Sites that drifted farther than the diagonal of their zone, or had no sample before and have one now, are
   inserted anew; all others keep the coordinate by which they were inserted. So a site changes its owner only
   if its zone did, or it moved out of its zone.

Invariants: `crawlers` names exactly the overlay's crawlers; every site has a coordinate in the overlay's
frame; `known` is a subset of `sites`; what depends on order (leaves, joins) follows an order that the input
fixes, so that the same calls give the same zones.
"""

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
from ipmicra.model.types import Floats, Rows

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

    def taken(self, rows: Rows) -> Standing:
        """Return some of them."""
        return Standing(
            names=[self.names[row] for row in rows.tolist()],
            points=self.points[rows],
            is_known=self.is_known[rows],
        )

    def distinct(self) -> Standing:
        """Return each name once, where it is first."""
        first = {name: row for row, name in reversed(list(enumerate(self.names)))}
        return self.taken(np.array(list(first.values()), dtype=np.int64))


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
        """Return the crawler in whose zone each site lies, by name; None for sites never inserted."""
        inside = [name for name in sites if name in self.sites]
        if not inside or not len(self.overlay):
            return [None] * len(sites)
        names = {number: name for name, number in self.crawlers.items()}
        found = self.overlay.owners(np.stack([self.sites[name] for name in inside])).tolist()
        owner = {site: names[number] for site, number in zip(inside, found, strict=True)}
        return [owner.get(name) for name in sites]

    def carry(self, crawlers: Standing, sites: Standing) -> bool:
        """Let crawlers leave and join to match the fleet; return False if too few of the old one remain.

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
        """Pair the old and new places of crawlers and sites that were known before."""
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
        """Return where crawlers stood when they joined."""
        points: Floats = self.overlay.originals[[self.crawlers[name] for name in names]]
        return points

    def _is_far(self, crawler: str, ms: float) -> bool:
        """Return whether a drift is longer than a crawler's zone."""
        low, high = self.overlay.bounds(self.overlay.zones_of(self.crawlers[crawler])[0])
        return bool(ms > np.linalg.norm(high - low))

    def _drifted_sites(self, sites: Standing, fleet: tuple[Floats, Floats]) -> list[str]:
        """Return the sites that have their first sample, or drifted farther than their zone's diagonal."""
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
        """Insert the sites that are not in the overlay yet."""
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
    """Return how far things have drifted relative to a fleet, each in the frames of then and now.

    It is the median of the changes of their distances to the crawlers, which a turned or mirrored frame
    leaves alone: two fits of the same samples may fold a point over, which is not drift.
    """
    then, now = (
        np.linalg.norm(points[:, None, :] - crawlers[None, :, :], axis=2)
        for points, crawlers in zip(things, fleet, strict=True)
    )
    if not then.shape[1]:
        return np.zeros(len(then))
    middle: Floats = np.median(np.abs(now - then), axis=1)
    return middle
