"""An overlay as bytes and back."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ipmicra.assign.coordinate.space import Space
from ipmicra.assign.overlay.options import CutRule, Half, OverlayOptions
from ipmicra.assign.packing import pack, unpack
from ipmicra.errors import CorruptStateError, InputError

if TYPE_CHECKING:
    from ipmicra.assign.overlay.overlay import Overlay

KIND = "overlay"
Kind = TypeVar("Kind", bound="Overlay")


def to_bytes(overlay: Overlay) -> bytes:
    """Save zones, crawlers and sites; the generator is not part of it."""
    tree = overlay.zones.tree
    used, joined = int(tree.counts[0]), len(overlay.zone_of)
    facts = {"scheme": overlay.scheme, "options": asdict(overlay.options), "expected": overlay.expected}
    facts["joined"] = int(overlay._joined)  # noqa: SLF001 - the other half of the class
    arrays: dict[str, NDArray[Any]] = {
        "low": overlay.space.low,
        "high": overlay.space.high,
        "axis": tree.axis[:used],
        "cut": tree.cut[:used],
        "child": tree.child[:used],
        "owner": tree.owner[:used],
        "crawlers": overlay.originals[:joined],
        "sites": overlay.sites.originals,
        "holders": overlay.sites.holder,
    }
    return pack(KIND, facts, arrays)


def from_bytes(kind: type[Kind], data: bytes, rng: np.random.Generator | None) -> Kind:
    """Restore an overlay, checking that its zones form a tree and every owner is a crawler."""
    facts, arrays = unpack(KIND, data)
    try:
        options = facts["options"]
        overlay = kind(
            Space(low=arrays["low"], high=arrays["high"]),
            scheme=facts["scheme"],
            options=OverlayOptions(
                **{**options, "half": Half(options["half"]), "cut": CutRule(options["cut"])}
            ),
            expected=facts["expected"],
            rng=rng,
        )
        _fill(overlay, arrays, int(facts["joined"]))
    except (KeyError, TypeError, ValueError, IndexError, InputError) as error:
        raise CorruptStateError(f"saved {KIND}: {error}") from error
    return overlay


def _fill(overlay: Overlay, arrays: dict[str, NDArray[Any]], joined: int) -> None:
    """Rebuild the zones from the root down; every bound follows from the cuts."""
    if len(arrays["crawlers"]) < joined:
        raise ValueError(f"{joined} crawlers, but {len(arrays['crawlers'])} coordinates")
    overlay._make_room(joined)  # noqa: SLF001
    overlay.originals[:joined] = arrays["crawlers"][:joined]
    overlay.points[:joined] = overlay.space.clamped(arrays["crawlers"][:joined])
    zones, owner_of = overlay.zones, {}
    zones.reserve(len(arrays["axis"]))
    pending = [(0, 0)]
    while pending:
        old, new = pending.pop()
        axis = int(arrays["axis"][old])
        if axis < 0:
            owner_of[new] = int(arrays["owner"][old])
            continue
        position, child = float(arrays["cut"][old]), int(arrays["child"][old])
        if not 0 <= child < len(arrays["axis"]) - 1 or len(owner_of) > len(arrays["axis"]):
            raise ValueError("the zones form no tree")
        if axis >= overlay.space.dimensions or not zones.can_cut(new, axis, position):
            raise ValueError("a cut lies outside its zone")
        lower = zones.split(new, axis, position)
        pending += [(child + 1, lower + 1), (child, lower)]
    _give(overlay, owner_of, joined)
    holders = arrays["holders"].astype(np.int64)
    if len(holders) and (holders.max() >= joined or holders.min() < -1):
        raise ValueError("a site's owner never joined")
    sites = arrays["sites"].reshape(-1, overlay.space.dimensions)
    overlay.sites.add(overlay.space.clamped(sites), sites, holders)


def _give(overlay: Overlay, owner_of: dict[int, int], joined: int) -> None:
    """Restore the owners of the zones."""
    for zone, owner in owner_of.items():
        if not -1 <= owner < joined or (owner < 0 and len(owner_of) > 1):
            raise ValueError(f"zone {zone} has no owner that joined")
        overlay.zones.tree.owner[zone] = owner
        if owner < 0:
            continue
        if overlay.zone_of[owner] < 0:
            overlay.zone_of[owner] = zone
        else:
            overlay.more_zones.setdefault(owner, []).append(zone)
    overlay._joined = joined  # noqa: SLF001
    overlay._alive = int((overlay.zone_of >= 0).sum())  # noqa: SLF001
