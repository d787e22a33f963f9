"""Resolve the organisation of each subnet."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ipmicra.native import kernels
from ipmicra.parse.columns import Columns
from ipmicra.parse.fields import ORGANISATION_ADDRESS, Text

RECORD_BYTES = 16
"""Upper bound on the fixed bytes and text lengths of one record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedHolders:
    """The holder that each registration names, numbered in the order of the dumps."""

    numbers: NDArray[np.int32]
    """One per registration, IPv4 first; -1 for none."""
    kinds: NDArray[np.uint8]
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
    rows = len(columns.rows4) + len(columns.rows6)
    numbers, kinds, objects = np.empty(rows, np.int32), np.empty(rows, np.uint8), np.empty(rows, np.int64)
    count = kernels.name_holders(
        columns.texts, columns.rows4, columns.rows6, columns.organisations, numbers, kinds, objects
    )
    return NamedHolders(numbers=numbers, kinds=kinds[:count], objects=objects[:count])


def without_shared_addresses(columns: Columns, named: NamedHolders) -> Columns:
    """Leave out postal addresses of registrations that their holders have too: those are stored once.

    Where a registration names its holder in full, as LACNIC's do, the address lines are both.
    """
    holder_addresses = columns.organisations.texts[ORGANISATION_ADDRESS]
    tables, start = [], 0
    for rows in (columns.rows4, columns.rows6):
        addresses = rows.texts[Text.ADDRESS]
        placed = np.flatnonzero(addresses)
        holders = named.numbers[start + placed]
        objects = np.where(holders < 0, -1, named.objects[holders]) if len(named.objects) else holders
        is_known = objects >= 0
        placed, objects = placed[is_known], objects[is_known]
        shared = placed[addresses[placed] == holder_addresses[objects]]
        if len(shared):
            addresses = addresses.copy()
            addresses[shared] = 0
            rows = replace(rows, texts=(*rows.texts[: Text.ADDRESS], addresses))  # noqa: PLW2901
        tables.append(rows)
        start += len(rows)
    return replace(columns, rows4=tables[0], rows6=tables[1])


def lay_out_holders(columns: Columns, named: NamedHolders, registrations: NDArray[np.int32]) -> Holders:
    """Number the holders in the order of the subnets and write one record each."""
    numbers = np.empty(len(registrations), np.uint32)
    order, firsts = np.empty(len(named.kinds), np.int64), np.empty(len(named.kinds), np.int64)
    used = kernels.renumber(named.numbers, registrations, numbers, order, firsts)
    order, firsts = order[:used], firsts[:used]
    kinds, objects = named.kinds[order], named.objects[order]
    known = columns.organisations
    room = sum(columns.texts.total_size(column[objects[objects >= 0]]) for column in known.texts)
    room += len(columns.texts.data) + RECORD_BYTES * len(kinds)  # of which only what is written to is claimed
    records = np.empty(room, np.uint8)
    at = np.empty(len(kinds), np.int64)
    size = kernels.encode_organisations(
        columns.texts,
        kinds,
        objects,
        firsts,
        columns.rows4,
        columns.rows6,
        known,
        records,
        at,
    )
    return Holders(numbers=numbers, at=at, records=records[:size])
