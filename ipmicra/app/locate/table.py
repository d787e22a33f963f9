"""`ipmicra locate FILE.parquet -o OUT.parquet`: the places of a whole table of addresses or host names."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ipmicra.app.locate.locate import LocateRun
from ipmicra.app.tables import TableReport, TableRequest, Watch, extend_with
from ipmicra.edge.columnar.addresses import read_addresses
from ipmicra.edge.columnar.choice import ColumnChoice, choose_targets
from ipmicra.edge.columnar.parquet import open_table
from ipmicra.locate.locator import Located

PLACE_FIELDS = (
    pa.field("latitude", pa.float64()),
    pa.field("longitude", pa.float64()),
    pa.field("radius_km", pa.float64()),
    pa.field("city", pa.string()),
    pa.field("country", pa.string()),
    pa.field("heuristic", pa.string()),
)
"""What is added to a table."""
Place = tuple[object, ...]
"""A value for each of them."""
Rows = NDArray[np.uint32]
_NOWHERE, _UNLOCATED = -1, -2


def locate_table(run: LocateRun, request: TableRequest, watch: Watch) -> TableReport:
    """Write a table with the place of each address or host name."""
    table = open_table(request.source)
    choice = choose_targets(table.schema, request.column, request.prefix)
    return extend_with(request, table, choice, LocateExtension(run, choice), watch)


class LocateExtension:
    """Adds the place of each target.

    What a batch repeats is located once; and each subnet once for the whole table, if it alone decides.
    """

    def __init__(self, run: LocateRun, choice: ColumnChoice) -> None:
        """Know no place yet."""
        self.missing = 0
        """Rows without a place so far."""
        self._run, self._choice = run, choice
        self._hierarchy = run.deciding_hierarchy
        self._of_row = np.full(len(self._hierarchy or ()), _UNLOCATED, np.int32)
        """The place of each subnet of the hierarchy."""
        self._numbers: dict[Place, int] = {}
        """The places that were met; tables name the same ones again and again."""

    @property
    def fields(self) -> list[pa.Field]:
        """Names and types of the columns it adds."""
        return self._choice.named(PLACE_FIELDS)

    def columns(self, batch: pa.RecordBatch) -> list[pa.Array]:
        """Return the columns of a batch."""
        column = self._choice.of(batch)
        found = np.full(len(column), _NOWHERE, np.int32)
        is_text = np.asarray(column.is_valid())
        if self._hierarchy is not None:
            words, is_address = read_addresses(column)
            found[is_address] = self._of_subnets(self._hierarchy.lookup_many(words), is_address, column)
            is_text &= ~is_address
        if is_text.any():
            found[is_text] = self._of_texts(column.filter(pa.array(is_text)))
        is_nowhere = found == _NOWHERE
        self.missing += int(np.count_nonzero(is_nowhere))
        at = pa.array(found, mask=is_nowhere)
        return [
            pa.array([place[number] for place in self._numbers], field.type).take(at)
            for number, field in enumerate(PLACE_FIELDS)
        ]

    def _of_subnets(self, rows: Rows, is_address: NDArray[np.bool_], column: pa.Array) -> NDArray[np.int32]:
        """Return the places of addresses by their subnets; a new subnet by one of its addresses."""
        places = np.flatnonzero(is_address)
        rows = rows[is_address]
        is_new = self._of_row[rows] == _UNLOCATED
        new, first = np.unique(rows[is_new], return_index=True)
        self._of_row[new] = self._located(column.take(pa.array(places[is_new][first])).to_pylist())
        found: NDArray[np.int32] = self._of_row[rows]
        return found

    def _of_texts(self, texts: pa.Array) -> NDArray[np.int32]:
        """Return the places of texts one by one."""
        encoded = texts if pa.types.is_dictionary(texts.type) else texts.dictionary_encode()
        located = np.array(self._located(encoded.dictionary.to_pylist()), np.int32)
        found: NDArray[np.int32] = located[np.asarray(encoded.indices)]
        return found

    def _located(self, texts: list[str | None]) -> list[int]:
        """Return the number of the place of each text."""
        found = iter(self._run.locate_texts([text for text in texts if text]))
        return [self._number(next(found).located) if text else _NOWHERE for text in texts]

    def _number(self, located: Located) -> int:
        place = _place(located)
        return _NOWHERE if place is None else self._numbers.setdefault(place, len(self._numbers))


def _place(located: Located) -> Place | None:
    if located.location is None:
        return None
    one = located.location
    return one.latitude, one.longitude, one.radius_km, one.city, one.country, str(located.heuristic)
