"""Records printed one by one, as they come, in every format."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

from ipmicra.cli.output import Format, clean, print_records


class RecordStream:
    """Prints records of the same columns; use as a context."""

    def __init__(self, columns: Sequence[str], widths: Sequence[int], output_format: Format) -> None:
        """Choose columns and, for tables, their least widths."""
        self._columns, self._widths, self._format = list(columns), list(widths), output_format
        self._count = 0
        self._kept: list[dict[str, Any]] = []
        self._csv = csv.DictWriter(sys.stdout, self._columns, lineterminator="\n")

    def __enter__(self) -> Self:
        """Print what comes first."""
        if self._format is Format.CSV:
            self._csv.writeheader()
        elif self._format is Format.TABLE:
            self._line(self._columns)
        elif self._format is Format.JSON:
            sys.stdout.write("[")
        return self

    def add(self, record: dict[str, Any]) -> None:
        """Print a record."""
        if self._format is Format.CSV:
            self._csv.writerow(record)
        elif self._format is Format.JSONL:
            sys.stdout.write(json.dumps(record, ensure_ascii=False) + "\n")
        elif self._format is Format.JSON:
            comma = "," if self._count else ""
            sys.stdout.write(f"{comma}\n  {json.dumps(record, ensure_ascii=False)}")
        elif self._format is Format.TABLE:
            self._line([record[column] for column in self._columns])
        else:
            self._kept.append(record)
        self._count += 1

    def flush(self) -> None:
        """See that whoever reads gets what was printed."""
        sys.stdout.flush()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Print what comes last."""
        if self._format is Format.JSON:
            sys.stdout.write("\n]\n" if self._count else "]\n")
        elif self._format is Format.PARQUET and kind is None:
            print_records(self._kept, Format.PARQUET)
        sys.stdout.flush()

    def _line(self, values: Sequence[object]) -> None:
        cells = [f"{value:.1f}" if isinstance(value, float) else clean(value) for value in values]
        padded = [cell.ljust(width) for cell, width in zip(cells, self._widths, strict=True)]
        sys.stdout.write("  ".join(padded).rstrip() + "\n")
