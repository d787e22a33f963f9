"""Nest the registrations of one address family into a tree of subnets.

Theory of operation
-------------------
The input is ranges in any order, from several dumps. The output is a tree in preorder: every subnet lies
inside its parent, siblings do not overlap, and descendants follow their ancestor directly. Three steps lead
there:

1. *Sort* by start, then widest first. In that order a parent always precedes its children, so nesting needs
   a single pass with a stack. Both bounds fit one 64-bit key (first << 32 | inverted last); this is why the
   kernels sort and nest keys and not rows.
2. *Merge* registrations of identical ranges: the best one (`kernels.pick_winners` defines "best") becomes
   the subnet, the others become findings. The choice depends on the contents only, never on the order of
   the dumps.
3. *Nest*. The stack holds the open ranges, narrowest on top. A range that ends inside the top becomes its
   child; a range that starts behind the top closes it. If two ranges overlap partially, the narrower is cut
   at the bound of the wider, and the piece cut off waits in a heap for its turn. docs/overlaps.md proves
   that the result does not depend on the order.

A range that would be cut into more than `MOST_PIECES` is left out, so that subnets are at most as many as
registrations times a constant: without a limit a dump of 260 kB made two million. The kernel first gets
room for the few cuts that dumps have; if that is too little, or a range has too many pieces, `overlaps`
counts the pieces of every range beforehand, and the kernel nests the rest.

Invariants: row 0 is the root, which covers the whole space (an unregistered root has `NO_SOURCE`); a
parent's row number is smaller than its child's; only the root can lack a source.

IPv6 bounds need 128 bits, for which neither numpy nor the kernels have a type. But nesting only compares
bounds and widths, so the bounds are replaced by their ranks in sorted order, the kernel nests ranks, and
`values` translates them back. Widths are ranked separately, because a difference of ranks is not a width.

Ranges are inclusive (first, last), so that IPv4 bounds and ranks fit 32 bits each, and the kernel writes IPv4
rows as the file has them: touching fewer pages for the first time is what makes nesting quick. Only to rank
IPv6 bounds are ranges half-open (`native/hierarchy/ranks.c`).

Why not a trie? Registered ranges need not be prefixes, and an array in preorder is what the file stores and
what look-ups bisect.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ipmicra.errors import CapacityError
from ipmicra.hierarchy.overlaps import count_pieces
from ipmicra.native import kernels
from ipmicra.parse.columns import Rows, Texts

ONES32 = np.uint64(0xFFFFFFFF)
ONES64 = np.uint64(0xFFFFFFFFFFFFFFFF)
MOST_SUBNETS = 1 << 31
"""Maximum number of subnets per family: row numbers have 32 bits, and look-ups need one of them."""
MOST_PIECES = 64
"""A registration that would be cut into more pieces is left out; in registries' dumps two are rare."""
NO_SOURCE = -1
ROOT_KEY = 0
"""What the whole IPv4 space is sorted by: first << 32 | inverted last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """The subnets of one family in preorder; the first is the root."""

    source: NDArray[np.int32]
    """Registration of each subnet, `NO_SOURCE` for an unregistered root."""
    bounds: NDArray[Any]
    """First and last: (row, 2) of 32 bits, or (row, 4) words of 64 bits."""
    parent: NDArray[np.uint32]
    """Row of the parent; the root is its own parent."""
    segments: NDArray[np.uint64]
    """IPv4 only: start << 32 | row of the narrowest subnet."""
    deepest: int
    duplicates: NDArray[np.int64]
    """Duplicate registrations and the ones kept instead, (n, 2)."""
    cuts: NDArray[np.int64]
    """Registrations that were cut and the ones that cut them, (n, 2)."""
    left_out: NDArray[np.int64]
    """Registrations left out because they would have been cut into too many pieces."""


def nest_ipv4(first: NDArray[np.uint32], last: NDArray[np.uint32], rows: Rows, texts: Texts) -> Tree:
    """Nest IPv4 registrations."""
    # The first place is kept for a root that nobody registered: inserting it later would copy all columns.
    key, order = np.zeros(len(first) + 1, np.uint64), np.empty(len(first) + 1, np.uint32)
    kernels.range_keys(first, last, key[1:], order[1:])
    kernels.sort_keys(key[1:], order[1:])
    is_same = _repeats([key[1:]])
    source, losers = _merge(order, is_same, rows, texts)
    if len(losers):
        key[1 : len(source)] = key[1:][~is_same]
        key = key[: len(source)]
    del order, is_same
    if len(key) > 1 and key[1] == ROOT_KEY:
        key, source = key[1:], source[1:]
    nested = _nest(key, np.empty(0, np.uint64))
    del key
    segments = np.empty(2 * len(nested.parent) + 1, np.uint64)
    segments = segments[: kernels.flatten(nested.bounds, nested.parent, segments)]
    return _tree(nested, source, nested.bounds, losers, segments)


def nest_ipv6(wide: NDArray[np.uint64], rows: Rows, texts: Texts) -> Tree:
    """Nest IPv6 registrations by the ranks of their bounds."""
    order = sort_order([wide[:, 0], wide[:, 1], ONES64 - wide[:, 2], ONES64 - wide[:, 3]])
    is_same = _repeats([wide[order, i] for i in range(4)])
    source, losers = _merge(np.concatenate((np.zeros(1, np.uint32), order)), is_same, rows, texts)
    del order, is_same
    ranges = np.concatenate((np.array([[0, 0, ONES64, ONES64]], np.uint64), wide[source[1:]]))
    if len(ranges) > 1 and (ranges[1] == ranges[0]).all():
        ranges, source = ranges[1:], source[1:]
    keys, values = np.empty(len(ranges), np.uint64), np.empty((2 * len(ranges) + 1, 2), np.uint64)
    kernels.rank_ranges(ranges, keys, values)
    nested = _nest(keys, _width_ranks(ranges))
    bounds = ranges
    if nested.origin is not None:
        bounds = ranges[nested.origin]
        pieces = np.flatnonzero(np.isin(nested.origin, nested.cuts[:, 0]))
        first, last = nested.bounds[pieces].T
        bounds[pieces, :2], bounds[pieces, 2:] = values[first], _minus_one(values[last + np.uint32(1)])
    return _tree(nested, source, bounds, losers, np.empty(0, np.uint64))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Nested:
    """What the kernel makes of ranges."""

    origin: NDArray[Any] | None
    """The range that each subnet came from; None if each range is one subnet."""
    bounds: NDArray[np.uint32]
    parent: NDArray[np.uint32]
    cuts: NDArray[np.int64]
    deepest: int
    left_out: NDArray[np.int64]


def _tree(
    nested: _Nested,
    source: NDArray[np.int32],
    bounds: NDArray[Any],
    losers: NDArray[np.int64],
    segments: NDArray[np.uint64],
) -> Tree:
    """Name registrations where the kernel numbered ranges."""
    return Tree(
        source=source if nested.origin is None else source[nested.origin],
        bounds=bounds,
        parent=nested.parent,
        segments=segments,
        deepest=nested.deepest,
        duplicates=losers,
        cuts=source[nested.cuts].astype(np.int64),
        left_out=source[nested.left_out].astype(np.int64),
    )


def _repeats(keys: list[NDArray[np.uint64]]) -> NDArray[np.bool_]:
    """Return for each row whether it has the same keys as the row before."""
    same = np.ones(len(keys[0]), np.bool_)
    same[:1] = False
    for key in keys:
        same[1:] &= key[1:] == key[:-1]
    return same


def _merge(
    order: NDArray[np.uint32], is_same: NDArray[np.bool_], rows: Rows, texts: Texts
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Keep the best registration of each range; return those in order, and (loser, winner) pairs.

    The first place of `order` does not count, and that of the result belongs to an unregistered root.
    """
    losers = np.empty((int(is_same.sum()), 2), np.int64)
    winners = order.view(np.int32)
    if len(losers):
        winners = np.empty(len(order) - len(losers), np.int32)
        kernels.pick_winners(rows, texts, order[1:], is_same, winners[1:], losers)
    winners[:1] = NO_SOURCE
    return winners, losers


def sort_order(keys: Sequence[NDArray[np.uint64]]) -> NDArray[np.uint32]:
    """Return the stable order of rows by several keys, the most significant first."""
    order = np.arange(len(keys[0]), dtype=np.uint32)
    for key in reversed(keys):
        kernels.sort_keys(key[order], order)
    return order


def _nest(keys: NDArray[np.uint64], widths: NDArray[np.uint64]) -> _Nested:
    """Nest ranges, given as keys, except those with too many pieces."""
    nested = _nest_within(keys, widths, len(keys) // 16 + 1024)
    if nested is not None and _most_pieces(nested.cuts) <= MOST_PIECES:
        return nested
    start, end = keys >> np.uint64(32), ONES32 + np.uint64(1) - (keys & ONES32)
    pieces = count_pieces(start, end, widths if len(widths) else end - start)
    kept = np.flatnonzero(pieces <= MOST_PIECES)
    most_cuts = int(pieces[kept].sum()) - len(kept)  # each cut adds a piece; what is left out cuts nothing
    nested = _nest_within(keys[kept], widths[kept] if len(widths) else widths, most_cuts)
    if nested is None:
        raise CapacityError(f"ranges have more than the {most_cuts} cuts counted beforehand")
    return replace(
        nested,
        origin=kept if nested.origin is None else kept[nested.origin],
        cuts=kept[nested.cuts],
        left_out=np.flatnonzero(pieces > MOST_PIECES),
    )


def _most_pieces(cuts: NDArray[np.int64]) -> int:
    """Return into how many pieces the most cut range was cut."""
    return 1 + int(np.unique(cuts[:, 0], return_counts=True)[1].max(initial=0))


def _nest_within(keys: NDArray[np.uint64], widths: NDArray[np.uint64], most_cuts: int) -> _Nested | None:
    """Run the nesting kernel; return None if there are more cuts."""
    room = len(keys) + most_cuts
    if room >= MOST_SUBNETS:
        message = f"more than {MOST_SUBNETS} subnets, some of them pieces of overlapping ranges"
        raise CapacityError(message)
    origin, bounds, parent = (
        np.empty(room, np.uint32),
        np.empty((room, 2), np.uint32),
        np.empty(room, np.uint32),
    )
    cuts = np.empty((most_cuts, 2), np.int64)
    count, cut_count, deepest = kernels.nest(keys, widths, origin, bounds, parent, cuts)
    if count < 0:
        return None
    return _Nested(
        origin=origin[:count] if cut_count else None,
        bounds=bounds[:count],
        parent=parent[:count],
        cuts=cuts[:cut_count],
        deepest=deepest,
        left_out=np.empty(0, np.int64),
    )


def _width_ranks(ranges: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Rank the widths of ranges; equal widths get equal ranks."""
    low = ranges[:, 3] - ranges[:, 1]
    high = ranges[:, 2] - ranges[:, 0] - (ranges[:, 3] < ranges[:, 1]).astype(np.uint64)
    order = sort_order([high, low])
    ranks = np.empty(len(ranges), np.uint64)
    ranks[order] = np.cumsum(~_repeats([high[order], low[order]]))
    return ranks


def _minus_one(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Subtract one from two-word numbers; the end of the space, stored as 0, becomes all ones."""
    result = values - np.array([0, 1], np.uint64)
    result[:, 0] -= (values[:, 1] == 0).astype(np.uint64)
    return result
