"""Columns of registrations → the sections of a hierarchy file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ipmicra.errors import CapacityError
from ipmicra.hierarchy import format as names
from ipmicra.hierarchy.holders import Holders, lay_out_holders, name_holders
from ipmicra.hierarchy.nesting import NO_SOURCE, Tree, nest_ipv4, nest_ipv6
from ipmicra.hierarchy.texts import FIELDS, LARGEST_POOL, lay_out_text, lay_out_texts, narrow, number_text
from ipmicra.parse.columns import Columns

FEWEST_INDEX_BITS, MOST_INDEX_BITS = 8, 22


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembled:
    """A hierarchy before it is written."""

    sections: dict[str, NDArray[Any]]
    tree4: Tree
    tree6: Tree
    registered: int
    """Subnets that somebody registered."""
    organisations: int
    deepest: int


Steps = Callable[[list[Callable[[], Any]]], list[Any]]
"""Something that takes steps and gives their results, in order; it may take them at the same time."""


def one_by_one(steps: list[Callable[[], Any]]) -> list[Any]:
    """Take steps one after the other."""
    return [step() for step in steps]


def assemble(columns: Columns, take_steps: Steps = one_by_one) -> Assembled:
    """Nest registrations and lay out every section but the metadata."""
    named, *texts, tree4, tree6 = take_steps(
        [
            lambda: name_holders(columns),
            *(partial(number_text, columns, field) for field in FIELDS),
            lambda: nest_ipv4(columns.first4, columns.last4, columns.rows4, columns.text),
            lambda: nest_ipv6(columns.wide6, columns.rows6, columns.text),
        ]
    )
    registrations = _registrations(tree4, tree6, len(columns.rows4))
    index, holders, *laid_out = take_steps(
        [
            lambda: segment_index(tree4.segments),
            lambda: lay_out_holders(columns, named, registrations),
            *(partial(lay_out_text, text, registrations) for text in texts),
        ]
    )
    sections = {
        names.BOUNDS4: tree4.bounds.ravel(),
        names.BOUNDS6: tree6.bounds.ravel(),
        names.PARENT: np.concatenate((tree4.parent, tree6.parent + np.uint32(len(tree4.parent)))),
        names.REGISTRY: _column(columns, tree4, tree6, "registry"),
        names.DATE: _column(columns, tree4, tree6, "date"),
        names.SEGMENTS: tree4.segments,
        names.SEGMENT_INDEX: index,
        **_holder_sections(holders),
        **lay_out_texts(dict(zip(FIELDS, laid_out, strict=True))),
        **_country_sections(_column(columns, tree4, tree6, "country")),
        **_cut_sections(columns, tree4, tree6),
    }
    return Assembled(
        sections=sections,
        tree4=tree4,
        tree6=tree6,
        registered=int((registrations != NO_SOURCE).sum()),
        organisations=len(sections[names.ORGANISATION_AT]),
        deepest=max(tree4.deepest, tree6.deepest),
    )


def _registrations(tree4: Tree, tree6: Tree, narrow: int) -> NDArray[np.int64]:
    """Give the registration of each subnet, counted over both families, `NO_SOURCE` for a bare root."""
    return np.concatenate(
        (tree4.source, np.where(tree6.source == NO_SOURCE, NO_SOURCE, tree6.source + narrow))
    )


def _column(columns: Columns, tree4: Tree, tree6: Tree, name: str) -> NDArray[Any]:
    """Give a column in the order of the subnets; 0 where nobody registered one."""
    parts = ((columns.rows4, tree4.source), (columns.rows6, tree6.source))
    return np.concatenate([_take(getattr(rows, name), source) for rows, source in parts])


def segment_index(segments: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Give for each value of an address's first bits its row, or where to search for it.

    Where one segment covers all addresses with these bits, the entry is its row; else it is count << 32 |
    segment: the segment that the first of them lies in, and how many more start among them. There are at
    most as many entries as segments.
    """
    bits = min(max(len(segments).bit_length() - 1, FEWEST_INDEX_BITS), MOST_INDEX_BITS)
    starts = (segments >> np.uint64(32)).astype(np.uint32)
    edges = np.arange(1 << bits, dtype=np.uint32) << np.uint32(32 - bits)
    first = np.searchsorted(starts, edges, side="right") - 1
    last = np.searchsorted(starts, edges | np.uint32((1 << 32 - bits) - 1), side="right") - 1
    entries = (last - first).astype(np.uint64) << np.uint64(32) | first.astype(np.uint64)
    return np.where(first == last, segments[first] & np.uint64(0xFFFFFFFF), entries)


def _take(column: NDArray[Any], source: NDArray[np.int64]) -> NDArray[Any]:
    """Pick rows; a row without a source is 0. Only a root can be without."""
    if source[0] != NO_SOURCE:
        return column[source]
    return np.concatenate((np.zeros(1, column.dtype), column[source[1:]]))


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
    """Replace countries by codes, 0 for none."""
    present = np.zeros(1 << 16, np.bool_)
    present[country] = True
    present[0] = True
    values = np.flatnonzero(present).astype(np.uint16)
    codes = np.zeros(1 << 16, np.uint16)
    codes[values] = np.arange(len(values))
    return {names.COUNTRIES: values, names.COUNTRY: narrow(codes[country], len(values) - 1)}


def _cut_sections(columns: Columns, tree4: Tree, tree6: Tree) -> dict[str, NDArray[Any]]:
    """Remember the whole range of subnets that are only a piece of it."""
    rows4 = np.flatnonzero(np.isin(tree4.source, tree4.cuts[:, 0]) & (tree4.source != NO_SOURCE))
    rows6 = np.flatnonzero(np.isin(tree6.source, tree6.cuts[:, 0]) & (tree6.source != NO_SOURCE))
    whole4 = np.zeros((len(rows4), 4), np.uint64)
    whole4[:, 1] = columns.first4[tree4.source[rows4]]
    whole4[:, 3] = columns.last4[tree4.source[rows4]]
    whole6 = columns.wide6[tree6.source[rows6]]
    return {
        names.CUT_ROWS: np.concatenate((rows4, rows6 + len(tree4.source))).astype(np.uint32),
        names.CUT_RANGES: np.concatenate((whole4, whole6)).ravel(),
    }
