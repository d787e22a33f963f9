"""NS, nearer side: our own. Cuts through gaps, where the sites seen so far end up nearest to their crawlers.

Like MP it parts the newcomer from the zone's crawler, so that both stand in their own zones. Unlike MP it
tries every dimension and every place between the two. A cut costs three things: the distance of the zone's
sites to the crawler of their side; the sites close to the cut, because a cut is for ever and crawlers that
join later can never serve sites beyond it; and uneven halves. Few sites say little: some imagined ones,
spread evenly on the line between the two crawlers, pull the cut to the middle, where MP cuts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ipmicra.assign.overlay.schemes.join import Cut, JoinView
from ipmicra.assign.overlay.schemes.mp import mp
from ipmicra.model.types import Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class NearerSideConfig:
    """Tuning of NS; all numbers are ours (docs/overlay.md says how they were found)."""

    imagined: int = 16
    """Sites imagined on the line between the two crawlers."""
    damage: float = 0.5
    """What a site on the cut costs, as a part of the distance between the two crawlers."""
    reach: float = 0.1
    """How fast that fades with the distance from the cut, in the same unit."""
    price: float = 0.12
    """What one site more on one side than on the other costs, as a part of the sites' mean distance."""


CONFIG = NearerSideConfig()


def ns(view: JoinView) -> Cut:
    """Cut where sites are nearest to the crawler of their side and few are close to the cut."""
    old, new = view.owner_point(view.zone), view.point
    seen = view.sites(view.zone)
    line = old + np.linspace(0, 1, CONFIG.imagined)[:, None] * (new - old)
    sites = np.concatenate([seen, line])
    truly = np.concatenate([view.site_originals(view.zone), line])
    ends = view.owner_original(view.zone), view.original
    to_old, to_new = (np.linalg.norm(truly - end, axis=1) for end in ends)
    distance = float(np.linalg.norm(new - old))
    best, least = mp(view), np.inf
    for axis in np.argsort(-np.abs(new - old), kind="stable").tolist():
        is_upper = bool(new[axis] > old[axis])
        below, above = (to_old, to_new) if is_upper else (to_new, to_old)
        places, costs = _side_costs(sites[:, axis], below, above)
        is_between = (places > min(old[axis], new[axis])) & (places <= max(old[axis], new[axis]))
        costs = np.where(is_between, costs + _damage(places, seen[:, axis], distance), np.inf)
        choice = int(costs.argmin())
        if costs[choice] < least:
            least = float(costs[choice])
            best = Cut(zone=view.zone, axis=axis, position=float(places[choice]), takes_upper=is_upper)
    return best


def _side_costs(places: Floats, below: Floats, above: Floats) -> tuple[Floats, Floats]:
    """Return the places half-way between sites, and what distances and uneven halves cost there."""
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    under = np.cumsum(below[order])[:-1]
    over = np.cumsum(above[order][::-1])[::-1][1:]
    uneven = np.abs(2 * np.arange(1, len(places)) - len(places))
    price = CONFIG.price * (below + above).mean() / 2
    costs = np.where(ordered[1:] > ordered[:-1], under + over + price * uneven, np.inf)
    return ordered[:-1] + (ordered[1:] - ordered[:-1]) / 2, costs


def _damage(places: Floats, sites: Floats, distance: float) -> Floats:
    """Return what the sites close to each place cost."""
    if distance == 0:
        return np.zeros(len(places))
    away = np.abs(places[:, None] - sites) / (CONFIG.reach * distance)
    return np.asarray(CONFIG.damage * distance * np.exp(-away).sum(axis=1))
