"""The overlay: crawlers join, own zones, hold sites, leave and fail.

Theory of operation
-------------------
The space is cut into boxes, the zones, which are the leaves of a tree (`zones.py`). Three things refer to
them, and every change keeps the three together:

    zones.tree.owner[zone]        the crawler that owns a zone
    zone_of, more_zones           the zones that a crawler owns: one, or more after it took some over
    sites.holder                  the crawler that holds a site, which may differ from the zone's owner

A newcomer finds the zone that it stands in. The scheme says where that is cut (`schemes.py`), the options say
which half it takes and whether the sites there move with it. An owner of several zones gives one away whole.
Compiled code does the same for the usual schemes (`joining.py`); where it stops, the plain steps here go on,
and a test compares the two. Who leaves is followed as `takeover.py` says.

Crawlers keep their numbers for ever, also after they went: numbers are places in arrays. A crawler that comes
back gets a new one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ipmicra.assign.coordinate.space import Space
from ipmicra.assign.overlay import saved
from ipmicra.assign.overlay.joining import CODES, fast_code, joined_many, joined_one
from ipmicra.assign.overlay.options import Half, OverlayOptions
from ipmicra.assign.overlay.schemes import Cut, JoinView, scheme_named
from ipmicra.assign.overlay.sites import Sites
from ipmicra.assign.overlay.takeover import taken_over
from ipmicra.assign.overlay.zones import Zones
from ipmicra.errors import InputError, OverlayError
from ipmicra.model.types import Floats, Rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Departure:
    """What happened when a crawler went."""

    crawler: int
    takers: tuple[int, ...]
    """Crawlers that took a zone over; empty if it was the last one."""
    sites: tuple[int, ...]
    """Sites that changed hands; after a failure what was done of them is lost, so they are crawled again."""
    is_failure: bool


class Overlay:
    """Zones of coordinate space, each owned by a crawler; crawlers are numbered in the order of joining.

    Coordinates outside the space are clamped to its bounds. Chance is drawn from `rng` alone, and only where
    the options call for it.
    """

    def __init__(
        self,
        space: Space,
        *,
        scheme: str = "MP",
        options: OverlayOptions | None = None,
        expected: int | None = None,
        rng: np.random.Generator | None = None,
    ) -> None:
        """Start empty. `expected` is the number of crawlers to come, which schemes such as MP_30_NH need."""
        self.space = space
        self.scheme = scheme
        self.options = options or OverlayOptions()
        self.expected = expected
        self.zones = Zones(space)
        self.sites = Sites(space.dimensions)
        self.points = np.empty((0, space.dimensions))
        """Where crawlers stand, clamped."""
        self.originals = np.empty((0, space.dimensions))
        """The same before clamping."""
        self.zone_of = np.empty(0, np.int32)
        """The first zone of each crawler; -1 for one that went."""
        self.more_zones: dict[int, list[int]] = {}
        """Further zones of crawlers that took some over."""
        self._choose = scheme_named(scheme)
        self.code = CODES.get(scheme.upper())
        self._rng = rng
        self._joined = 0
        self._alive = 0
        if "_" in scheme and expected is None:
            raise InputError(f"{scheme} changes over at a share of the crawlers: say how many are expected")
        if self.options.half is Half.RANDOM and rng is None:
            raise InputError("a random half needs a generator")

    def __repr__(self) -> str:
        """Show scheme and counts."""
        return f"<Overlay {self.scheme}: {len(self)} crawlers, {len(self.sites)} sites>"

    def __len__(self) -> int:
        """Count the present crawlers."""
        return self._alive

    @property
    def rng(self) -> np.random.Generator:
        """The generator of random numbers."""
        if self._rng is None:
            raise InputError("this option needs random numbers: pass a generator")
        return self._rng

    # --- joining

    def join(self, point: ArrayLike) -> int:
        """Let a crawler join at a coordinate; return its number."""
        place = self._clamped_one(point)
        crawler = self._joined
        if crawler == len(self.zone_of):
            self._make_room(1)
        self.points[crawler], self.originals[crawler] = place, point
        if not self._alive:
            self._found(crawler)
        elif (code := fast_code(self)) is None or not joined_one(self, crawler, code):
            self._join_by_scheme(crawler)
        return crawler

    def join_many(self, points: ArrayLike) -> Rows:
        """Let crawlers join one after the other; return their numbers."""
        places = self._clamped(points)
        first = self._joined
        if not len(places):
            return np.arange(0)
        self._make_room(len(places))
        self.points[first : first + len(places)] = places
        self.originals[first : first + len(places)] = points
        start = first
        if not self._alive:
            self._found(first)
            start += 1
        numbers = np.arange(start, first + len(places))
        self.zones.reserve(len(numbers))
        done = joined_many(self, numbers) if fast_code(self) is not None else 0
        for crawler in numbers[done:].tolist():
            self._join_by_scheme(crawler)
        return np.arange(first, first + len(places))

    def _found(self, crawler: int) -> None:
        """Let the first crawler own the whole space."""
        self.zones.tree.owner[0] = crawler
        self.zone_of[crawler] = 0
        self._joined = crawler + 1
        self._alive = 1

    def _join_by_scheme(self, crawler: int) -> None:
        """Let one crawler join as the scheme says, in plain steps."""
        zone = self.zones.holding(self.points[crawler])
        owner = int(self.zones.tree.owner[zone])
        if owner in self.more_zones:  # who took zones over gives one away whole
            self._give(zone, owner, crawler)
        else:
            self._split(self._sound(self._choose(JoinView(self, crawler, zone))), crawler)
        self._joined = crawler + 1
        self._alive += 1

    def _sound(self, cut: Cut) -> Cut:
        """Keep a cut that leaves two volumes, else cut in the middle."""
        if 0 <= cut.axis < self.space.dimensions and self.zones.can_cut(cut.zone, cut.axis, cut.position):
            return cut
        axis, position = self.zones.loop_cut(cut.zone)
        if axis < 0:
            raise OverlayError("the zone is too small to be split: too many crawlers stand on one coordinate")
        return Cut(zone=cut.zone, axis=axis, position=position)

    def _split(self, cut: Cut, crawler: int) -> None:
        """Carry out a cut: the newcomer gets one half and, by the options, the sites in it."""
        owner = int(self.zones.tree.owner[cut.zone])
        is_upper = self._takes_upper(cut, crawler)
        held = self.sites.within(owner, self.zones.tree.low[cut.zone], self.zones.tree.high[cut.zone])
        lower = self.zones.split(cut.zone, cut.axis, cut.position)
        mine, other = (lower + 1, lower) if is_upper else (lower, lower + 1)
        self._rename_zone(owner, cut.zone, other)
        self.zones.tree.owner[mine] = crawler
        self.zone_of[crawler] = mine
        if self.options.moves_sites and held:
            is_mine = (self.sites.points[held, cut.axis] >= cut.position) == is_upper
            self.sites.move([site for site, moves in zip(held, is_mine, strict=True) if moves], crawler)

    def _takes_upper(self, cut: Cut, crawler: int) -> bool:
        """Decide which half a newcomer takes."""
        if cut.takes_upper is not None:
            return cut.takes_upper
        if self.options.half is Half.RANDOM:
            return bool(self.rng.integers(2))
        return bool(self.points[crawler, cut.axis] >= cut.position)

    def _give(self, zone: int, owner: int, crawler: int) -> None:
        """Hand a whole zone to a newcomer."""
        inside = self.sites.within(owner, self.zones.tree.low[zone], self.zones.tree.high[zone])
        self.drop_zone(owner, zone)
        self.zones.tree.owner[zone] = crawler
        self.zone_of[crawler] = zone
        if self.options.moves_sites and inside:
            holding = self.zones.holding_many(self.sites.points[inside])
            self.sites.move([site for site, at in zip(inside, holding, strict=True) if at == zone], crawler)

    # --- sites and owners

    def owner(self, point: ArrayLike) -> int:
        """Return the crawler whose zone holds a coordinate."""
        place = self._clamped_one(point)
        if not self._alive:
            raise OverlayError("the overlay is empty: let a crawler join first")
        return int(self.zones.tree.owner[self.zones.holding(place)])

    def owners(self, points: ArrayLike) -> Rows:
        """Return the crawlers whose zones hold coordinates."""
        places = self._clamped(points)
        if not self._alive:
            raise OverlayError("the overlay is empty: let a crawler join first")
        owners: Rows = self.zones.tree.owner[self.zones.holding_many(places)].astype(np.int64)
        return owners

    def insert(self, points: ArrayLike) -> Rows:
        """Insert sites; return the crawler that holds each."""
        owners = self.owners(points)
        self.sites.add(self._clamped(points), np.asarray(points, dtype=np.float64), owners)
        return owners

    def loads(self) -> NDArray[np.int64]:
        """Count the sites of each present crawler, in the order of joining."""
        counts = np.bincount(self.sites.holder, minlength=self._joined)
        return counts[self.crawlers()]

    def crawlers(self) -> Rows:
        """Return the numbers of the present crawlers."""
        return np.flatnonzero(self.zone_of[: self._joined] >= 0)

    def zones_of(self, crawler: int) -> list[int]:
        """Return the zones that a crawler owns: one, or more after it took some over."""
        if not 0 <= crawler < self._joined or self.zone_of[crawler] < 0:
            raise OverlayError(f"crawler {crawler} is not in the overlay")
        return [int(self.zone_of[crawler]), *self.more_zones.get(crawler, [])]

    def bounds(self, zone: int) -> tuple[Floats, Floats]:
        """Return the lower and upper corner of a zone."""
        return self.zones.tree.low[zone].copy(), self.zones.tree.high[zone].copy()

    def is_in_zone(self, crawler: int) -> bool:
        """Return whether a crawler stands in a zone of its own."""
        return int(self.zones.tree.owner[self.zones.holding(self.points[crawler])]) == crawler

    # --- neighbours and routing

    def neighbours(self, crawler: int) -> list[int]:
        """Return the crawlers that own a zone beside one of this crawler's."""
        mine = self.zones_of(crawler)
        beside = [self.zones.neighbours(zone, is_torus=self.options.is_torus) for zone in mine]
        owners = {int(owner) for zones in beside for owner in self.zones.tree.owner[zones]}
        return sorted(owners - {crawler})

    def route(self, crawler: int, point: ArrayLike) -> list[int]:
        """Return the crawlers that a message passes on its way to a coordinate, the owner last.

        Each hands it to the neighbouring zone nearest to the coordinate; steps between zones of one crawler
        are no hop.
        """
        place = self._clamped_one(point)
        start = min(self.zones_of(crawler), key=lambda zone: self._distance(zone, place))
        zones = self.zones.path(start, place, is_torus=self.options.is_torus)
        owners = self.zones.tree.owner[zones].tolist()
        return [now for before, now in zip([crawler, *owners], owners, strict=False) if now != before]

    def hops(self, crawlers: Sequence[int] | Rows, points: ArrayLike) -> NDArray[np.int64]:
        """Count the hops of messages from crawlers to coordinates, one of each."""
        starts = self.zone_of[np.asarray(crawlers)]
        if len(starts) and starts.min() < 0:
            raise OverlayError("a message must start at a crawler that is in the overlay")
        return self.zones.hops(starts, self._clamped(points), is_torus=self.options.is_torus)

    def _distance(self, zone: int, point: Floats) -> float:
        nearest = np.clip(point, self.zones.tree.low[zone], self.zones.tree.high[zone])
        return float(((nearest - point) ** 2).sum())

    # --- leaving, failing, moving

    def leave(self, crawler: int) -> Departure:
        """Let a crawler hand its zones and sites over and go."""
        return self._depart(crawler, is_failure=False)

    def fail(self, crawler: int) -> Departure:
        """Let others take over from a crawler that failed; its sites start again."""
        return self._depart(crawler, is_failure=True)

    def _depart(self, crawler: int, *, is_failure: bool) -> Departure:
        takers = taken_over(self, crawler, self.zones_of(crawler))
        self.zone_of[crawler] = -1
        self.more_zones.pop(crawler, None)
        self._alive -= 1
        held = self.sites.of(crawler)
        sites: tuple[int, ...] = tuple(held)
        if held:
            owners = self.zones.tree.owner[self.zones.holding_many(self.sites.points[held])]
            self.sites.hand_over(crawler, owners.astype(np.int64))  # -1 holds the sites of an empty overlay
        return Departure(crawler=crawler, takers=takers, sites=sites, is_failure=is_failure)

    def move(self, crawler: int, point: ArrayLike) -> int:
        """Move a crawler to its new coordinate; it rejoins, under a new number, if it drifted too far.

        Too far is farther from the centre of its zone than the zone's diagonal is long (Xu et al. 2010).
        """
        place = self._clamped_one(point)
        low, high = self.bounds(self.zones_of(crawler)[0])
        if np.linalg.norm(place - (low + high) / 2) <= np.linalg.norm(high - low):
            self.points[crawler], self.originals[crawler] = place, point
            return crawler
        self.leave(crawler)
        return self.join(point)

    # --- saving

    def to_bytes(self) -> bytes:
        """Save: a versioned, checksummed form that `from_bytes` reads."""
        return saved.to_bytes(self)

    @classmethod
    def from_bytes(cls, data: bytes, *, rng: np.random.Generator | None = None) -> Self:
        """Restore; anything damaged raises CorruptStateError."""
        return saved.from_bytes(cls, data, rng)

    # --- inside

    def drop_zone(self, crawler: int, zone: int) -> None:
        """Take one of several zones from a crawler."""
        left = [one for one in self.zones_of(crawler) if one != zone]
        self.zone_of[crawler] = left[0]
        self.more_zones[crawler] = left[1:]
        if not left[1:]:
            del self.more_zones[crawler]

    def _rename_zone(self, crawler: int, zone: int, now: int) -> None:
        """Put one zone of a crawler in the place of another."""
        renamed = [now if one == zone else one for one in self.zones_of(crawler)]
        self.zone_of[crawler] = renamed[0]
        if renamed[1:]:
            self.more_zones[crawler] = renamed[1:]

    def counted(self, joined: int) -> None:
        """Take note of crawlers that joined in compiled code."""
        self._joined += joined
        self._alive += joined

    def _make_room(self, more: int) -> None:
        needed = self._joined + more
        if needed > len(self.zone_of):
            room = max(needed, 2 * len(self.zone_of), 16)
            zone_of = np.full(room, -1, np.int32)
            zone_of[: self._joined] = self.zone_of[: self._joined]
            self.zone_of = zone_of
            self.points, self.originals = (
                np.concatenate([old[: self._joined], np.zeros((room - self._joined, self.space.dimensions))])
                for old in (self.points, self.originals)
            )

    def _clamped_one(self, point: ArrayLike) -> Floats:
        place = np.asarray(point, dtype=np.float64)
        if place.shape != self.space.low.shape:
            raise InputError(f"coordinates here have {self.space.dimensions} numbers")
        if not math.isfinite(place.sum()):
            raise InputError("a coordinate that is not a finite number cannot be placed")
        return np.minimum(np.maximum(place, self.space.low), self.space.high)

    def _clamped(self, points: ArrayLike) -> Floats:
        places = np.asarray(points, dtype=np.float64)
        if places.ndim != 2 or places.shape[1] != self.space.dimensions:  # noqa: PLR2004
            raise InputError(f"coordinates here have {self.space.dimensions} numbers")
        if not np.isfinite(places).all():
            raise InputError("a coordinate that is not a finite number cannot be placed")
        return self.space.clamped(places)
