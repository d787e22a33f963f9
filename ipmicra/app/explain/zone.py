"""Where a site stands in coordinate space, whose zone that is, and who is beside it: from the kept zones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ipmicra.app.assign.assign import kept_overlay
from ipmicra.edge.store.ports import StorePort
from ipmicra.model.address import Address


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneOfSite:
    """A site in the zones of `ipmicra assign --backend can` or `lbi`."""

    coordinate_ms: tuple[float, ...]
    source: str
    """Where the coordinate comes from, in words."""
    scheme: str
    owner: str
    low_ms: tuple[float, ...]
    high_ms: tuple[float, ...]
    """Corners of the owner's zone around it."""
    is_outside: bool
    """Whether the coordinate lies outside the bounds of the space, and is moved to them."""
    away_ms: float
    """Distance to the owner in coordinate space."""
    nearest: str
    """The crawler whose coordinate is nearest."""
    nearest_ms: float
    neighbours: tuple[str, ...]
    """Crawlers to whom the owner can hand it on."""

    def as_record(self) -> dict[str, Any]:
        """Return it as a plain dictionary."""
        return {
            **{name: list(one) if isinstance(one, tuple) else one for name, one in asdict(self).items()},
            "away_ms": round(self.away_ms, 1),
            "nearest_ms": round(self.nearest_ms, 1),
        }


def explain_zone(store: StorePort, address: Address) -> ZoneOfSite | None:
    """Look a site up in the kept zones; None if it is not in them, or they are damaged."""
    kept, _ = kept_overlay(store)
    if kept is None or not len(kept.overlay) or not kept.labels.get(str(address)):
        return None
    overlay, point = kept.overlay, kept.sites[str(address)]
    names = {number: name for name, number in kept.crawlers.items()}
    owner = overlay.owner(point)
    low, high = overlay.bounds(overlay.zones.holding(overlay.space.clamped(point)))
    away = {names[one]: float(np.linalg.norm(overlay.originals[one] - point)) for one in sorted(names)}
    nearest = min(away, key=away.__getitem__)
    return ZoneOfSite(
        coordinate_ms=_rounded(point),
        source=kept.labels[str(address)],
        scheme=overlay.scheme,
        owner=names[owner],
        low_ms=_rounded(low),
        high_ms=_rounded(high),
        is_outside=bool(overlay.space.moved(point)),
        away_ms=away[names[owner]],
        nearest=nearest,
        nearest_ms=away[nearest],
        neighbours=tuple(sorted(names[one] for one in overlay.neighbours(owner))),
    )


def _rounded(point: np.ndarray) -> tuple[float, ...]:
    return tuple(round(float(one), 1) for one in point)


def render_zone(zone: ZoneOfSite) -> Iterator[str]:
    """Write it for people, line by line."""
    yield f"  It stands at ({', '.join(f'{one:.1f}' for one in zone.coordinate_ms)}) ms, {zone.source}."
    sides = zip(zone.low_ms, zone.high_ms, strict=True)
    box = " x ".join(f"{low:.0f} to {high:.0f}" for low, high in sides)
    beyond = ", to whose bounds it is moved" if zone.is_outside else ""
    yield f"  That is in the zone of {zone.owner}, {box} ms, split by {zone.scheme}{beyond}."
    yield f"  {zone.owner} is {zone.away_ms:.1f} ms from there in coordinate space{_nearer(zone)}."
    beside = ", ".join(zone.neighbours) or "nobody"
    yield f"  An overloaded {zone.owner} hands sites on to its neighbours: {beside}."


def _nearer(zone: ZoneOfSite) -> str:
    if zone.nearest == zone.owner:
        return ", nearer than all others"
    return f"; {zone.nearest} is nearer ({zone.nearest_ms:.1f} ms), but a cut between zones is in the way"
