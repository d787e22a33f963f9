"""Store each distinct net name, status, geoloc and geofeed once, in one pool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ipmicra.errors import CapacityError
from ipmicra.hierarchy import format as names
from ipmicra.hierarchy.kernels.intern import empty_table, number_column
from ipmicra.hierarchy.kernels.pools import LONGEST_LENGTH, write_picked
from ipmicra.parse.columns import Columns
from ipmicra.parse.fields import Field

LARGEST_POOL = (1 << 32) - 1
FIELDS = (Field.NETNAME, Field.STATUS, Field.GEOLOC, Field.GEOFEED)


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedText:
    """One text of each registration, numbered in the order of the dumps."""

    numbers: NDArray[np.int32]
    """One per registration, IPv4 first; -1 for none."""
    pool: NDArray[np.uint8]
    """The distinct texts, concatenated in the order of their numbers."""
    ends: NDArray[np.int64]
    """End of each text."""


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
    edge = len(columns.rows4)
    numbers = np.empty(edge + len(columns.rows6), np.int32)
    sizes = [int(rows.lengths[:, field].sum(dtype=np.int64)) for rows in (columns.rows4, columns.rows6)]
    table = empty_table(len(numbers) if sum(sizes) else 0, sum(sizes))
    count = 0
    parts = numbers[:edge], numbers[edge:]
    for rows, size, part in zip((columns.rows4, columns.rows6), sizes, parts, strict=True):
        if size:
            count, table = number_column(
                columns.text, rows.text, rows.lengths, int(field), count, table, part
            )
        else:
            part[:] = -1
    _slots, pool, ends = table
    return NumberedText(numbers=numbers, pool=pool[: ends[count - 1] if count else 0], ends=ends[:count])


def lay_out_text(text: NumberedText, registrations: NDArray[np.int64]) -> LaidOutText:
    """Write each distinct text once, in the order of the subnets."""
    largest = len(text.pool) + LONGEST_LENGTH * len(text.ends)
    if largest > LARGEST_POOL:
        raise CapacityError(f"{largest} bytes of names; the format has room for {LARGEST_POOL}")
    places = np.zeros(len(registrations), np.uint32)
    written, distinct = write_picked(
        text.pool, text.ends, text.numbers, registrations if len(text.ends) else registrations[:0], places
    )
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
