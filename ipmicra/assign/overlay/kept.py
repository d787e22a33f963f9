"""An overlay that is kept from call to call: zones, crawlers by name, and where sites stand in its frame.

Theory of operation
-------------------
`ipmicra assign` is called again and again: round trips are measured anew, crawlers come and go. Each call
fits coordinates from scratch, and two fits of the same samples differ by a turn, a mirror and a shift. Zones
drawn anew from each fit would hand most sites to other crawlers although nothing changed on the net. So the
zones of the first call are kept, with the coordinates of sites and crawlers *in the frame of that first fit*,
and later fits are brought into that frame:

1. *Anchors* are crawlers, and sites with samples, that exist in both fits. With fewer anchors than dimensions
   plus one the frames cannot be aligned: `carry` returns False and the caller begins a new overlay.
2. *Drift* decides who really moved. It is the median change of a thing's distances to the crawlers of both
   fits, which does not depend on frames. Comparing aligned coordinates instead would see drift where a fit
   merely folded a point over to the other side of the fleet.
3. Crawlers that are gone or drifted farther than their zone's diagonal leave, in the order of their numbers;
   then newcomers and drifted ones join, in the order of the fleet. Takeover and splitting are the overlay's.
4. Sites that drifted farther than the diagonal of their zone, or had no sample before and have one now, or
   stood at another's coordinate and now stand at somebody else's, are inserted anew; all others keep the
   coordinate by which they were inserted. So a site changes its owner only if its zone did, or it moved out
   of its zone.
5. *Bounds* are learnt once, from all coordinates that are known then. If they cut off more than a quarter of
   what is known now, as bounds do that an earlier version learnt from a single site, they say nothing: zones
   are drawn anew, and `reason` says why.

Invariants: `crawlers` names exactly the overlay's crawlers; every site has a coordinate in the overlay's
frame; `known` is a subset of `sites`; what depends on order (leaves, joins) follows an order that the input
fixes, so that the same calls give the same zones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ipmicra.assign.coordinate.align import aligned
from ipmicra.assign.coordinate.space import Space, learn_space, moving_cut
from ipmicra.assign.overlay.config import ZoneConfig
from ipmicra.assign.overlay.division import best_division, plain_division
from ipmicra.assign.overlay.overlay import Overlay
from ipmicra.assign.overlay.sites import Sites
from ipmicra.assign.packing import pack, unpack
from ipmicra.errors import CorruptStateError, InputError
from ipmicra.model.types import Floats, Rows

KIND = "kept overlay"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where named things stand by the newest fit, in a frame of its own."""

    names: Sequence[str]
    points: Floats
    is_known: NDArray[np.bool_]
    """False for what has no samples of its own and stands where something else does."""
    labels: Sequence[str] = ()
    """Where each coordinate comes from, in words; empty if nobody says."""
    away_ms: Floats | None = None
    """Expected round trips to the crawlers of the fleet, one column each; None if nobody says."""

    def taken(self, rows: Rows) -> Standing:
        """Return some of them."""
        return Standing(
            names=[self.names[row] for row in rows.tolist()],
            points=self.points[rows],
            is_known=self.is_known[rows],
            labels=[self.labels[row] for row in rows.tolist()] if self.labels else (),
            away_ms=None if self.away_ms is None else self.away_ms[rows],
        )

    def towards(self, crawlers: Rows) -> Standing:
        """Return the same with round trips to some of the crawlers."""
        return replace(self, away_ms=None if self.away_ms is None else self.away_ms[:, crawlers])

    def label(self, row: int) -> str:
        """Return where a coordinate comes from."""
        return self.labels[row] if self.labels else ""

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
    """Sites whose coordinate rests on samples; the others stand where something else does."""
    labels: dict[str, str] = field(default_factory=dict)
    """Where the coordinates of sites come from, in words."""
    config: ZoneConfig | None = None
    """How the zones were drawn; None for those of versions that did not say."""
    reason: str = ""
    """Why these zones are new; empty for zones that were carried over."""

    @classmethod
    def begin(
        cls,
        crawlers: Standing,
        sites: Standing,
        config: ZoneConfig | None = None,
        history: Standing | None = None,
    ) -> Self:
        """Let crawlers join one after the other, in a space learnt from all coordinates that are known.

        Those are the crawlers', the sites' and `history`, the ones that were known before. Axes and
        order of joining are those that bring known sites nearest, where somebody says how far these are.
        """
        config = config or ZoneConfig()
        known = [sites.taken(np.flatnonzero(sites.is_known)), *([] if history is None else [history])]
        seen = np.concatenate([crawlers.points, *(one.points for one in known)])
        cut = moving_cut(seen, config.moved)
        _check_width(learn_space(seen, cut), crawlers, config)

        def draw(turn: Floats) -> Callable[[Rows], Overlay]:
            space, points = learn_space(seen @ turn, cut), crawlers.points @ turn

            def join(order: Rows) -> Overlay:
                kept = cls(Overlay(space, scheme=config.scheme, expected=len(order)))
                kept.overlay.join(points[order[0]])
                with kept._loaded(sites.points @ turn):
                    kept.overlay.join_many(points[order[1:]])
                return kept.overlay

            return join

        told = [one for one in known if one.away_ms is not None]
        if told:
            places = np.concatenate([one.points for one in told])
            away = np.concatenate([one.away_ms for one in told if one.away_ms is not None])
            best = best_division(crawlers.points, (places, away), draw, config)
        else:
            best = plain_division(crawlers.points, draw)
        kept = cls(best.zones, config=config)
        kept.crawlers = {crawlers.names[row]: number for number, row in enumerate(best.order.tolist())}
        kept._insert(sites, sites.points @ best.turn)
        return kept

    @contextmanager
    def _loaded(self, points: Floats) -> Iterator[None]:
        """Lend sites to the overlay while crawlers join: some schemes split by them."""
        if self.overlay.code is None and len(points) and len(self.overlay):
            self.overlay.insert(points)
        try:
            yield
        finally:
            self.overlay.sites = Sites(self.overlay.space.dimensions)

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
        with self._loaded(np.array(list(self.sites.values()))):
            for name, point in zip(crawlers.names, aligned(crawlers.points, now, then), strict=True):
                if name not in self.crawlers:
                    self.crawlers[name] = self.overlay.join(point)
        for name in moved:
            del self.sites[name]
            self.known.discard(name)
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
        """Return the sites with their first samples, beyond their zone's diagonal, or at something else."""
        moved = [
            name
            for row, name in enumerate(sites.names)
            if name in self.sites and name not in self.known
            if sites.is_known[row] or sites.label(row) != self.labels.get(name, "")
        ]
        rows = [row for row, name in enumerate(sites.names) if sites.is_known[row] and name in self.known]
        if not rows:
            return moved
        names = [sites.names[row] for row in rows]
        then = np.stack([self.sites[name] for name in names])
        drifts = drift((then, sites.points[rows]), fleet).tolist()
        return moved + [
            name
            for name, owner, ms in zip(names, self.owners(names), drifts, strict=True)
            if owner is None or self._is_far(owner, ms)
        ]

    def _insert(self, sites: Standing, points: Floats) -> None:
        """Insert the sites that are not in the overlay yet."""
        for row, (name, point) in enumerate(zip(sites.names, points, strict=True)):
            is_new, is_known = name not in self.sites, bool(sites.is_known[row])
            if is_new:
                self.sites[name] = point
                if is_known:
                    self.known.add(name)
            if is_new or is_known:
                self.labels[name] = sites.label(row)

    def cut_off(self) -> float:
        """Return the share of crawlers and sites with samples that lie outside the bounds of the space."""
        there = [self._points_of(list(self.crawlers))]
        there += [self.sites[name][None] for name in self.sites if name in self.known]
        return float(self.overlay.space.moved(np.concatenate(there)).mean())

    def to_bytes(self) -> bytes:
        """Save: a versioned, checksummed form that `from_bytes` reads."""
        facts = {
            "crawlers": self.crawlers,
            "sites": list(self.sites),
            "known": [name in self.known for name in self.sites],
            "labels": [self.labels.get(name, "") for name in self.sites],
            "config": None if self.config is None else self.config.wished,
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
            labels = dict(zip(sites, facts.get("labels") or [""] * len(sites), strict=True))
            config = ZoneConfig(**facts["config"]) if facts.get("config") else None
        except (KeyError, TypeError, ValueError, AttributeError, InputError) as error:
            raise CorruptStateError(f"saved {KIND}: {error}") from error
        has_names = sorted(crawlers.values()) == overlay.crawlers().tolist()
        if not has_names or (sites and arrays["points"].shape[1] != overlay.space.dimensions):
            raise CorruptStateError(f"saved {KIND}: names, zones and coordinates do not fit together")
        return cls(overlay, crawlers=crawlers, sites=sites, known=known, labels=labels, config=config)


def _check_width(space: Space, crawlers: Standing, config: ZoneConfig) -> None:
    """Refuse a space in which nothing can be told apart."""
    wide_ms = float(np.linalg.norm(space.high - space.low))
    if len(crawlers.names) > 1 and wide_ms < config.least_ms:
        raise InputError(
            f"all crawlers and sites lie within {wide_ms:.2g} ms of each other, so zones would mean "
            "nothing: check what was measured (`ipmicra crawler measure`), or use --backend balance"
        )


def drawn(
    kept: KeptOverlay | None,
    crawlers: Standing,
    sites: Standing,
    config: ZoneConfig,
    history: Callable[[], Standing] | None = None,
) -> KeptOverlay:
    """Return zones for a fleet: those of the call before if they still fit, else new ones with the reason.

    `history` returns what else is known to stand where, in the frame of now.
    """
    reason = "" if kept is None else _unfit(kept, crawlers, config)
    if kept is not None and not reason:
        if kept.carry(crawlers, sites) and kept.cut_off() <= config.most_moved:
            return kept
        reason = "crawlers and sites are no longer where the zones' bounds were learnt"
    made = KeptOverlay.begin(crawlers, sites, config, None if history is None else history())
    made.reason = reason
    return made


def _unfit(kept: KeptOverlay, crawlers: Standing, config: ZoneConfig) -> str:
    """Say why kept zones cannot serve; empty if they can."""
    if kept.config is None:
        return f"they were drawn by an earlier version, by the scheme {kept.overlay.scheme}"
    if kept.config.wished != config.wished:
        return "they were drawn with other options"
    if kept.overlay.space.dimensions != crawlers.points.shape[1]:
        return "the fleet now allows for another number of dimensions"
    return ""


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
