"""Zones, owners and neighbours by trying everything: slow and obviously right."""

from __future__ import annotations

import numpy as np

from ipmicra.assign.overlay.overlay import Overlay

Box = tuple[tuple[float, ...], tuple[float, ...]]


def boxes_of(overlay: Overlay) -> list[tuple[Box, int]]:
    """Every zone with its owner, as the crawlers themselves tell it."""
    found = []
    for crawler in overlay.crawlers().tolist():
        for zone in overlay.zones_of(crawler):
            low, high = overlay.bounds(zone)
            found.append(((tuple(low.tolist()), tuple(high.tolist())), crawler))
    return found


def holds(box: Box, point: list[float], top: list[float]) -> bool:
    """A zone holds its lower faces; its upper ones only at the end of the space."""
    return all(
        low <= x and (x < high or x == high == end)
        for low, high, x, end in zip(*box, point, top, strict=True)
    )


def owners_of(overlay: Overlay, point: list[float]) -> list[int]:
    top = overlay.space.high.tolist()
    return [owner for box, owner in boxes_of(overlay) if holds(box, point, top)]


def share_face(one: Box, other: Box) -> bool:
    """Touch in one dimension, overlap in all the others."""
    touching = overlapping = 0
    for low, high, low2, high2 in zip(*one, *other, strict=True):
        touching += high == low2 or high2 == low
        overlapping += low < high2 and low2 < high
    return touching == 1 and overlapping == len(one[0]) - 1


def share_face_around(one: Box, other: Box, overlay: Overlay) -> bool:
    """Touch across the ends of the space in one dimension, overlap in all the others."""
    ends = list(zip(overlay.space.low.tolist(), overlay.space.high.tolist(), strict=True))
    for axis, (start, end) in enumerate(ends):
        meets = (one[1][axis] == end and other[0][axis] == start) or (
            other[1][axis] == end and one[0][axis] == start
        )
        rest = [k for k in range(len(ends)) if k != axis]
        if meets and all(one[0][k] < other[1][k] and other[0][k] < one[1][k] for k in rest):
            return True
    return False


def neighbours_of(overlay: Overlay, crawler: int) -> list[int]:
    every = boxes_of(overlay)
    mine = [box for box, owner in every if owner == crawler]
    found = {
        owner
        for box, owner in every
        for own in mine
        if share_face(own, box) or (overlay.options.is_torus and share_face_around(own, box, overlay))
    }
    return sorted(found - {crawler})


def total_volume(overlay: Overlay) -> float:
    """Share of the space that all zones cover."""
    span = overlay.space.high - overlay.space.low
    return float(sum(np.prod((np.array(high) - low) / span) for (low, high), _ in boxes_of(overlay)))
