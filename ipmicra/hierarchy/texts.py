"""Store each distinct net name, status, geoloc, geofeed and postal address once, in one pool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ipmicra.errors import CapacityError
from ipmicra.hierarchy import format as names
from ipmicra.native import kernels
from ipmicra.parse.columns import Columns
from ipmicra.parse.fields import Text

LARGEST_POOL = (1 << 32) - 1
LONGEST_LENGTH = 3
"""Bytes that a text's length takes at most in a pool."""
KINDS = (Text.NETNAME, Text.STATUS, Text.GEOLOC, Text.GEOFEED, Text.ADDRESS)
"""Texts of a subnet; that of its holder lies with the organisations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaidOutText:
    """One text of each subnet, in the order in which subnets first use it."""

    places: NDArray[np.uint32]
    """Offset of each subnet's text in `pool`; 0 for none."""
    pool: NDArray[np.uint8]
    """A zero, then the texts; there is room for those of all kinds behind them."""
    size: int
    """Bytes of the texts, without the zero."""
    distinct: NDArray[np.uint32]
    """Offsets of the distinct texts, ascending."""


def lay_out_text(columns: Columns, kind: Text, registrations: NDArray[np.int32]) -> LaidOutText:
    """Write each distinct text of a kind once, in the order of the subnets."""
    texts, tables = columns.texts, (columns.rows4, columns.rows6)
    # memory that is not written to is never claimed: room for all texts costs nothing, nor do places of none
    places, distinct = np.zeros(len(registrations), np.uint32), np.empty(len(texts), np.uint32)
    pool = np.empty(1 + len(KINDS) * (len(texts.data) + LONGEST_LENGTH * len(texts)), np.uint8)
    pool[0] = 0
    size = count = 0
    if any(table.texts[kind].any() for table in tables):  # most dumps have none of the rare ones
        size, count = kernels.write_picked(
            texts, *tables, int(kind), registrations, places, pool[1:], distinct
        )
    return LaidOutText(places=places, pool=pool, size=size, distinct=distinct[:count])


def lay_out_texts(laid_out: dict[Text, LaidOutText]) -> dict[str, NDArray[Any]]:
    """Return the pool and the columns that point into it; offset 0 is the empty text."""
    pool, end = laid_out[Text.NETNAME].pool, 1  # the others are few, and copied behind it
    base: dict[Text, np.uint32] = {}
    for kind, part in laid_out.items():
        if end + part.size > LARGEST_POOL:
            raise CapacityError(f"{end + part.size} bytes of names; the format has room for {LARGEST_POOL}")
        base[kind] = np.uint32(end - 1)
        if part.pool is not pool:
            pool[end : end + part.size] = part.pool[1 : 1 + part.size]
        end += part.size
    status = laid_out[Text.STATUS]
    rare = {names.GEOLOC: Text.GEOLOC, names.GEOFEED: Text.GEOFEED, names.POSTAL: Text.ADDRESS}
    is_placed = np.zeros(len(status.places), np.bool_)
    for kind in rare.values():
        if laid_out[kind].size:
            is_placed |= laid_out[kind].places != 0
    geo_rows = np.flatnonzero(is_placed)
    return {
        names.NAMES: pool[:end],
        names.NETNAME: laid_out[Text.NETNAME].places,  # first in the pool
        names.STATUS: _codes(status),
        names.STATUSES: np.concatenate((np.zeros(1, np.uint32), status.distinct + base[Text.STATUS])),
        names.GEO_ROWS: geo_rows.astype(np.uint32),
        **{name: _moved(laid_out[kind].places[geo_rows], base[kind]) for name, kind in rare.items()},
    }


def _moved(places: NDArray[np.uint32], base: np.uint32) -> NDArray[np.uint32]:
    """Add a base to offsets, keeping 0 for none."""
    return np.where(places, places + base, np.uint32(0))


def _codes(text: LaidOutText) -> NDArray[Any]:
    """Number the texts from 1; 0 means none."""
    codes = np.zeros(text.size + 1, np.uint32)
    codes[text.distinct] = np.arange(1, len(text.distinct) + 1)
    return narrow(codes, len(text.distinct))[text.places]


def narrow(values: NDArray[Any], largest: int) -> NDArray[Any]:
    """Store codes in as few bytes as the largest one needs."""
    return values.astype(np.uint8 if largest < 1 << 8 else np.uint16 if largest < 1 << 16 else np.uint32)
