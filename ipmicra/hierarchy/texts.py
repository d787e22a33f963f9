"""Net names, statuses, geolocs and geofeeds: each text once, in one pool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ipmicra.errors import CapacityError
from ipmicra.hierarchy import format as names
from ipmicra.hierarchy.kernels.intern import Pool, intern, renumber
from ipmicra.hierarchy.kernels.pools import encode_pool
from ipmicra.parse.columns import Columns
from ipmicra.parse.fields import Field

LARGEST_POOL = (1 << 32) - 1
FIELDS = (Field.NETNAME, Field.STATUS, Field.GEOLOC, Field.GEOFEED)


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedText:
    """One text of each registration, numbered in the order of the dumps."""

    numbers: NDArray[np.int32]
    """One for each registration, IPv4 first; -1 for none."""
    pool: Pool


@dataclass(frozen=True, slots=True, kw_only=True)
class LaidOutText:
    """One text of each subnet, numbered in the order of the subnets."""

    numbers: NDArray[np.int32]
    encoded: NDArray[np.uint8]
    starts: NDArray[np.int64]
    """Where each text starts in what is encoded."""


def number_text(columns: Columns, field: Field) -> NumberedText:
    """Number one text of all registrations."""
    starts = np.concatenate((columns.rows4.text, columns.rows6.text))
    lengths = np.empty(len(starts), np.uint16)
    edge = len(columns.rows4)
    for rows, part in ((columns.rows4, slice(edge)), (columns.rows6, slice(edge, None))):
        for column in range(field):
            starts[part] += rows.lengths[:, column]
        lengths[part] = rows.lengths[:, field]
    numbers, pool = intern(columns.text, starts, lengths)
    return NumberedText(numbers=numbers, pool=pool)


def lay_out_texts(laid_out: dict[Field, LaidOutText]) -> dict[str, NDArray[Any]]:
    """Write the pool and the columns that point into it; place 0 is the empty text."""
    bases = np.cumsum([1, *(len(part.encoded) for part in laid_out.values())])
    if bases[-1] > LARGEST_POOL:
        raise CapacityError(f"{bases[-1]} bytes of names; the format has room for {LARGEST_POOL}")
    places = {
        field: np.concatenate((part.starts + base, [0])).astype(np.uint32)
        for (field, part), base in zip(laid_out.items(), bases[:-1], strict=True)
    }  # a number of -1 takes the last of them, 0
    status = laid_out[Field.STATUS].numbers
    geoloc, geofeed = (places[field][laid_out[field].numbers] for field in (Field.GEOLOC, Field.GEOFEED))
    geo_rows = np.flatnonzero((geoloc != 0) | (geofeed != 0))
    return {
        names.NAMES: np.concatenate([np.zeros(1, np.uint8), *(part.encoded for part in laid_out.values())]),
        names.NETNAME: places[Field.NETNAME][laid_out[Field.NETNAME].numbers],
        names.STATUS: narrow(status + 1, len(places[Field.STATUS]) - 1),
        names.STATUSES: np.roll(places[Field.STATUS], 1),
        names.GEO_ROWS: geo_rows.astype(np.uint32),
        names.GEOLOC: geoloc[geo_rows],
        names.GEOFEED: geofeed[geo_rows],
    }


def lay_out_text(text: NumberedText, registrations: NDArray[np.int64]) -> LaidOutText:
    """Number the texts in the order of the subnets and write each once."""
    numbers = np.empty(len(registrations), np.int32)
    order, _firsts = renumber(text.numbers, registrations, len(text.pool.ends), numbers)
    encoded, starts = encode_pool(text.pool.bytes, text.pool.ends, order)
    return LaidOutText(numbers=numbers, encoded=encoded, starts=starts)


def narrow(values: NDArray[Any], largest: int) -> NDArray[Any]:
    """Store codes in as few bytes as the largest of them needs."""
    return values.astype(np.uint8 if largest < 1 << 8 else np.uint16 if largest < 1 << 16 else np.uint32)
