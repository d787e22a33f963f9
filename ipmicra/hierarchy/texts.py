"""Store each distinct net name, status, geoloc and geofeed once, in one pool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ipmicra.errors import CapacityError
from ipmicra.hierarchy import format as names
from ipmicra.native import kernels
from ipmicra.parse.columns import Columns
from ipmicra.parse.fields import Field

LARGEST_POOL = (1 << 32) - 1
LONGEST_LENGTH = 3
"""Bytes that a text's length takes at most in a pool."""
FIELDS = (Field.NETNAME, Field.STATUS, Field.GEOLOC, Field.GEOFEED)


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedText:
    """One text of each registration, numbered in the order of the dumps."""

    numbers: NDArray[np.int32]
    """One per registration, IPv4 first; -1 for none. Empty if no registration has such a text."""
    starts: NDArray[np.uint64]
    """Where each distinct text first appears in the columns' text, by number."""
    sizes: NDArray[np.uint16]
    """Bytes of each distinct text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaidOutText:
    """One text of each subnet, in the order in which subnets first use it."""

    places: NDArray[np.uint32]
    """Offset of each subnet's text in `written`, counted from 1; 0 for none."""
    written: NDArray[np.uint8]
    distinct: NDArray[np.uint32]
    """Offsets of the distinct texts, ascending."""


def number_text(columns: Columns, field: Field) -> NumberedText:
    """Number the distinct texts of one field over all registrations."""
    rows = len(columns.rows4) + len(columns.rows6)
    if not any(table.lengths[:, field].any() for table in (columns.rows4, columns.rows6)):
        rows = 0  # as in most dumps for geoloc and geofeed: then no row is looked at
    # memory that is not written to is never claimed: room for as many distinct texts as rows costs nothing
    numbers, starts, sizes = np.empty(rows, np.int32), np.empty(rows, np.uint64), np.empty(rows, np.uint16)
    count = 0
    if rows:
        count = kernels.number_texts(
            columns.text, columns.rows4, columns.rows6, int(field), numbers, starts, sizes
        )
    return NumberedText(numbers=numbers, starts=starts[:count], sizes=sizes[:count])


def lay_out_text(
    pool: NDArray[np.uint8], text: NumberedText, registrations: NDArray[np.int32]
) -> LaidOutText:
    """Write each distinct text once, in the order of the subnets."""
    largest = int(text.sizes.sum(dtype=np.int64)) + LONGEST_LENGTH * len(text.sizes)
    if largest > LARGEST_POOL:
        raise CapacityError(f"{largest} bytes of names; the format has room for {LARGEST_POOL}")
    places = np.zeros(len(registrations), np.uint32)
    written, distinct = np.empty(largest, np.uint8), np.empty(len(text.sizes), np.uint32)
    if largest:
        size, count = kernels.write_picked(
            pool, text.starts, text.sizes, text.numbers, registrations, places, written, distinct
        )
        written, distinct = written[:size], distinct[:count]
    return LaidOutText(places=places, written=written, distinct=distinct)


def lay_out_texts(laid_out: dict[Field, LaidOutText]) -> dict[str, NDArray[Any]]:
    """Return the pool and the columns that point into it; offset 0 is the empty text."""
    parts = laid_out.values()
    bases = np.cumsum([0, *(len(part.written) for part in parts)])
    if bases[-1] >= LARGEST_POOL:
        raise CapacityError(f"{bases[-1]} bytes of names; the format has room for {LARGEST_POOL}")
    base = {field: np.uint32(start) for field, start in zip(laid_out, bases[:-1], strict=True)}
    geoloc, geofeed, status = (laid_out[field] for field in (Field.GEOLOC, Field.GEOFEED, Field.STATUS))
    geo_rows = np.flatnonzero((geoloc.places != 0) | (geofeed.places != 0))
    return {
        names.NAMES: np.concatenate([np.zeros(1, np.uint8), *(part.written for part in parts)]),
        names.NETNAME: laid_out[Field.NETNAME].places,  # first in the pool
        names.STATUS: _codes(status),
        names.STATUSES: np.concatenate((np.zeros(1, np.uint32), status.distinct + base[Field.STATUS])),
        names.GEO_ROWS: geo_rows.astype(np.uint32),
        names.GEOLOC: _moved(geoloc.places[geo_rows], base[Field.GEOLOC]),
        names.GEOFEED: _moved(geofeed.places[geo_rows], base[Field.GEOFEED]),
    }


def _moved(places: NDArray[np.uint32], base: np.uint32) -> NDArray[np.uint32]:
    """Add a base to offsets, keeping 0 for none."""
    return np.where(places, places + base, np.uint32(0))


def _codes(text: LaidOutText) -> NDArray[Any]:
    """Number the texts from 1; 0 means none."""
    codes = np.zeros(len(text.written) + 1, np.uint32)
    codes[text.distinct] = np.arange(1, len(text.distinct) + 1)
    return narrow(codes, len(text.distinct))[text.places]


def narrow(values: NDArray[Any], largest: int) -> NDArray[Any]:
    """Store codes in as few bytes as the largest one needs."""
    return values.astype(np.uint8 if largest < 1 << 8 else np.uint16 if largest < 1 << 16 else np.uint32)
