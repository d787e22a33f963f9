"""The tree of zones: arrays that grow, and queries on them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ipmicra.assign.coordinate.space import Space
from ipmicra.model.types import Floats
from ipmicra.native import kernels

ZoneRows = NDArray[np.int32]
_FIRST_ROOM = 64


class Tree(NamedTuple):
    """The arrays of a tree of zones, one entry per zone; `native/assign/zones.c` reads and writes them."""

    low: Floats
    high: Floats
    axis: NDArray[np.int8]
    """Dimension in which a zone is cut, -1 for a leaf."""
    cut: Floats
    child: ZoneRows
    """The half below the cut; the other half is the next."""
    parent: ZoneRows
    owner: ZoneRows
    free: ZoneRows
    """A stack of pairs given back."""
    counts: NDArray[np.int64]
    """Zones in use so far, and pairs on the stack."""


class Zones:
    """A k-d tree whose leaves are the zones; zone 0 is the whole space.

    Zones are half-open, so that each point of the space lies in one: a point on a cut belongs to the upper
    half, and the space's own upper bounds belong to the zones there.
    """

    def __init__(self, space: Space) -> None:
        """Start with one zone without an owner."""
        self.space = space
        self.tree = _blank(_FIRST_ROOM, space.dimensions)
        self.tree.low[0], self.tree.high[0] = space.low, space.high
        self.tree.counts[0] = 1

    def reserve(self, splits: int) -> None:
        """Make room for more splits."""
        needed = int(self.tree.counts[0]) + 2 * splits
        if needed <= len(self.tree.axis):
            return
        larger = _blank(max(needed, 2 * len(self.tree.axis)), self.space.dimensions)
        for name in Tree._fields:
            old = getattr(self.tree, name)
            getattr(larger, name)[: len(old)] = old
        self.tree = larger

    def holding(self, point: Floats) -> int:
        """Return the zone that holds a point of the space."""
        return kernels.leaf_of(self.tree, point)

    def holding_many(self, points: Floats) -> ZoneRows:
        """Return the zones that hold points of the space."""
        leaves = np.empty(len(points), np.int32)
        kernels.leaves_of(self.tree, points, leaves)
        return leaves

    def split(self, zone: int, axis: int, position: float) -> int:
        """Cut a zone in two; return the lower half, the upper one is the next number."""
        self.reserve(1)
        return kernels.split_zone(self.tree, zone, axis, position)

    def can_cut(self, zone: int, axis: int, position: float) -> bool:
        """Return whether a cut lies strictly inside a zone, so that both halves have a volume."""
        return bool(self.tree.low[zone, axis] < position < self.tree.high[zone, axis])

    def loop_cut(self, zone: int) -> tuple[int, float]:
        """Return the axis and place of the middle cut; axis -1 for a zone too small for any."""
        return kernels.loop_cut(self.tree, zone)

    def merge(self, parent: int) -> None:
        """Make two halves that are leaves one zone again, without an owner."""
        self.tree.free[self.tree.counts[1]] = self.tree.child[parent]
        self.tree.counts[1] += 1
        for half in (self.tree.child[parent], self.tree.child[parent] + 1):
            self.tree.owner[half], self.tree.parent[half] = -1, -1
        self.tree.axis[parent] = -1
        self.tree.child[parent] = -1

    def sibling(self, zone: int) -> int:
        """Return the other half of what a zone was split from; -1 for the whole space."""
        if zone == 0:
            return -1
        first = int(self.tree.child[self.tree.parent[zone]])
        return first + 1 if zone == first else first

    def is_leaf(self, zone: int) -> bool:
        """Return whether a zone is not split."""
        return bool(self.tree.axis[zone] < 0)

    def neighbours(self, zone: int, *, is_torus: bool) -> ZoneRows:
        """Return the zones that share a face with a zone, in ascending order."""
        found = np.empty(64, np.int32)
        count = kernels.neighbours_of(self.tree, zone, is_torus, found)
        if count > len(found):
            found = np.empty(count, np.int32)
            kernels.neighbours_of(self.tree, zone, is_torus, found)
        unique: ZoneRows = np.unique(found[:count])
        return unique

    def path(self, start: int, point: Floats, *, is_torus: bool) -> ZoneRows:
        """Return the zones of a greedy walk to the one that holds a point, without the start."""
        path = np.empty(int(self.tree.counts[0]) + 1, np.int32)
        hops = kernels.route(self.tree, start, point, is_torus, path)
        walked: ZoneRows = path[:hops].copy()
        return walked

    def hops(self, starts: ZoneRows, points: Floats, *, is_torus: bool) -> NDArray[np.int64]:
        """Count the hops of many walks."""
        counted = np.empty(len(starts), np.int64)
        path = np.empty(int(self.tree.counts[0]) + 1, np.int32)
        kernels.hops_of_many(self.tree, starts, points, is_torus, path, counted)
        return counted

    def volume(self, zone: int) -> float:
        """Return the volume of a zone as a share of the space."""
        widths = (self.tree.high[zone] - self.tree.low[zone]) / (self.space.high - self.space.low)
        return float(np.prod(widths))

    def leaves(self) -> NDArray[np.intp]:
        """Return all zones that are in use and not split."""
        used = int(self.tree.counts[0])
        is_free = np.zeros(used, bool)
        freed = self.tree.free[: int(self.tree.counts[1])]
        is_free[freed], is_free[freed + 1] = True, True
        return np.flatnonzero((self.tree.axis[:used] < 0) & ~is_free)


def _blank(room: int, dimensions: int) -> Tree:
    return Tree(
        low=np.zeros((room, dimensions)),
        high=np.zeros((room, dimensions)),
        axis=np.full(room, -1, np.int8),
        cut=np.zeros(room),
        child=np.full(room, -1, np.int32),
        parent=np.full(room, -1, np.int32),
        owner=np.full(room, -1, np.int32),
        free=np.zeros(room, np.int32),
        counts=np.zeros(2, np.int64),
    )
