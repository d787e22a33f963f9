"""Who takes over the zones of a crawler that goes, as CAN prescribes (Ratnasamy et al. 2001)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ipmicra.assign.overlay.overlay import Overlay


def taken_over(overlay: Overlay, crawler: int, zones: list[int]) -> tuple[int, ...]:
    """Find a new owner for each zone of a crawler; return the takers.

    The other half of the same split takes it if it is whole: the two merge into one zone. Else the neighbour
    with the smallest zones takes it beside its own.
    """
    owner = overlay.zones.tree.owner
    if len(overlay) == 1:
        _empty(overlay)
        return ()
    takers = []
    pending = sorted(zones, key=lambda zone: -overlay.zones.volume(zone))
    while pending:
        zone = pending.pop(0)
        taker = _taker(overlay, crawler, zone)
        if taker is None:  # only zones of the same crawler around: theirs are given away first
            pending.append(zone)
            continue
        owner[zone] = taker
        overlay.more_zones.setdefault(taker, []).append(zone)
        takers.append(taker)
        _merge_up(overlay, taker, zone)
    return tuple(dict.fromkeys(takers))


def _taker(overlay: Overlay, crawler: int, zone: int) -> int | None:
    """Choose who takes a zone."""
    zones = overlay.zones
    sibling = zones.sibling(zone)
    if sibling >= 0 and zones.is_leaf(sibling) and zones.tree.owner[sibling] != crawler:
        return int(zones.tree.owner[sibling])
    beside = zones.neighbours(zone, is_torus=overlay.options.is_torus)
    owners = np.unique(zones.tree.owner[beside])
    others = [int(one) for one in owners if one != crawler]
    if not others:
        return None
    return min(others, key=lambda one: (sum(zones.volume(own) for own in overlay.zones_of(one)), one))


def _merge_up(overlay: Overlay, crawler: int, zone: int) -> None:
    """Merge halves that now have the same owner, as far up as possible."""
    zones = overlay.zones
    while (sibling := zones.sibling(zone)) >= 0:
        if not zones.is_leaf(sibling) or zones.tree.owner[sibling] != crawler:
            return
        parent = int(zones.tree.parent[zone])
        zones.merge(parent)
        zones.tree.owner[parent] = crawler
        left = [one for one in overlay.zones_of(crawler) if one not in {zone, sibling}]
        overlay.zone_of[crawler], overlay.more_zones[crawler] = parent, left
        if not left:
            del overlay.more_zones[crawler]
        zone = parent


def _empty(overlay: Overlay) -> None:
    """Leave the space without an owner."""
    tree = overlay.zones.tree
    tree.axis[0], tree.child[0], tree.owner[0] = -1, -1, -1
    tree.counts[:] = 1, 0
