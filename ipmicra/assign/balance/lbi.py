"""Load balancing on INSERT (LBI): the owner of a site's zone takes it or forwards it to a neighbour.

[1] Xu, Zhang, Zhang & Fang 2010, section 4.

Theory of operation
-------------------
A site lies at its network coordinate; the crawler in whose zone that is owns it. Zones follow geography, not
load, so owners may be overloaded. LBI corrects that when a task is inserted, and only then:

- While the holder's relative task load is above its threshold (equation 4: the pieces it takes at most by its
  capacity, or 11 where it does not say), it compares the relative page load of its
  neighbours with its own (with `distance_weight`, also their distance to the site) and hands the task to the
  best. After `hops` steps the last one must take it.
- A task stays with its crawler, however loads change: LBI never moves a task later. The exception is a
  zone that changed hands: what its former owner held goes along to the heir, up to the heir's fair share of
  all load. Beyond that the heir would be overloaded and would hand it back, so the task stays where it is.

Order matters: tasks are inserted one after another, each seeing the load of those before it.
Zones are kept between calls by `overlay/kept.py`; otherwise every call would draw new zones and move sites.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ipmicra.assign.balance.config import LbiConfig
from ipmicra.assign.balance.demand import AssignedSites, Demand
from ipmicra.assign.balance.load import relative
from ipmicra.assign.overlay.config import ZoneConfig
from ipmicra.assign.overlay.kept import KeptOverlay, Standing, drawn
from ipmicra.model.types import NOBODY, Floats, Rows

_LEAST = 1e-9
"""Kept from zero: loads and distances are weighed relative to their mean."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Zoning:
    """How sites are assigned by zones."""

    lbi: LbiConfig | None = None
    """None leaves all sites to the owners of their zones."""
    thresholds: Floats | None = None
    """The crawlers' own (equation 4), instead of the one that `lbi` has for all."""
    config: ZoneConfig = field(default_factory=ZoneConfig)
    kept: KeptOverlay | None = None
    """Zones of the call before."""
    history: Callable[[], Standing] | None = None
    """Returns what else is known to stand where, from which bounds are learnt."""

    def history_of(self, crawlers: Rows) -> Callable[[], Standing] | None:
        """Return the history as some of the crawlers see it."""
        ask = self.history
        return None if ask is None else lambda: ask().towards(crawlers)


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneAnswer:
    """Who takes which site, and by which way."""

    assigned: AssignedSites
    zones: KeptOverlay
    """For the next call."""
    paths: tuple[tuple[int, ...], ...]
    """Of each site: the crawlers from the owner of its zone to the one that takes it."""


def assign_by_zones(demand: Demand, crawlers: Standing, sites: Standing, how: Zoning) -> ZoneAnswer:
    """Assign sites, in their order, to the owners of their zones; with LBI overloaded ones forward.

    Rows of `sites` are those of the demand, and rows with the same name stand in the same place. Zones of the
    call before are changed by who left and joined since. Crawlers without capacity take no part; at least one
    must have some.
    """
    there, kept = np.flatnonzero(demand.units > 0), how.kept
    former = kept.owners(sites.names) if kept is not None else [None] * len(sites.names)
    places = sites.distinct().towards(there)
    zones = drawn(kept, crawlers.taken(there), places, how.config, how.history_of(there))
    column = {crawlers.names[row]: row for row in there.tolist()}
    owner = np.array([column[name or ""] for name in zones.owners(sites.names)], dtype=np.int64)
    paths: list[tuple[int, ...]] = [(one,) for one in owner.tolist()]
    if how.lbi is not None:
        before = np.array([column.get(name or "", NOBODY) for name in former], dtype=np.int64)
        around = _Around(zones, crawlers.names, column)
        paths = _inserted(demand, owner, _stays(demand, owner, before), sites.names, around, how)
    taker = np.array([path[-1] for path in paths], dtype=np.int64)
    no_limit = np.full(len(demand.units), np.inf)
    assigned = AssignedSites.of(demand, taker, owner, no_limit)
    return ZoneAnswer(assigned=assigned, zones=zones, paths=tuple(paths))


def forwarded(  # noqa: PLR0913 - what a crawler knows when a task arrives
    first: int,
    task_load: NDArray[np.generic],
    page_load: Floats,
    neighbours: Callable[[int], Rows],
    *,
    config: LbiConfig,
    distance: Callable[[Rows], Floats] | None = None,
    thresholds: Floats | None = None,
) -> list[int]:
    """Return the crawlers that a task passes, from the owner of its zone to the one that takes it.

    Loads are relative to capacity, one per crawler. A crawler hands a task on while it is overloaded and a
    neighbour is better off than itself; after `config.hops` steps the last one must take it. `distance` (from
    crawlers to the site, in milliseconds) is needed where the config gives distance a weight. `thresholds`
    are the crawlers' own, in place of the one that the config has for all.
    """
    path = [first]
    limits = np.full(len(task_load), config.threshold) if thresholds is None else thresholds
    while len(path) <= config.hops and task_load[path[-1]] > limits[path[-1]]:
        around = np.append(neighbours(path[-1]), path[-1])
        scores = page_load[around]
        if config.distance_weight and distance is not None:
            scores = weighed(scores, distance(around), config.distance_weight)
        best = int(around[scores.argmin()])
        if best == path[-1] or scores.min() >= scores[-1]:
            break
        path.append(best)
    return path


def weighed(loads: Floats, distances: Floats, distance_weight: float) -> Floats:
    """Add loads and distances, each relative to its mean; an infinite load stays infinite."""
    scaled_loads, scaled_distances = (values / _mean(values) for values in (loads, distances))
    total: Floats = (1 - distance_weight) * scaled_loads + distance_weight * scaled_distances
    return np.where(np.isfinite(loads), total, np.inf)


def _mean(values: Floats) -> float:
    finite = values[np.isfinite(values)]
    return max(float(finite.mean()), _LEAST) if len(finite) else 1.0


def _held(demand: Demand) -> tuple[Floats, Floats]:
    """Return the sites and the load that crawlers have besides the demand."""
    nothing = np.zeros(len(demand.units))
    return (
        nothing if demand.held_sites is None else demand.held_sites,
        nothing if demand.held is None else demand.held,
    )


def _stays(demand: Demand, owner: Rows, before: Rows) -> Rows:
    """Return the crawler with which each site stays, -1 for those to insert.

    `before` are the owners of the sites' zones at the call before: what they held goes with the zone to
    its owner of now, up to that one's fair share of all load.
    """
    units, load, previous = demand.units, demand.load, demand.before
    held_load = _held(demand)[1]
    can_stay = (previous >= 0) & (units[np.maximum(previous, 0)] > 0)
    stays = np.where(can_stay, previous, NOBODY)
    goes = can_stay & (previous == before) & (owner != before)
    share = units / units.sum() * (load.sum() + held_load.sum())
    held = held_load + np.bincount(stays[can_stay], load[can_stay], len(units))
    for row in np.flatnonzero(goes).tolist():
        heir = owner[row]
        if held[heir] + load[row] <= share[heir]:
            stays[row] = heir
            held[heir] += load[row]
    return stays


class _Around:
    """Neighbours and distances by the crawlers' numbers."""

    def __init__(self, kept: KeptOverlay, names: Sequence[str], column: dict[str, int]) -> None:
        self.kept = kept
        self._number = {column[name]: number for name, number in kept.crawlers.items()}
        self._column = {number: row for row, number in self._number.items()}
        self._beside: dict[int, Rows] = {}
        self._points = np.full((len(names), kept.overlay.space.dimensions), np.nan)
        for row, number in self._number.items():
            self._points[row] = kept.overlay.originals[number]

    def beside(self, crawler: int) -> Rows:
        """Return the neighbours of a crawler."""
        if crawler not in self._beside:
            numbers = self.kept.overlay.neighbours(self._number[crawler])
            self._beside[crawler] = np.array([self._column[number] for number in numbers], dtype=np.int64)
        return self._beside[crawler]

    def distance(self, site: str, crawlers: Rows) -> Floats:
        """Return how far a site is from crawlers."""
        far: Floats = np.linalg.norm(self._points[crawlers] - self.kept.sites[site], axis=1)
        return far


def _inserted(
    demand: Demand, owner: Rows, stays: Rows, sites: Sequence[str], around: _Around, how: Zoning
) -> list[tuple[int, ...]]:
    """Insert what does not stay, in its order, overloaded owners handing on; return the way of each site."""
    count, stay = len(demand.units), stays >= 0
    lbi = how.lbi or LbiConfig()
    held_sites, held_load = _held(demand)
    held = held_sites + np.bincount(stays[stay], minlength=count)
    held_pages = held_load + np.bincount(stays[stay], demand.load[stay], count)
    paths: list[tuple[int, ...]] = [(one,) for one in stays.tolist()]
    for task in np.flatnonzero(~stay).tolist():
        site = sites[task]
        path = forwarded(
            int(owner[task]),
            relative(held, demand.units),
            relative(held_pages, demand.units),
            around.beside,
            config=lbi,
            distance=lambda crawlers, site=site: around.distance(site, crawlers),  # type: ignore[misc]
            thresholds=how.thresholds,
        )
        held[path[-1]] += 1
        held_pages[path[-1]] += demand.load[task]
        paths[task] = tuple(path)
    return paths
