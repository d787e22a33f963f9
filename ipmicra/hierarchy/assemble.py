"""Assemble the sections of a hierarchy file from columns of registrations.

Theory of operation
-------------------
Registrations arrive in the order of the dumps; the file stores subnets in preorder. Two rounds of
independent steps bridge the two:

1. On registrations: nest both families into trees, and find the holder that each registration names. None
   of these needs the result of another.
2. On subnets: `Tree.source` says which registration each subnet came from. With it every column is brought
   into the order of the subnets, and texts and organisations are renumbered in the order in which subnets
   first use them. Renumbering makes the file independent of the order of the dumps and puts texts near
   their users.

`take_steps` runs the steps of a round, by default one after the other. The build passes a function that
runs them in threads: the kernels release the GIL. Results depend on the inputs alone, never on which step
ends first. Steps are listed longest first, so that a long one does not start last.

Rows without a registration exist only as roots (`NO_SOURCE`); `_take` relies on that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ipmicra.errors import CapacityError
from ipmicra.hierarchy import format as names
from ipmicra.hierarchy.holders import Holders, lay_out_holders, name_holders, without_shared_addresses
from ipmicra.hierarchy.nesting import NO_SOURCE, Tree, nest_ipv4, nest_ipv6
from ipmicra.hierarchy.texts import KINDS, LARGEST_POOL, lay_out_text, lay_out_texts, narrow
from ipmicra.native import kernels
from ipmicra.parse.columns import Columns

FEWEST_INDEX_BITS, MOST_INDEX_BITS = 8, 22


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembled:
    """A hierarchy before it is written."""

    sections: dict[str, NDArray[Any]]
    tree4: Tree
    tree6: Tree
    registered: int
    """Number of registered subnets."""
    organisations: int
    deepest: int


Steps = Callable[[list[Callable[[], Any]]], list[Any]]
"""Runs steps, possibly concurrently, and returns their results in order."""


def one_by_one(steps: list[Callable[[], Any]]) -> list[Any]:
    """Run steps one after the other."""
    return [step() for step in steps]


def assemble(columns: Columns, take_steps: Steps = one_by_one) -> Assembled:
    """Nest registrations and lay out every section but the metadata."""
    tree4, named, tree6 = take_steps(  # the longest first
        [
            lambda: nest_ipv4(columns.first4, columns.last4, columns.rows4, columns.texts),
            lambda: name_holders(columns),
            lambda: nest_ipv6(columns.wide6, columns.rows6, columns.texts),
        ]
    )
    registrations = _registrations(tree4, tree6, len(columns.rows4))
    columns = without_shared_addresses(columns, named)
    *laid_out, holders, index, cut, country, registry, date = take_steps(
        [
            *(partial(lay_out_text, columns, kind, registrations) for kind in KINDS),
            lambda: lay_out_holders(columns, named, registrations),
            lambda: segment_index(tree4.segments),
            lambda: _cut_sections(columns, tree4, tree6),
            *(partial(_column, columns, tree4, tree6, name) for name in ("country", "registry", "date")),
        ]
    )
    sections = {
        names.BOUNDS4: tree4.bounds.ravel(),
        names.BOUNDS6: tree6.bounds.ravel(),
        names.PARENT: np.concatenate((tree4.parent, tree6.parent + np.uint32(len(tree4.parent)))),
        names.REGISTRY: registry,
        names.DATE: date,
        names.SEGMENTS: tree4.segments,
        names.SEGMENT_INDEX: index,
        **_holder_sections(holders),
        **lay_out_texts(dict(zip(KINDS, laid_out, strict=True))),
        **_country_sections(country),
        **cut,
    }
    return Assembled(
        sections=sections,
        tree4=tree4,
        tree6=tree6,
        registered=len(registrations) - sum(int(tree.source[0] == NO_SOURCE) for tree in (tree4, tree6)),
        organisations=len(sections[names.ORGANISATION_AT]),
        deepest=max(tree4.deepest, tree6.deepest),
    )


def _registrations(tree4: Tree, tree6: Tree, narrow: int) -> NDArray[np.int32]:
    """Return the registration of each subnet, numbered across both families, or `NO_SOURCE`."""
    return np.concatenate(
        (
            tree4.source,
            np.where(tree6.source == NO_SOURCE, np.int32(NO_SOURCE), tree6.source + np.int32(narrow)),
        )
    )


def _column(columns: Columns, tree4: Tree, tree6: Tree, name: str) -> NDArray[Any]:
    """Return a column in the order of the subnets; 0 for an unregistered root."""
    narrow, wide = getattr(columns.rows4, name), getattr(columns.rows6, name)
    taken = np.zeros(len(tree4.source) + len(tree6.source), narrow.dtype)
    _take(narrow, tree4.source, taken[: len(tree4.source)])
    _take(wide, tree6.source, taken[len(tree4.source) :])
    return taken


def segment_index(segments: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return for each value of an address's first bits its row, or where to search for it.

    If one segment covers all addresses with these bits, the entry is its row; else it is count << 32 |
    segment: the segment that contains the first of them, and how many more start among them. Unless
    segments are few, there are at most as many entries as segments.
    """
    bits = min(max(len(segments).bit_length() - 1, FEWEST_INDEX_BITS), MOST_INDEX_BITS)
    index = np.empty(1 << bits, np.uint64)
    kernels.index_segments(segments, 32 - bits, index)
    return index


def _take(column: NDArray[Any], source: NDArray[np.int32], taken: NDArray[Any]) -> None:
    """Pick rows of a column; 0 stays where a row has no source, which only a root can lack."""
    start = int(source[0] == NO_SOURCE)
    if len(column):
        np.take(column, source[start:], out=taken[start:], mode="clip")  # any other mode takes a copy


def _holder_sections(holders: Holders) -> dict[str, NDArray[Any]]:
    if len(holders.records) > LARGEST_POOL:
        message = f"{len(holders.records)} bytes of organisations; the format has room for {LARGEST_POOL}"
        raise CapacityError(message)
    return {
        names.ORGANISATION: holders.numbers,
        names.ORGANISATION_AT: holders.at.astype(np.uint32),
        names.ORGANISATIONS: holders.records,
    }


def _country_sections(country: NDArray[np.uint16]) -> dict[str, NDArray[Any]]:
    """Replace countries by codes; 0 means none."""
    present = np.zeros(1 << 16, np.bool_)
    present[country] = True
    present[0] = True
    values = np.flatnonzero(present).astype(np.uint16)
    codes = np.zeros(1 << 16, np.uint16)
    codes[values] = np.arange(len(values))
    return {names.COUNTRIES: values, names.COUNTRY: narrow(codes, len(values) - 1)[country]}


def _cut_sections(columns: Columns, tree4: Tree, tree6: Tree) -> dict[str, NDArray[Any]]:
    """Store the registered range of subnets that are only a piece of it."""
    rows4, rows6 = _cut_rows(tree4, len(columns.rows4)), _cut_rows(tree6, len(columns.rows6))
    whole4 = np.zeros((len(rows4), 4), np.uint64)
    whole4[:, 1] = columns.first4[tree4.source[rows4]]
    whole4[:, 3] = columns.last4[tree4.source[rows4]]
    whole6 = columns.wide6[tree6.source[rows6]]
    return {
        names.CUT_ROWS: np.concatenate((rows4, rows6 + len(tree4.source))).astype(np.uint32),
        names.CUT_RANGES: np.concatenate((whole4, whole6)).ravel(),
    }


def _cut_rows(tree: Tree, registrations: int) -> NDArray[np.int64]:
    """Return the subnets that are a piece of a registration."""
    is_cut = np.zeros(
        registrations + 1, np.bool_
    )  # an unregistered root, -1, picks the last entry, which stays False
    is_cut[tree.cuts[:, 0]] = True
    return np.flatnonzero(is_cut[tree.source])
