"""`ipmicra locate FILE.parquet -o OUT.parquet`: the places of a whole table of addresses or host names."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ipmicra.app.locate.locate import LocateRun
from ipmicra.app.tables import TableReport, TableRequest, Watch, extend_with
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


def locate_table(run: LocateRun, request: TableRequest, watch: Watch) -> TableReport:
    """Write a table with the place of each address or host name."""
    table = open_table(request.source)
    choice = choose_targets(table.schema, request.column, request.prefix)
    return extend_with(request, table, choice, LocateExtension(run, choice), watch)


@dataclass(slots=True)
class LocateExtension:
    """Adds the place of each target; what a batch repeats is located once."""

    run: LocateRun
    choice: ColumnChoice
    missing: int = 0
    """Rows without a place so far."""

    @property
    def fields(self) -> list[pa.Field]:
        """Names and types of the columns it adds."""
        return self.choice.named(PLACE_FIELDS)

    def columns(self, batch: pa.RecordBatch) -> list[pa.Array]:
        """Return the columns of a batch."""
        column = self.choice.of(batch)
        encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        places = [_place(one) for one in self._located(encoded.dictionary.to_pylist())]
        at = encoded.indices
        self.missing += len(column) - int(
            np.count_nonzero([places[i] is not None for i in at.drop_null().to_pylist()])
        )
        return [
            pa.array([place and place[number] for place in places], field.type).take(at)
            for number, field in enumerate(PLACE_FIELDS)
        ]

    def _located(self, texts: list[str | None]) -> list[Located | None]:
        found = iter(self.run.locate_texts([text for text in texts if text]))
        return [next(found).located if text else None for text in texts]


def _place(located: Located | None) -> tuple[object, ...] | None:
    if located is None or located.location is None:
        return None
    one = located.location
    return one.latitude, one.longitude, one.radius_km, one.city, one.country, str(located.heuristic)
