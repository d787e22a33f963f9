"""`ipmicra lookup FILE.parquet -o OUT.parquet`: the subnets of a whole table of addresses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from ipmicra.app.tables import TableReport, TableRequest, Watch, extend_with
from ipmicra.edge.columnar.addresses import read_addresses
from ipmicra.edge.columnar.choice import ColumnChoice, choose_addresses
from ipmicra.edge.columnar.parquet import open_table
from ipmicra.edge.columnar.subnets import SUBNET_COLUMNS, SubnetColumns
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.errors import InputError


def look_up_table(
    hierarchy: Hierarchy, request: TableRequest, columns: Sequence[str] | None, watch: Watch
) -> TableReport:
    """Write a table with what is registered of each address."""
    table = open_table(request.source)
    choice = choose_addresses(table.schema, request.column, request.prefix)
    extension = LookupExtension(hierarchy, choice, tuple(columns or SUBNET_COLUMNS))
    return extend_with(request, table, choice, extension, watch)


@dataclass(slots=True)
class LookupExtension:
    """Adds the narrowest subnet of each address, and what is registered of it."""

    hierarchy: Hierarchy
    choice: ColumnChoice
    names: Sequence[str] = SUBNET_COLUMNS
    missing: int = 0
    """Rows without an address so far."""
    _subnets: SubnetColumns = field(init=False)
    _is_first: bool = True

    def __post_init__(self) -> None:
        """Choose the columns."""
        self._subnets = SubnetColumns(self.hierarchy, self.names)

    @property
    def fields(self) -> list[pa.Field]:
        """Names and types of the columns it adds."""
        edition = {"ipmicra.edition": self.hierarchy.content_hash}
        return [one.with_metadata(edition) for one in self.choice.named(self._subnets.fields)]

    def columns(self, batch: pa.RecordBatch) -> list[pa.Array]:
        """Return the columns of a batch."""
        column = self.choice.of(batch)
        words, is_known = read_addresses(column)
        if self._is_first:
            _check(column, self.choice.name, is_any=bool(is_known.any()))
            self._is_first = False
        self.missing += int(np.count_nonzero(~is_known))
        return self._subnets.encoded(self.hierarchy.lookup_many(words), is_known)


def _check(column: pa.Array, name: str, *, is_any: bool) -> None:
    """Refuse a column of something else before hours are spent on it."""
    given = column.drop_null()
    if not is_any and len(given):
        raise InputError(
            f"column {name} holds no addresses ({given[0].as_py()!r} …): name another with --column, or "
            "resolve names first"
        )
