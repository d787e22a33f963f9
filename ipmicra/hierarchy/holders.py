"""Resolve the organisation of each subnet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ipmicra.hierarchy.kernels import holders as kernels
from ipmicra.hierarchy.kernels.intern import FIRST_SLOTS, renumber
from ipmicra.hierarchy.kernels.pools import encode_organisations
from ipmicra.parse.columns import Columns

RECORD_BYTES = 16
"""Upper bound on the fixed bytes and text lengths of one record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedHolders:
    """The holder that each registration names, numbered in the order of the dumps."""

    numbers: NDArray[np.int32]
    """One per registration, IPv4 first; -1 for none."""
    kinds: NDArray[np.int64]
    """Kind of evidence for each holder."""
    objects: NDArray[np.int64]
    """Organisation object of each holder, -1 if no dump has one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Holders:
    """Organisations, and which of them holds each subnet."""

    numbers: NDArray[np.uint32]
    """Organisation of each subnet, IPv4 first, counted from 1; 0 for none."""
    at: NDArray[np.int64]
    """Offset of each organisation's record."""
    records: NDArray[np.uint8]


def name_holders(columns: Columns) -> NamedHolders:
    """Find the best evidence of each registration and the organisation object it leads to."""
    empty = np.empty(0, np.int64)
    table: Any = np.zeros(FIRST_SLOTS, np.uint64), np.empty(0, np.uint8), empty, empty
    parts = []
    for rows in (columns.rows4, columns.rows6):
        numbers = np.empty(len(rows), np.int32)
        table = kernels.number_holders(
            columns.text, rows.text, rows.lengths, rows.registry, rows.holder, table, numbers
        )
        parts.append(numbers)
    _slots, pool, ends, kinds = table
    return NamedHolders(
        numbers=np.concatenate(parts), kinds=kinds, objects=_match_objects(columns, pool, ends)
    )


def _match_objects(columns: Columns, pool: NDArray[np.uint8], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the organisation object of each holder, -1 if no dump has one."""
    rows = columns.organisations
    slots, known_pool, known_ends, best = kernels.number_organisations(
        columns.text, rows.text, rows.lengths, rows.country, rows.date, rows.registry, rows.holder
    )
    found = np.empty(len(ends), np.int64)
    kernels.match_keys(pool, ends, slots, known_pool, known_ends, found)
    return np.where(found >= 0, np.concatenate((best, [-1]))[found], -1)


def lay_out_holders(columns: Columns, named: NamedHolders, registrations: NDArray[np.int64]) -> Holders:
    """Number the holders in the order of the subnets and write one record each."""
    numbers = np.empty(len(registrations), np.int32)
    order, firsts = renumber(named.numbers, registrations, len(named.kinds), numbers)
    kinds, objects = named.kinds[order], named.objects[order]
    known = columns.organisations
    lengths = _pick(columns, "lengths", firsts)
    texts = int(known.lengths[objects[objects >= 0]].sum()) + int(lengths.sum())
    records = np.empty(texts + RECORD_BYTES * len(kinds), np.uint8)
    at = np.empty(len(kinds), np.int64)
    size = encode_organisations(
        columns.text,
        kinds,
        objects,
        _pick(columns, "registry", firsts),
        _pick(columns, "text", firsts),
        lengths,
        (known.text, known.lengths, known.country),
        records,
        at,
    )
    return Holders(numbers=(numbers + 1).astype(np.uint32), at=at, records=records[:size])


def _pick(columns: Columns, name: str, registrations: NDArray[np.int64]) -> NDArray[Any]:
    """Take rows of a column, IPv4 registrations first."""
    narrow, wide = getattr(columns.rows4, name), getattr(columns.rows6, name)
    is_wide = registrations >= len(narrow)
    picked = np.empty((len(registrations), *narrow.shape[1:]), narrow.dtype)
    picked[~is_wide] = narrow[registrations[~is_wide]]
    picked[is_wide] = wide[registrations[is_wide] - len(narrow)]
    return picked
