"""Formats of exports, by name: assignments in, bytes out.

A format renders a part of the assignments at a time, so that an export of any length streams. `begin` comes
before the first part, `end` after the last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ipmicra.app.describe.assignment import describe_assignment
from ipmicra.errors import InputError
from ipmicra.model.assignment import Assignment
from ipmicra.model.foreign_text import csv_line, json_text

COLUMNS = (
    *("host", "vantage", "piece", "address", "crawler", "reason"),
    *("expected_ms", "pages", "filters", "backend", "rule"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportFormat:
    """A way to write assignments."""

    media_type: str
    ending: str
    """Of file names."""
    render: Callable[[Sequence[Assignment]], bytes]
    begin: bytes = b""
    end: bytes = b""


def _jsonl(assignments: Sequence[Assignment]) -> bytes:
    return b"".join(json_text(describe_assignment(one)).encode() + b"\n" for one in assignments)


def _csv(assignments: Sequence[Assignment]) -> bytes:
    records = ({**describe_assignment(one), "filters": " ".join(one.filters)} for one in assignments)
    return "".join(csv_line(record[column] for column in COLUMNS) for record in records).encode()


FORMATS: dict[str, ExportFormat] = {
    "csv": ExportFormat(
        media_type="text/csv", ending=".csv", render=_csv, begin=f"{','.join(COLUMNS)}\n".encode()
    ),
    "jsonl": ExportFormat(media_type="application/x-ndjson", ending=".jsonl", render=_jsonl),
}


def format_named(name: str) -> ExportFormat:
    """Return a format; `InputError` names those that there are."""
    if name not in FORMATS:
        raise InputError(f"no export format {name[:64]!r}: there are {', '.join(FORMATS)}")
    return FORMATS[name]
