"""Choose the column of a table that a question is about, by name or by guess."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from ipmicra.edge.columnar.addresses import holds_addresses, holds_texts
from ipmicra.errors import InputError

ADDRESS_NAMES = ("address", "ip", "ip_address", "ipaddress", "addr", "ipv4", "ipv6", "target")
"""Columns that hold addresses; of several in one table the first of this list."""
HOST_NAMES = (
    *("host", "hostname", "host_name", "site", "domain", "fqdn", "website", "url", "uri", "seed", "target"),
)
"""Columns that hold hosts or URLs; of several in one table the first of this list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnChoice:
    """The column of a table that is read."""

    name: str
    is_guessed: bool = False
    prefix: str = ""
    """Of the names of added columns."""

    def of(self, batch: pa.RecordBatch) -> pa.Array:
        """Return the column of a batch."""
        if self.name not in batch.schema.names:
            raise InputError(f"a file of the table has no column {self.name}: {columns_text(batch.schema)}")
        return batch.column(self.name)

    def named(self, fields: Sequence[pa.Field]) -> list[pa.Field]:
        """Return added columns under their names in the table."""
        return [one.with_name(f"{self.prefix}{one.name}") for one in fields]


def choose_addresses(schema: pa.Schema, wanted: str | None, prefix: str = "") -> ColumnChoice:
    """Choose the column of addresses."""
    return _choose(schema, wanted, prefix, (ADDRESS_NAMES, holds_addresses, "addresses"))


def choose_targets(schema: pa.Schema, wanted: str | None, prefix: str = "") -> ColumnChoice:
    """Choose the column of texts that are addresses or host names."""
    return _choose(schema, wanted, prefix, ((*ADDRESS_NAMES, *HOST_NAMES), holds_texts, "texts"))


def _choose(
    schema: pa.Schema,
    wanted: str | None,
    prefix: str,
    sought: tuple[Sequence[str], Callable[[pa.DataType], bool], str],
) -> ColumnChoice:
    names, fits, what = sought
    if wanted is not None:
        if wanted not in schema.names:
            raise InputError(f"there is no column {wanted}: {columns_text(schema)}")
        if not fits(schema.field(wanted).type):
            raise InputError(f"column {wanted} is of {schema.field(wanted).type}, which holds no {what}")
        return ColumnChoice(name=wanted, prefix=prefix)
    by_name = {one.name.lower(): one.name for one in schema if fits(one.type)}
    found = next((by_name[name] for name in names if name in by_name), None)
    texts = [one.name for one in schema if holds_texts(one.type)]
    if found is None and len(texts) == 1:
        found = texts[0]
    if found is None:
        raise InputError(f"which column holds {what}? Name it with --column: {columns_text(schema)}")
    return ColumnChoice(name=found, is_guessed=True, prefix=prefix)


def columns_text(schema: pa.Schema) -> str:
    """List the columns of a table for people."""
    return f"there are {', '.join(f'{one.name} ({one.type})' for one in schema)}"
