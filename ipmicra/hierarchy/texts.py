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
from ipmicra.parse.fields import Text

LARGEST_POOL = (1 << 32) - 1
LONGEST_LENGTH = 3
"""Bytes that a text's length takes at most in a pool."""
KINDS = (Text.NETNAME, Text.STATUS, Text.GEOLOC, Text.GEOFEED)
"""Texts of a subnet; that of its holder lies with the organisations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaidOutText:
    """One text of each subnet, in the order in which subnets first use it."""

    places: NDArray[np.uint32]
    """Offset of each subnet's text in `written`, counted from 1; 0 for none."""
    written: NDArray[np.uint8]
    distinct: NDArray[np.uint32]
    """Offsets of the distinct texts, ascending."""


def lay_out_text(columns: Columns, kind: Text, registrations: NDArray[np.int32]) -> LaidOutText:
    """Write each distinct text of a kind once, in the order of the subnets."""
    texts, tables = columns.texts, (columns.rows4, columns.rows6)
    places = np.zeros(len(registrations), np.uint32)
    room = 0
    if any(table.texts[kind].any() for table in tables):  # most dumps have neither geoloc nor geofeed
        room = len(texts.data) + LONGEST_LENGTH * len(texts)
    # memory that is not written to is never claimed: room for the all texts costs nothing
    written, distinct = np.empty(room, np.uint8), np.empty(len(texts), np.uint32)
    size = count = 0
    if room:
        size, count = kernels.write_picked(
            texts, *tables, int(kind), registrations, places, written, distinct
        )
    if size > LARGEST_POOL:
        raise CapacityError(f"{size} bytes of names; the format has room for {LARGEST_POOL}")
    return LaidOutText(places=places, written=written[:size], distinct=distinct[:count])


def lay_out_texts(laid_out: dict[Text, LaidOutText]) -> dict[str, NDArray[Any]]:
    """Return the pool and the columns that point into it; offset 0 is the empty text."""
    parts = laid_out.values()
    bases = np.cumsum([0, *(len(part.written) for part in parts)])
    if bases[-1] >= LARGEST_POOL:
        raise CapacityError(f"{bases[-1]} bytes of names; the format has room for {LARGEST_POOL}")
    base = {kind: np.uint32(start) for kind, start in zip(laid_out, bases[:-1], strict=True)}
    geoloc, geofeed, status = (laid_out[kind] for kind in (Text.GEOLOC, Text.GEOFEED, Text.STATUS))
    geo_rows = np.flatnonzero((geoloc.places != 0) | (geofeed.places != 0))
    return {
        names.NAMES: np.concatenate([np.zeros(1, np.uint8), *(part.written for part in parts)]),
        names.NETNAME: laid_out[Text.NETNAME].places,  # first in the pool
        names.STATUS: _codes(status),
        names.STATUSES: np.concatenate((np.zeros(1, np.uint32), status.distinct + base[Text.STATUS])),
        names.GEO_ROWS: geo_rows.astype(np.uint32),
        names.GEOLOC: _moved(geoloc.places[geo_rows], base[Text.GEOLOC]),
        names.GEOFEED: _moved(geofeed.places[geo_rows], base[Text.GEOFEED]),
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
