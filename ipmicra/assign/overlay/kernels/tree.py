"""The tree of zones as arrays: joining, owners, neighbours, routing."""

from __future__ import annotations

from collections import namedtuple

import numba

Tree = namedtuple("Tree", "low high axis cut child parent owner free counts")  # noqa: PYI024 - numba knows no other
"""One entry a zone. `axis` is -1 for a leaf; the halves of an inner zone stand at `child` (below the cut) and
`child + 1`. `free` is a stack of pairs given back; `counts` are zones in use so far and pairs on that
stack."""
DIMENSION_LOOP, MIDDLE_POINT = 0, 1
"""Schemes that this file knows."""


@numba.njit(nogil=True, cache=True)
def leaf_of(tree, point):
    """Find the zone that holds a point; a point on a cut lies above it."""
    zone = 0
    while tree.axis[zone] >= 0:
        zone = tree.child[zone] + (1 if point[tree.axis[zone]] >= tree.cut[zone] else 0)
    return zone


@numba.njit(nogil=True, cache=True)
def leaves_of(tree, points, leaves):
    """Find the zones that hold points."""
    for i in range(len(points)):
        zone = 0
        axis = tree.axis[0]
        while axis >= 0:
            zone = tree.child[zone] + (1 if points[i, axis] >= tree.cut[zone] else 0)
            axis = tree.axis[zone]
        leaves[i] = zone


@numba.njit(nogil=True, cache=True)
def split(tree, zone, axis, cut):
    """Cut a leaf in two; give the lower half."""
    if tree.counts[1] > 0:
        tree.counts[1] -= 1
        first = tree.free[tree.counts[1]]
    else:
        first = tree.counts[0]
        tree.counts[0] += 2
    for half in (first, first + 1):
        tree.low[half] = tree.low[zone]
        tree.high[half] = tree.high[zone]
        tree.axis[half] = -1
        tree.parent[half] = zone
        tree.owner[half] = tree.owner[zone]
    tree.high[first, axis] = cut
    tree.low[first + 1, axis] = cut
    tree.axis[zone] = axis
    tree.cut[zone] = cut
    tree.child[zone] = first
    tree.owner[zone] = -1
    return first


@numba.njit(nogil=True, cache=True)
def roomiest(tree, zone, wanted):
    """Give the wanted axis if a zone has a middle there, else the widest that has; -1 if none."""
    best = -1
    width = 0.0
    for k in range(tree.low.shape[1]):
        low, high = tree.low[zone, k], tree.high[zone, k]
        middle = low + (high - low) / 2
        if low < middle < high:
            if k == wanted:
                return k
            if high - low > width:
                best, width = k, high - low
    return best


@numba.njit(nogil=True, cache=True)
def next_axis(tree, zone):
    """Give the dimension after the one that made the zone."""
    return (tree.axis[tree.parent[zone]] + 1) % tree.low.shape[1] if zone > 0 else 0


@numba.njit(nogil=True, cache=True)
def middle_cut(tree, zone, one, other):
    """Choose the cut half-way between two points in the dimension in which they differ most.

    Falls back on the dimension loop where that cut is not inside the zone.
    """
    axis = 0
    for k in range(1, len(one)):
        if abs(one[k] - other[k]) > abs(one[axis] - other[axis]):
            axis = k
    cut = one[axis] + (other[axis] - one[axis]) / 2
    if one[axis] != other[axis] and tree.low[zone, axis] < cut < tree.high[zone, axis]:
        # The cut must part the two even where they are neighbouring floating-point numbers.
        if cut > min(one[axis], other[axis]):
            return axis, cut
        return axis, max(one[axis], other[axis])
    return loop_cut(tree, zone)


@numba.njit(nogil=True, cache=True)
def loop_cut(tree, zone):
    """Choose the middle of the zone in the next dimension; -1 for a zone too small to cut."""
    axis = roomiest(tree, zone, next_axis(tree, zone))
    if axis < 0:
        return -1, 0.0
    return axis, tree.low[zone, axis] + (tree.high[zone, axis] - tree.low[zone, axis]) / 2


@numba.njit(nogil=True, cache=True)
def join_one(tree, points, zone_of, new, scheme, half):
    """Let a crawler join by splitting the zone that holds it; False if that is too small.

    It takes the lower half (0), the upper one (1) or the one that holds it (-1). For overlays in which every
    crawler has one zone and nobody holds a site.
    """
    point = points[new]
    zone = leaf_of(tree, point)
    old = tree.owner[zone]
    if scheme == MIDDLE_POINT:
        axis, cut = middle_cut(tree, zone, points[old], point)
    else:
        axis, cut = loop_cut(tree, zone)
    if axis < 0:
        return False
    first = split(tree, zone, axis, cut)
    upper = 1 if half == 1 or (half < 0 and point[axis] >= cut) else 0
    tree.owner[first + upper] = new
    zone_of[new] = first + upper
    zone_of[old] = first + 1 - upper
    return True


@numba.njit(nogil=True, cache=True)
def join_many(tree, points, zone_of, crawlers, scheme, halves):
    """Let crawlers join in turn; give how many could."""
    for number in range(len(crawlers)):
        if not join_one(tree, points, zone_of, crawlers[number], scheme, halves[number]):
            return number
    return len(crawlers)
