"""Exports that are tables: every row, whether it has an owner or not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ipmicra.app.describe.assignment import describe_assignment
from ipmicra.app.export.rows import ExportRow, SiteRows
from ipmicra.app.export.scope import ExportScope, rows_of
from ipmicra.errors import MissingExtraError
from ipmicra.model.foreign_text import csv_line, json_text

COLUMNS = (
    *("host", "vantage", "piece", "address", "crawler", "reason"),
    *("expected_ms", "pages", "filters", "backend", "rule"),
    *("url", "subnet", "source"),
)
CSV_HEAD = f"{','.join(COLUMNS)}\n"


def describe_row(one: ExportRow) -> dict[str, Any]:
    """Describe a row: an assignment as the API has it, with where it starts and what it rests on."""
    return describe_assignment(one) | {
        "url": one.url,
        "subnet": one.subnet,
        "source": one.source.value if one.source else None,
    }


def _records(sites: Sequence[SiteRows], scope: ExportScope) -> list[dict[str, Any]]:
    return [describe_row(one) for rows in rows_of(sites, scope.crawler) for one in rows]


def json_lines(sites: Sequence[SiteRows], scope: ExportScope) -> str:
    """Write rows as JSON lines."""
    return "".join(f"{json_text(one)}\n" for one in _records(sites, scope))


def csv_lines(sites: Sequence[SiteRows], scope: ExportScope) -> str:
    """Write rows as CSV."""
    flat = ({**one, "filters": " ".join(one["filters"])} for one in _records(sites, scope))
    return "".join(csv_line(one[column] for column in COLUMNS) for one in flat)


class _Sink:
    """A file that is read as it is written."""

    closed = False

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._at = 0

    def write(self, data: bytes) -> int:
        self._pieces.append(bytes(data))
        self._at += len(data)
        return len(data)

    def tell(self) -> int:
        return self._at

    def flush(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True

    def writable(self) -> bool:
        return True

    def taken(self) -> bytes:
        """Return what was written since the last call."""
        found = b"".join(self._pieces)
        self._pieces.clear()
        return found


class ParquetTable:
    """Rows as Parquet, a group of rows for each part."""

    def __init__(self, scope: ExportScope) -> None:
        """Refuse without pyarrow."""
        try:
            import pyarrow as pa
            from pyarrow import parquet
        except ImportError as error:
            raise MissingExtraError("Parquet", "pyarrow") from error
        self._scope, self._sink = scope, _Sink()
        kinds = {"expected_ms": pa.float64(), "pages": pa.int64(), "filters": pa.list_(pa.string())}
        self._schema = pa.schema([pa.field(name, kinds.get(name, pa.string())) for name in COLUMNS])
        self._pa, self._parquet = pa, parquet
        self._writer: Any = None

    def begin(self) -> bytes:
        """Return the magic number."""
        sink = self._pa.PythonFile(self._sink, mode="w")
        self._writer = self._parquet.ParquetWriter(sink, self._schema)
        return self._sink.taken()

    def part(self, sites: Sequence[SiteRows]) -> bytes:
        """Return a group of rows."""
        records = _records(sites, self._scope)
        if records:
            self._writer.write_table(self._pa.Table.from_pylist(records, schema=self._schema))
        return self._sink.taken()

    def end(self) -> bytes:
        """Return the index."""
        self._writer.close()
        return self._sink.taken()
