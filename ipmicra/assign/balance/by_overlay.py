"""Assigning by the overlay: the owner of a site's zone, or whoever LBI forwards it to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ipmicra.assign.balance.config import LbiConfig
from ipmicra.assign.balance.forwarding import forwarded
from ipmicra.assign.balance.kept_overlay import KeptOverlay, Standing
from ipmicra.assign.balance.load import relative
from ipmicra.model.types import NOBODY, Floats, Rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Forwarding:
    """Who owns each task's zone, and who takes it in the end."""

    owner: Rows
    taker: Rows
    is_kept: NDArray[np.bool_]
    """Whether a task was left where it was though it lies in another's zone."""
    overlay: KeptOverlay
    """To go on from at the next call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Burden:
    """What crawlers can bear, and what they hold already."""

    units: Floats
    tasks: Floats
    pages: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Tasks:
    """What is to be assigned: each lies where its site stands."""

    sites: Sequence[str]
    pages: Floats
    previous: Rows
    """Who has each task, by the crawlers' numbers; -1 for nobody."""


def assign_by_overlay(
    crawlers: Standing,
    sites: Standing,
    tasks: Tasks,
    burden: Burden,
    lbi: LbiConfig | None,
    kept: KeptOverlay | None = None,
) -> Forwarding:
    """Give tasks, in their order, to the owners of their zones; with `lbi` overloaded ones hand on.

    With `kept`, zones are those of the call before, changed by who left and joined since. Crawlers without
    capacity take no part. Somebody must have some.
    """
    there = np.flatnonzero(burden.units > 0)
    fleet = Standing(
        names=[crawlers.names[row] for row in there.tolist()],
        points=crawlers.points[there],
        is_known=crawlers.is_known[there],
    )
    former = kept.owners(tasks.sites) if kept is not None else [None] * len(tasks.sites)
    if kept is None or not kept.carry(fleet, sites):
        kept = KeptOverlay.begin(fleet, sites)
    column = {crawlers.names[row]: row for row in there.tolist()}
    owner = np.array([column[name or ""] for name in kept.owners(tasks.sites)], dtype=np.int64)
    if lbi is None:
        return Forwarding(owner=owner, taker=owner, is_kept=np.zeros(len(owner), bool), overlay=kept)
    before = np.array([column.get(name or "", NOBODY) for name in former], dtype=np.int64)
    stays = _stays(owner, before, tasks, burden)
    taker = _inserted(owner, stays, tasks, burden, _Around(kept, crawlers.names, column), lbi)
    return Forwarding(owner=owner, taker=taker, is_kept=(stays >= 0) & (stays != owner), overlay=kept)


def _stays(owner: Rows, before: Rows, tasks: Tasks, burden: Burden) -> Rows:
    """Decide what stays where it is: LBI moves tasks on INSERT alone.

    What its zone's owner held goes with the zone to whoever owns it now, up to a fair share of all load: one
    that would be overloaded by it would hand it back.
    """
    can_stay = (tasks.previous >= 0) & (burden.units[np.maximum(tasks.previous, 0)] > 0)
    stays = np.where(can_stay, tasks.previous, NOBODY)
    goes = can_stay & (tasks.previous == before) & (owner != before)
    share = burden.units / burden.units.sum() * (tasks.pages.sum() + burden.pages.sum())
    held = burden.pages + np.bincount(stays[can_stay], tasks.pages[can_stay], len(burden.units))
    for row in np.flatnonzero(goes).tolist():
        heir = owner[row]
        if held[heir] + tasks.pages[row] <= share[heir]:
            stays[row] = heir
            held[heir] += tasks.pages[row]
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
        """Give the neighbours of a crawler."""
        if crawler not in self._beside:
            numbers = self.kept.overlay.neighbours(self._number[crawler])
            self._beside[crawler] = np.array([self._column[number] for number in numbers], dtype=np.int64)
        return self._beside[crawler]

    def distance(self, site: str, crawlers: Rows) -> Floats:
        """Give how far a site is from crawlers."""
        far: Floats = np.linalg.norm(self._points[crawlers] - self.kept.sites[site], axis=1)
        return far


def _inserted(
    owner: Rows, stays: Rows, tasks: Tasks, burden: Burden, around: _Around, lbi: LbiConfig
) -> Rows:
    """Insert what does not stay, in its order; overloaded owners hand on."""
    count, stay = len(burden.units), stays >= 0
    held = burden.tasks + np.bincount(stays[stay], minlength=count)
    held_pages = burden.pages + np.bincount(stays[stay], tasks.pages[stay], count)
    taker = stays.copy()
    for task in np.flatnonzero(~stay).tolist():
        site = tasks.sites[task]
        path = forwarded(
            int(owner[task]),
            relative(held, burden.units),
            relative(held_pages, burden.units),
            around.beside,
            config=lbi,
            distance=lambda crawlers, site=site: around.distance(site, crawlers),  # type: ignore[misc]
        )
        held[path[-1]] += 1
        held_pages[path[-1]] += tasks.pages[task]
        taker[task] = path[-1]
    return taker
