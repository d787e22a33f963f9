"""NS, nearer side: our own. Cuts where the sites seen so far end up nearest to their crawlers.

Like MP it parts the newcomer from the zone's crawler, so that both stand in their own zones. Unlike MP it tries every
dimension and every place between the two, and takes the cut with the least summed distance from the zone's sites to the
crawler of their side, plus a small price on uneven halves. Few sites say little: some imagined ones, spread evenly on the
line between the two crawlers, pull the cut to the middle, where MP cuts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ipmicra.assign.overlay.schemes.join import Cut, Floats, JoinView
from ipmicra.assign.overlay.schemes.mp import mp


@dataclass(frozen=True, slots=True, kw_only=True)
class NearerSideConfig:
    """Tuning of NS; both numbers are ours, set on generated populations (docs/overlay.md)."""

    imagined: int = 16
    """Sites imagined on the line between the two crawlers."""
    price: float = 0.04
    """What one site more on one side than on the other costs, as a part of the sites' mean distance."""


CONFIG = NearerSideConfig()


def ns(view: JoinView) -> Cut:
    """Cut where sites, seen and imagined, are nearest to the crawler of their side."""
    old, new = view.owner_point(view.zone), view.point
    line = np.linspace(0, 1, CONFIG.imagined)[:, None]
    sites = np.concatenate([view.sites(view.zone), old + line * (new - old)])
    to_old, to_new = (np.linalg.norm(sites - end, axis=1) for end in (old, new))
    best = mp(view)
    least = np.inf
    for axis in np.argsort(-np.abs(new - old), kind="stable").tolist():
        is_upper = bool(new[axis] > old[axis])
        below, above = (to_old, to_new) if is_upper else (to_new, to_old)
        places, costs = _costs(sites[:, axis], below, above)
        is_between = (places > min(old[axis], new[axis])) & (places <= max(old[axis], new[axis]))
        if is_between.any():
            costs = np.where(is_between, costs, np.inf)
            choice = int(costs.argmin())
            if costs[choice] < least:
                least = costs[choice]
                best = Cut(zone=view.zone, axis=axis, position=float(places[choice]), takes_upper=is_upper)
    return best


def _costs(places: Floats, below: Floats, above: Floats) -> tuple[Floats, Floats]:
    """Give the places half-way between successive sites, and what a cut there costs."""
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    under = np.cumsum(below[order])[:-1]
    over = np.cumsum(above[order][::-1])[::-1][1:]
    uneven = np.abs(2 * np.arange(1, len(places)) - len(places))
    price = CONFIG.price * (below + above).mean() / 2
    costs = np.where(ordered[1:] > ordered[:-1], under + over + price * uneven, np.inf)
    return ordered[:-1] + (ordered[1:] - ordered[:-1]) / 2, costs
