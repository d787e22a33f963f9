"""Assigning by the overlay: the owner of a site's zone, or whoever LBI forwards it to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ipmicra.assign.balance.config import LbiConfig
from ipmicra.assign.balance.forwarding import forwarded
from ipmicra.assign.balance.load import relative
from ipmicra.assign.coordinate.space import learn_space_moving
from ipmicra.assign.overlay.overlay import Overlay

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
_MOVED = 0.05
"""Part of the sites that the bounds of coordinate space move; see docs/overlay.md."""
SCHEME = "DL"
"""Zones are cut in the middle, one dimension after the other, as in NC-CAN."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forwarding:
    """Who owns each task's zone, and who takes it in the end."""

    owner: Rows
    taker: Rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Burden:
    """What crawlers can bear, and what they hold already."""

    units: Floats
    tasks: Floats
    pages: Floats


def assign_by_overlay(
    crawler_points: Floats, site_points: Floats, pages: Floats, burden: Burden, lbi: LbiConfig | None
) -> Forwarding:
    """Give tasks, in their order, to the owners of their zones; with `lbi` overloaded ones hand on.

    Crawlers without capacity take no part. Somebody must have some.
    """
    units = burden.units
    there = np.flatnonzero(units > 0)
    overlay = Overlay(learn_space_moving(site_points, _MOVED), scheme=SCHEME)
    overlay.join_many(crawler_points[there])
    owners = overlay.owners(site_points)
    if lbi is None:
        return Forwarding(owner=there[owners], taker=there[owners])
    beside = {number: np.array(overlay.neighbours(number), dtype=np.int64) for number in range(len(there))}
    held, held_pages = burden.tasks[there].copy(), burden.pages[there].copy()
    takers = []
    for task, owner in enumerate(owners.tolist()):
        apart = crawler_points[there] - site_points[task]
        path = forwarded(
            owner,
            relative(held, units[there]),
            relative(held_pages, units[there]),
            beside.__getitem__,
            config=lbi,
            distance=lambda around, apart=apart: np.linalg.norm(apart[around], axis=1),  # type: ignore[misc]
        )
        held[path[-1]] += 1
        held_pages[path[-1]] += pages[task]
        takers.append(path[-1])
    return Forwarding(owner=there[owners], taker=there[np.array(takers, dtype=np.int64)])
