"""Printing Parquet: groups of rows, from records or from lines of CSV, so that memory stays constant."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from ipmicra.errors import InputError, MissingExtraError
from ipmicra.model.foreign_text import json_text

PARQUET_ROWS = 1 << 16
"""Records of one group of rows."""

Record = dict[str, Any]


def _flat_record(record: Record) -> Record:
    return {
        key: json_text(value) if isinstance(value, dict | list) else value for key, value in record.items()
    }


def _as_text(value: object) -> object:
    return value if value is None or isinstance(value, str) else json_text(value)


def _untyped(table: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Take the type from columns that are empty."""
    import pyarrow as pa

    for number, name in enumerate(table.column_names):
        if table.column(name).null_count == table.num_rows:
            table = table.set_column(number, name, pa.nulls(table.num_rows))
    return table


class ParquetStream:
    """Writes records to standard output as Parquet, a group of rows at a time."""

    def __init__(self) -> None:
        """Refuse where Parquet cannot be written: without pyarrow, or to a terminal."""
        try:
            from pyarrow import parquet
        except ImportError as error:
            raise MissingExtraError("Parquet", "pyarrow") from error
        if sys.stdout.isatty():
            raise InputError(
                "Parquet is binary: send it to a file, as in `… --format parquet > rows.parquet`"
            )
        self._parquet = parquet
        self._kept: list[Record] = []
        self._tables: list[Any] = []
        """What comes before the records in the next group."""
        self._table_rows = 0
        self._writer: Any = None

    def add(self, record: Record) -> None:
        """Keep a record until its group is full."""
        self._kept.append(_flat_record(record))
        if self._table_rows + len(self._kept) == PARQUET_ROWS:
            self._write()

    def add_csv(self, lines: memoryview, count: int, columns: Sequence[str], numbers: frozenset[str]) -> None:
        """Keep lines of CSV until their groups are full; an empty cell is no value."""
        import pyarrow as pa
        from pyarrow import csv

        types = {name: pa.int64() if name in numbers else pa.string() for name in columns}
        reading = csv.ReadOptions(column_names=list(columns), use_threads=False, block_size=len(lines) + 1)
        values = csv.ConvertOptions(column_types=types, null_values=[""], strings_can_be_null=True)
        table = csv.read_csv(pa.py_buffer(lines), read_options=reading, convert_options=values)
        self._move_kept(table.schema)
        while count:
            part = table.slice(0, PARQUET_ROWS - self._table_rows)
            self._tables.append(part)
            self._table_rows += part.num_rows
            table, count = table.slice(part.num_rows), count - part.num_rows
            if self._table_rows == PARQUET_ROWS:
                self._write()

    def _move_kept(self, schema: Any) -> None:  # noqa: ANN401 - pyarrow has no types
        """Put the records that are kept behind the tables."""
        import pyarrow as pa

        texts = [field.name for field in schema if pa.types.is_string(field.type)]
        for record in self._kept:
            record.update({name: _as_text(record.get(name)) for name in texts})
        if self._kept:
            self._tables.append(pa.Table.from_pylist(self._kept, schema=schema))
            self._table_rows += len(self._kept)
            self._kept.clear()

    def finish(self) -> None:
        """Write the last group and the index."""
        import pyarrow as pa

        if self._writer is None and self._tables:
            self._move_kept(self._tables[0].schema)
            self._write_whole(_untyped(pa.concat_tables(self._tables)))
        elif self._writer is None:
            self.write_all(self._kept)
        else:
            if self._kept or self._tables:
                self._write()
            self._writer.close()

    def write_all(self, records: Sequence[Record]) -> None:
        """Write a table whose records are all known; a column that is empty in all of them has no type."""
        import pyarrow as pa

        self._write_whole(pa.Table.from_pylist([_flat_record(record) for record in records]))

    def _write_whole(self, table: Any) -> None:  # noqa: ANN401 - pyarrow has no types
        self._open(table.schema)
        self._writer.write_table(table)
        self._writer.close()

    def _open(self, schema: Any) -> None:  # noqa: ANN401 - pyarrow has no types
        import pyarrow as pa

        sys.stdout.flush()
        sink = pa.PythonFile(sys.stdout.buffer, mode="w")
        self._writer = self._parquet.ParquetWriter(sink, schema)

    def _write(self) -> None:
        """Write a group. The first one decides the types; columns empty in it are texts."""
        import pyarrow as pa

        if self._writer is None:
            fields = [
                pa.field(field.name, pa.string()) if pa.types.is_null(field.type) else field
                for field in (self._tables[0] if self._tables else pa.Table.from_pylist(self._kept)).schema
            ]
            self._open(pa.schema(fields))
        self._move_kept(self._writer.schema)
        self._writer.write_table(pa.concat_tables(self._tables))
        self._tables.clear()
        self._table_rows = 0
