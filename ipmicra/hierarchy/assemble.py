"""Columns of registrations → the sections of a hierarchy file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ipmicra.errors import CapacityError
from ipmicra.hierarchy import format as names
from ipmicra.hierarchy.holders import Holders, find_holders
from ipmicra.hierarchy.kernels.intern import intern
from ipmicra.hierarchy.kernels.pools import encode_pool
from ipmicra.hierarchy.nesting import NO_SOURCE, Tree, nest_ipv4, nest_ipv6
from ipmicra.parse.columns import Columns, Rows
from ipmicra.parse.fields import Field

LARGEST_POOL = (1 << 32) - 1
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
    tree4, tree6 = take_steps(
        [
            lambda: nest_ipv4(columns.first4, columns.last4, columns.rows4, columns.text),
            lambda: nest_ipv6(columns.wide6, columns.rows6, columns.text),
        ]
    )
    rows = _SubnetRows(columns, tree4, tree6)
    holders, texts = take_steps(
        [
            lambda: find_holders(columns, tree4.source, tree6.source),
            lambda: _text_sections(rows, columns.text),
        ]
    )
    sections = {
        names.BOUNDS4: tree4.bounds.ravel(),
        names.BOUNDS6: tree6.bounds.ravel(),
        names.PARENT: np.concatenate((tree4.parent, tree6.parent + np.uint32(len(tree4.parent)))),
        names.REGISTRY: rows.column("registry"),
        names.DATE: rows.column("date"),
        names.SEGMENTS: tree4.segments,
        names.SEGMENT_INDEX: segment_index(tree4.segments),
        **_holder_sections(holders),
        **_country_sections(rows.column("country")),
        **texts,
        **_cut_sections(columns, tree4, tree6),
    }
    return Assembled(
        sections=sections,
        tree4=tree4,
        tree6=tree6,
        registered=int((tree4.source != NO_SOURCE).sum() + (tree6.source != NO_SOURCE).sum()),
        organisations=len(holders.at),
        deepest=max(tree4.deepest, tree6.deepest),
    )


def segment_index(segments: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Give for each value of an address's first bits the last segment that starts at or before it.

    A last entry closes the table. There are about as many entries as segments.
    """
    bits = min(max(len(segments).bit_length() - 1, FEWEST_INDEX_BITS), MOST_INDEX_BITS)
    starts = (segments >> np.uint64(32)).astype(np.uint32)
    edges = np.arange(1 << bits, dtype=np.uint32) << np.uint32(32 - bits)
    index = np.empty((1 << bits) + 1, np.uint32)
    index[:-1] = np.searchsorted(starts, edges, side="right") - 1
    index[-1] = len(segments) - 1
    return index


class _SubnetRows:
    """Columns of registrations in the order of the subnets, IPv4 first."""

    def __init__(self, columns: Columns, tree4: Tree, tree6: Tree) -> None:
        self._parts: list[tuple[Rows, NDArray[np.int64]]] = [
            (columns.rows4, tree4.source),
            (columns.rows6, tree6.source),
        ]

    def column(self, name: str) -> NDArray[Any]:
        """Give one column; 0 where nobody registered the subnet."""
        return np.concatenate([_take(getattr(rows, name), source) for rows, source in self._parts])

    def texts(self, field: Field) -> tuple[NDArray[np.uint64], NDArray[np.uint16]]:
        """Give start and length of one text of each subnet."""
        starts, lengths = [], []
        for rows, source in self._parts:
            start = rows.text.copy()
            for column in range(field):
                start += rows.lengths[:, column]
            starts.append(_take(start, source))
            lengths.append(_take(rows.lengths[:, field], source))
        return np.concatenate(starts), np.concatenate(lengths)


def _take(column: NDArray[Any], source: NDArray[np.int64]) -> NDArray[Any]:
    """Pick rows; a row without a source is 0. Only a root can be without."""
    if source[0] != NO_SOURCE:
        return column[source]
    return np.concatenate((np.zeros(1, column.dtype), column[source[1:]]))


def _narrow(values: NDArray[Any], largest: int) -> NDArray[Any]:
    """Store codes in as few bytes as the largest of them needs."""
    return values.astype(np.uint8 if largest < 1 << 8 else np.uint16 if largest < 1 << 16 else np.uint32)


def _offsets(
    starts: NDArray[np.int64], numbers: NDArray[np.int32], pool: NDArray[np.uint8]
) -> NDArray[np.uint32]:
    """Give where the text of each row starts in a pool; 0, the empty text, for none."""
    if len(pool) > LARGEST_POOL:
        message = f"{len(pool)} bytes of names; the format has room for {LARGEST_POOL}"
        raise CapacityError(message)
    return np.concatenate((starts, np.zeros(1, np.int64))).astype(np.uint32)[numbers]


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
    return {names.COUNTRIES: values, names.COUNTRY: _narrow(codes[country], len(values))}


def _text_sections(rows: _SubnetRows, text: NDArray[np.uint8]) -> dict[str, NDArray[Any]]:
    """Lay out net names, statuses, geoloc and geofeed in one pool."""
    netname_count, netnames, netname_pool = _interned(rows, text, Field.NETNAME)
    status_count, statuses, status_pool = _interned(rows, text, Field.STATUS)
    geo_rows, geo_starts, geo_lengths = _geo_texts(rows)
    geo_numbers, geo_pool = intern(text, geo_starts, geo_lengths)
    pool = np.concatenate((netname_pool.bytes, status_pool.bytes, geo_pool.bytes))
    ends = np.concatenate(
        (
            netname_pool.ends,
            status_pool.ends + len(netname_pool.bytes),
            geo_pool.ends + len(netname_pool.bytes) + len(status_pool.bytes),
        )
    )
    encoded, starts = encode_pool(pool, ends)
    status_starts = starts[netname_count : netname_count + status_count]
    geo = _offsets(starts[netname_count + status_count :], geo_numbers, encoded)
    return {
        names.NAMES: encoded,
        names.NETNAME: _offsets(starts[:netname_count], netnames, encoded),
        names.STATUS: _narrow(statuses + 1, status_count),
        names.STATUSES: np.concatenate((np.zeros(1, np.uint32), status_starts.astype(np.uint32))),
        names.GEO_ROWS: geo_rows,
        names.GEOLOC: geo[: len(geo_rows)],
        names.GEOFEED: geo[len(geo_rows) :],
    }


def _interned(rows: _SubnetRows, text: NDArray[np.uint8], field: Field):  # type: ignore[no-untyped-def] # noqa: ANN202
    """Number one text of each subnet; give how many there are, the numbers and the pool."""
    numbers, pool = intern(text, *rows.texts(field))
    return len(pool.ends), numbers, pool


def _geo_texts(rows: _SubnetRows) -> tuple[NDArray[np.uint32], NDArray[np.uint64], NDArray[np.uint16]]:
    """Give the rows with a geoloc or geofeed, and the places of all geolocs, then all geofeeds."""
    geoloc, geofeed = rows.texts(Field.GEOLOC), rows.texts(Field.GEOFEED)
    found = np.flatnonzero((geoloc[1] != 0) | (geofeed[1] != 0))
    starts = np.concatenate((geoloc[0][found], geofeed[0][found]))
    lengths = np.concatenate((geoloc[1][found], geofeed[1][found]))
    return found.astype(np.uint32), starts, lengths


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
