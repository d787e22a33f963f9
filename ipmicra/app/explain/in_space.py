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
class InSpace:
    """A site in the zones of `ipmicra assign --backend can` or `lbi`."""

    point_ms: tuple[float, ...]
    rests_on: str
    """What the coordinate comes from, in words; empty if an earlier version placed it."""
    scheme: str
    zone_of: str
    """The crawler that owns the zone; others may take the site for load."""
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


def find_in_space(store: StorePort, address: Address) -> InSpace | None:
    """Look a site up in the kept zones; None if it is not in them, or they are damaged."""
    kept, _ = kept_overlay(store)
    if kept is None or not len(kept.overlay) or str(address) not in kept.sites:
        return None
    overlay, point = kept.overlay, kept.sites[str(address)]
    names = {number: name for name, number in kept.crawlers.items()}
    owner = overlay.owner(point)
    low, high = overlay.bounds(overlay.zones.holding(overlay.space.clamped(point)))
    away = {names[one]: float(np.linalg.norm(overlay.originals[one] - point)) for one in sorted(names)}
    nearest = min(away, key=away.__getitem__)
    return InSpace(
        point_ms=_rounded(point),
        rests_on=kept.labels.get(str(address), ""),
        scheme=overlay.scheme,
        zone_of=names[owner],
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


def render_in_space(found: InSpace | None) -> Iterator[str]:
    """Write it for people, line by line."""
    if found is None:
        yield "  It has no coordinate yet: `ipmicra assign SEEDS --backend can` finds one."
        return
    point = ", ".join(f"{one:.1f}" for one in found.point_ms)
    yield f"  Its coordinate is ({point}) ms{f', {found.rests_on}' if found.rests_on else ''}."
    sides = zip(found.low_ms, found.high_ms, strict=True)
    box = " x ".join(f"{low:.0f} to {high:.0f}" for low, high in sides)
    beyond = ", to whose bounds it is moved" if found.is_outside else ""
    yield f"  That is in the zone of {found.zone_of}, by scheme {found.scheme}: {box} ms{beyond}."
    yield f"  {found.zone_of} is {found.away_ms:.1f} ms from there in coordinate space{_nearer(found)}."
    beside = ", ".join(found.neighbours) or "nobody"
    yield f"  An overloaded {found.zone_of} hands sites on to its neighbours: {beside}."


def _nearer(found: InSpace) -> str:
    if found.nearest == found.zone_of:
        return ", nearer than all others"
    return f"; {found.nearest} is nearer ({found.nearest_ms:.1f} ms), but a cut between zones is in the way"
