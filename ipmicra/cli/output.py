"""Printing: tables for people, JSON and CSV for programs. Data goes to stdout, everything else to stderr."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ipmicra.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

WIDE = 400
"""Columns of a table that goes into a file or pipe."""
DONE_IN_PART = 3
"""Exit code when something is missing; stderr says what."""


class Format(StrEnum):
    """What `--format` takes."""

    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"
    PARQUET = "parquet"


FormatOption = Annotated[
    Format | None,
    typer.Option("--format", "-f", help="How to print; by default a table on a terminal, JSON into a pipe."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Short for --format json.")]


def chosen(output_format: Format | None, as_json: bool) -> Format:
    """Decide how to print."""
    if as_json and output_format not in {None, Format.JSON}:
        raise typer.BadParameter(f"--json and --format {output_format} exclude each other")
    if as_json:
        return Format.JSON
    return output_format or (Format.TABLE if sys.stdout.isatty() else Format.JSON)


def clean(value: object) -> str:
    """Make a value safe to show: control characters of a dump must not reach the terminal."""
    text = "" if value is None else str(value)
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)


def print_records(records: Sequence[dict[str, Any]], output_format: Format) -> None:
    """Print records as JSON, one JSON a line, CSV or Parquet."""
    if output_format is Format.JSON:
        typer.echo(json.dumps(records, indent=2, ensure_ascii=False))
    elif output_format is Format.JSONL:
        for record in records:
            typer.echo(json.dumps(record, ensure_ascii=False))
    elif output_format is Format.CSV:
        typer.echo(_csv(records), nl=False)
    elif output_format is Format.PARQUET:
        _print_parquet(records)


def print_object(record: dict[str, Any], output_format: Format) -> None:
    """Print one record: as itself in JSON, as a table of one line elsewhere."""
    if output_format is Format.JSON:
        typer.echo(json.dumps(record, indent=2, ensure_ascii=False))
    else:
        print_records([record], output_format)


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table; numbers stand to the right, texts are shown as they are."""
    from rich.markup import escape
    from rich.table import Table
    from rich.text import Text

    table = Table(title=escape(clean(title)) or None, title_justify="left", box=None, pad_edge=False)
    cells = [list(row) for row in rows]
    for i, column in enumerate(columns):
        is_number = bool(cells) and all(isinstance(row[i], int | float) for row in cells)
        justify: Literal["left", "right"] = "right" if is_number else "left"
        table.add_column(column, justify=justify, overflow="fold", no_wrap=i == 0)
    for row in cells:
        table.add_row(*(Text(f"{cell:,}" if isinstance(cell, int) else clean(cell)) for cell in row))
    console().print(table)


def console() -> Console:
    """Make the console for data; without a terminal it neither colours nor wraps."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else WIDE, highlight=False)


def say(message: str) -> None:
    """Tell the user something beside the data."""
    from ipmicra.edge.log import log_as_json

    if not log_as_json(clean(message)):
        typer.echo(clean(message), err=True)


def _csv(records: Sequence[dict[str, Any]]) -> str:
    """Write records under the union of their keys; what is nested becomes JSON."""
    keys = list(dict.fromkeys(key for record in records for key in record))
    text = io.StringIO()
    writer = csv.DictWriter(text, keys, lineterminator="\n")
    writer.writeheader()
    for record in records:
        writer.writerow({key: _cell(value) for key, value in record.items()})
    return text.getvalue()


def _cell(value: object) -> object:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value


def _print_parquet(records: Sequence[dict[str, Any]]) -> None:
    """Write Parquet to stdout."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise InputError("Parquet needs pyarrow: pip install 'ipmicra[columnar]'") from error
    if sys.stdout.isatty():
        raise InputError("Parquet is binary: send it to a file, as in `… --format parquet > rows.parquet`")
    sink = pa.BufferOutputStream()
    parquet.write_table(pa.Table.from_pylist([{k: _cell(v) for k, v in r.items()} for r in records]), sink)
    sys.stdout.flush()
    os.write(sys.stdout.fileno(), sink.getvalue().to_pybytes())
