"""Printing: tables for people, JSON and CSV for programs. Data goes to stdout, everything else to stderr.

How records are printed
-----------------------
A command hands over plain dictionaries; the format decides how they look. There are two ways:

- `print_records` and `print_rows` have all records at once. A CSV has the union of their keys, a table
  measures its columns first.
- `RecordStream` prints each record when it arrives, because a list of seeds may take hours: whoever reads
  the pipe can work on the first answers, and after a crash what was printed is still valid. Hence its columns
  are fixed beforehand and its table has fixed widths. JSON is one array, closed even when the command is
  interrupted, so that a cut-off run can still be parsed. Parquet goes out in groups of rows, so that memory
  stays constant; its index is at the end of the file, so a run that is cut off leaves no table. The first
  group decides the types of all; where all records are known, all of them do.

Text from dumps, agents and the DNS is untrusted. No format passes on their control characters or
formulas (`model.foreign_text`), and none is read as rich's markup.

Messages and progress go to standard error. Progress bars are drawn only if that is a terminal; rich, which
draws them and takes a tenth of a second to load, is loaded only then.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from textwrap import wrap
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self

import typer

from ipmicra.app.log import log_as_json
from ipmicra.cli.options import Format
from ipmicra.cli.parquet import ParquetStream
from ipmicra.cli.table_columns import fitting_columns, shortened, streamed_columns
from ipmicra.model.foreign_text import csv_line, csv_text, json_text, printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

WIDE = 400
"""Columns of a table that goes into a file or pipe."""
DONE_IN_PART = 3
"""Exit code when something is missing; stderr says what."""

Record = dict[str, Any]


def rounded(value: object, digits: int = 1) -> object:
    """Round a float for a table; anything else stays as it is."""
    return f"{value:.{digits}f}" if isinstance(value, float) else value


def print_records(records: Sequence[Record], print_format: Format) -> None:
    """Print records as JSON, JSON lines, CSV or Parquet."""
    if print_format is Format.JSON:
        typer.echo(json_text(records, indent=2))
    elif print_format is Format.JSONL:
        for record in records:
            typer.echo(json_text(record))
    elif print_format is Format.CSV:
        columns = list(dict.fromkeys(key for record in records for key in record))
        typer.echo(csv_text(columns, ([record.get(key) for key in columns] for record in records)), nl=False)
    elif print_format is Format.PARQUET:
        _print_parquet(records)


def print_object(record: Record, print_format: Format) -> None:
    """Print one record: as itself in JSON, as a table of one row elsewhere."""
    if print_format is Format.JSON:
        typer.echo(json_text(record, indent=2))
    else:
        print_records([record], print_format)


def print_rows(
    records: Sequence[Record],
    columns: Sequence[str],
    print_format: Format,
    *,
    title: str = "",
    cell: Callable[[Any], object] = rounded,
    spared: Sequence[str] = (),
) -> None:
    """Print records in any format; a table has some of their columns, with cells for people."""
    if print_format is Format.TABLE:
        rows = [[cell(record.get(name)) for name in columns] for record in records]
        print_table(title, columns, rows, spared)
    else:
        print_records(records, print_format)


def print_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], spared: Sequence[str] = ()
) -> None:
    """Print a table with a line per row; numbers are aligned to the right.

    `spared` are the columns that a narrow terminal can do without, the least important first.
    """
    from rich.markup import escape
    from rich.table import Table
    from rich.text import Text

    shown = console()
    fitted = fitting_columns(columns, list(rows), shown.width, spared)
    table = Table(title=escape(printable(title)) or None, title_justify="left", box=None, pad_edge=False)
    for column in fitted:
        justify: Literal["left", "right"] = "right" if column.is_number else "left"
        table.add_column(Text(column.heading), justify=justify, no_wrap=True)
    for row in zip(*(column.cells for column in fitted), strict=True):
        table.add_row(*map(Text, row))
    shown.print(table)


def console() -> Console:
    """Make the console for data; without a terminal it neither colours nor wraps."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else WIDE, highlight=False)


def say(message: str) -> None:
    """Print a message for the user, beside the data; a terminal gets it in lines without broken words."""
    text = printable(message)
    if log_as_json(text):
        return
    # Lines that begin with a blank are commands to copy: they stay in one piece.
    if is_watched() and not text.startswith(" "):
        width = shutil.get_terminal_size().columns
        text = "\n".join(wrap(text, width, break_long_words=False, break_on_hyphens=False))
    typer.echo(text, err=True)


def say_some(messages: Sequence[str], most: int, rest: str) -> None:
    """Print the first messages, then how many there are beyond: `rest` says of what kind."""
    for message in messages[:most]:
        say(message)
    if len(messages) > most:
        say(f"… and {len(messages) - most} more {rest}")


class RecordStream:
    """Prints records of the same columns as they arrive; use as a context.

    The head is printed with the first record, or at the end if there is none: a command that fails before
    it has anything to print leaves standard output empty.
    """

    def __init__(
        self,
        columns: Sequence[str],
        widths: Sequence[int],
        print_format: Format,
        spared: Sequence[str] = (),
    ) -> None:
        """Set columns and, for tables, their widths and those that a narrow terminal can do without."""
        self._columns, self._widths, self._format = list(columns), list(widths), print_format
        self._is_fitted = print_format is Format.TABLE and sys.stdout.isatty()
        if self._is_fitted:
            fitted = streamed_columns(dict(zip(columns, widths, strict=True)), spared, console().width)
            self._columns, self._widths = list(fitted), list(fitted.values())
        self._count = 0
        self._has_head = False
        self._parquet: ParquetStream | None = None

    def __enter__(self) -> Self:
        """Refuse Parquet immediately where it cannot be written."""
        if self._format is Format.PARQUET:
            self._parquet = ParquetStream()
        return self

    def _print_head(self) -> None:
        if self._has_head:
            return
        self._has_head = True
        if self._format is Format.CSV:
            sys.stdout.write(csv_line(self._columns))
        elif self._format is Format.TABLE:
            self._print_line(self._columns)
        elif self._format is Format.JSON:
            sys.stdout.write("[")

    def add_json(self, text: str) -> None:
        """Print a record of a nested format that is JSON already, and flush it immediately."""
        self._print_head()
        if self._format is Format.JSON:
            sys.stdout.write(f"{',' if self._count else ''}\n  {text}")
        else:
            sys.stdout.write(f"{text}\n")
            sys.stdout.flush()
        self._count += 1

    def add_lines(self, lines: memoryview, count: int, numbers: frozenset[str]) -> None:
        """Print records that are rendered already, and flush them immediately.

        They are lines of CSV, or of JSON for the nested formats; `numbers` are the columns of whole numbers.
        """
        self._print_head()
        if self._parquet is not None:
            self._parquet.add_csv(lines, count, self._columns, numbers)
        elif self._format is Format.JSON:
            sys.stdout.write(",\n  " if self._count else "\n  ")
            sys.stdout.write(str(lines[:-1], "utf-8").replace("\n", ",\n  "))
        else:
            sys.stdout.flush()
            sys.stdout.buffer.write(lines)
            sys.stdout.buffer.flush()
        self._count += count

    def add(self, record: Record) -> None:
        """Print a record."""
        self._print_head()
        if self._format is Format.CSV:
            sys.stdout.write(csv_line(record.get(column) for column in self._columns))
        elif self._format is Format.JSONL:
            sys.stdout.write(json_text(record) + "\n")
        elif self._format is Format.JSON:
            sys.stdout.write(f"{',' if self._count else ''}\n  {json_text(record)}")
        elif self._format is Format.TABLE:
            self._print_line([record[column] for column in self._columns])
        elif self._parquet is not None:
            self._parquet.add(record)
        self._count += 1

    def flush(self) -> None:
        """Flush what was printed to its reader."""
        sys.stdout.flush()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Print the end, after an error too, so that what was printed can be parsed."""
        if kind is None:
            self._print_head()
        if self._format is Format.JSON and self._has_head:
            sys.stdout.write("\n]\n" if self._count else "]\n")
        elif self._parquet is not None and kind is None:
            self._parquet.finish()
        sys.stdout.flush()

    def _print_line(self, values: Sequence[object]) -> None:
        cells = [printable(rounded(value)) for value in values]
        if self._is_fitted:
            cells[0] = shortened(cells[0], self._widths[0])
        padded = [cell.ljust(width) for cell, width in zip(cells, self._widths, strict=True)]
        sys.stdout.write("  ".join(padded).rstrip() + "\n")


def _print_parquet(records: Sequence[Record]) -> None:
    ParquetStream().write_all(records)


# --- progress


class Show(Protocol):
    """Moves a bar; the first call for a `key` draws it."""

    def __call__(self, text: str, done: float, total: float | None, *, key: str = "") -> None:
        """Show a text and how much is done; a total of None is not known yet."""


@contextmanager
def progress_bar(*, is_bytes: bool = False, stays: bool = False) -> Iterator[Show]:
    """Provide the call that moves bars, one for each `key`; they disappear at the end unless `stays`.

    Nothing is drawn before the first call, so that a command may print messages before its long part.
    """
    if not is_watched():
        yield _show_nothing
        return
    bars = _make_bars(is_bytes=is_bytes, stays=stays)
    tasks: dict[str, TaskID] = {}

    def show(text: str, done: float, total: float | None, *, key: str = "") -> None:
        if not tasks:
            bars.start()
        if key not in tasks:
            tasks[key] = bars.add_task("", total=total)
        bars.update(tasks[key], description=printable(text), completed=done, total=total)

    try:
        yield show
    finally:
        if tasks:
            bars.stop()


def show_message(message: str) -> None:
    """Report a stage of a long simulation, if standard error is a terminal."""
    if is_watched():
        say(message)


def is_watched() -> bool:
    """Return whether progress is shown to anybody."""
    return sys.stderr.isatty()


def _show_nothing(text: str, done: float, total: float | None, *, key: str = "") -> None:
    pass


def _make_bars(*, is_bytes: bool, stays: bool) -> Progress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    counts = (DownloadColumn(), TransferSpeedColumn()) if is_bytes else (MofNCompleteColumn(),)
    # Names of dumps and hosts may contain brackets, which must not be read as markup.
    text = TextColumn("{task.description}", markup=False)
    return Progress(
        text, BarColumn(), *counts, TimeRemainingColumn(), console=Console(stderr=True), transient=not stays
    )
