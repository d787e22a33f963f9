"""Whole tables of Parquet: options that commands share, and what is printed in the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ipmicra.cli.options import Format
from ipmicra.cli.output import print_object, progress_bar, say

if TYPE_CHECKING:
    from ipmicra.app.tables import TableReport, TableRequest, Watch

OutputOption = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="PATH",
        help="Given a file or folder of Parquet: write it there, with more columns.",
    ),
]
ColumnOption = Annotated[
    str | None,
    typer.Option("--column", metavar="NAME", help="With -o, the column to read. [default: guessed by name]"),
]
PrefixOption = Annotated[
    str, typer.Option("--prefix", metavar="TEXT", help="With -o, what the names of new columns begin with.")
]


def write_table(
    request: TableRequest, work: Callable[[TableRequest, Watch], TableReport], print_format: Format
) -> None:
    """Let a table be written, show how far it is, and print what became of it."""
    with progress_bar() as show:
        report = work(request, lambda done, total: show(f"{request.source}", done, total))
    if report.is_guessed:
        say(f"reading column {report.column}: --column names another")
    if report.missing:
        say(f"{report.missing:,} of {report.rows:,} rows say nothing that can be looked up: null")
    if report.resumed_files:
        say(f"{report.resumed_files} of {report.files} files were complete already")
    if print_format is Format.TABLE:
        size = f"{report.rows:,} rows in {report.files} files, {report.size_bytes / 1e6:,.1f} MB"
        typer.echo(f"{report.output}: {size}; added {', '.join(report.added)}")
    else:
        print_object(asdict(report), print_format)


def refuse_table_options(column: str | None, prefix: str) -> None:
    """Refuse options of tables where none is written."""
    if column is not None or prefix:
        raise typer.BadParameter("--column and --prefix go with -o, which writes a table of Parquet")
