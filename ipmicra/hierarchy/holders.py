"""Resolving the organisation of each subnet."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ipmicra.hierarchy.kernels import holders as kernels
from ipmicra.hierarchy.kernels.intern import FIRST_SLOTS
from ipmicra.hierarchy.kernels.pools import encode_organisations
from ipmicra.hierarchy.nesting import NO_SOURCE
from ipmicra.parse.columns import Columns, Rows

RECORD_BYTES = 16
"""More than the fixed bytes and text lengths of one record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Holders:
    """Organisations, and which of them holds each subnet."""

    numbers: NDArray[np.uint32]
    """Organisation of each subnet, IPv4 first, counted from 1; 0 for none."""
    at: NDArray[np.int64]
    """Where each organisation's record starts."""
    records: NDArray[np.uint8]


def find_holders(columns: Columns, source4: NDArray[np.int64], source6: NDArray[np.int64]) -> Holders:
    """Number the organisations in the order of the subnets that name them."""
    rows = _picked(columns, source4, source6)
    slots = np.zeros(FIRST_SLOTS, np.uint64)
    pool, numbers = np.empty(0, np.uint8), np.empty(len(rows.text), np.uint32)
    empty = np.empty(0, np.int64)
    _slots, pool, ends, kinds, sources = kernels.number_holders(
        columns.text,
        rows.text,
        rows.lengths,
        rows.registry,
        rows.holder,
        (slots, pool, empty, empty, empty),
        numbers,
    )
    objects = _match_objects(columns, pool, ends)
    return _encode(columns, rows, numbers, kinds, sources, objects)


def _picked(columns: Columns, source4: NDArray[np.int64], source6: NDArray[np.int64]) -> Rows:
    """Gather the rows of all subnets; a root that nobody registered is an empty row."""
    parts = []
    for rows, source in ((columns.rows4, source4), (columns.rows6, source6)):
        is_bare = source[0] == NO_SOURCE
        for name in ("text", "lengths", "registry", "holder"):
            column = getattr(rows, name)
            picked = column[source[1:] if is_bare else source]
            if is_bare:
                picked = np.concatenate((np.zeros((1, *column.shape[1:]), column.dtype), picked))
            parts.append(picked)
    text, lengths, registry, holder = (np.concatenate((parts[i], parts[i + 4])) for i in range(4))
    nothing = np.empty(0, np.uint16)
    return Rows(
        text=text,
        lengths=lengths,
        country=nothing,
        date=nothing,
        line=np.empty(0, np.uint32),
        registry=registry,
        holder=holder,
    )


def _match_objects(columns: Columns, pool: NDArray[np.uint8], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give the organisation object of each holder, -1 where no dump has one."""
    rows = columns.organisations
    slots, known_pool, known_ends, best = kernels.number_organisations(
        columns.text, rows.text, rows.lengths, rows.country, rows.date, rows.registry, rows.holder
    )
    found = np.empty(len(ends), np.int64)
    kernels.match_keys(pool, ends, slots, known_pool, known_ends, found)
    return np.where(found >= 0, np.concatenate((best, [-1]))[found], -1)


def _encode(
    columns: Columns,
    rows: Rows,
    numbers: NDArray[np.uint32],
    kinds: NDArray[np.int64],
    sources: NDArray[np.int64],
    objects: NDArray[np.int64],
) -> Holders:
    """Write one record per organisation."""
    known = columns.organisations
    texts = known.lengths[objects[objects >= 0]].sum() + rows.lengths[sources].sum()
    records = np.empty(int(texts) + RECORD_BYTES * len(kinds), np.uint8)
    at = np.empty(len(kinds), np.int64)
    size = encode_organisations(
        columns.text,
        kinds,
        sources,
        objects,
        rows.registry,
        rows.text,
        rows.lengths,
        (known.text, known.lengths, known.country),
        records,
        at,
    )
    return Holders(numbers=numbers, at=at, records=records[:size])
