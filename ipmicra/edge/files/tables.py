"""The one reader of users' tables: CSV of any separator, JSON, JSON lines, Parquet; packed or not.

Theory of operation
-------------------
Users bring what they have: an export of a spreadsheet, the output of another command, a query result.
Everything that reads such a file (seeds, crawlers, sites, samples, worlds, links, locations) is a set of
columns and converters on top of this module, so that each form works for all of them.

A table goes through four steps:

1. *Bytes to lines* (`lines.py`): gzip, byte order marks, line ends, standard input, pipes.
2. *Form*. The content decides, never the file's name: `PAR1` is Parquet, `[` is a JSON array, `{` is JSON
   lines if the first line is a whole object and one JSON document otherwise, everything else is CSV. The
   first `LOOKED_AT` lines choose the separator.
3. *Rows*: `Table.rows`, cells by position, for readers that find out themselves which column is which; or
   `read_records`, texts by column name, for the others. A header is the first CSV row that names a column
   the reader asks for; readers whose columns have a usual order accept files without one.
4. *Fields* (`fields.py`): texts to addresses, numbers, places.

Invariants:

- A cell is text without surrounding blanks, whatever the form; missing and null are the empty text. Numbers
  of JSON and Parquet are written out and read again: slower, but a latitude means the same in every form.
- Bad rows become findings with their line; only a file that is unusable as a whole raises `InputError`, and
  no other exception leaves this module, whatever bytes a file has.
- Cells are data: a formula of a spreadsheet is a text. Cells that our own CSV escapes mean what was escaped.
- One pass, bounded memory: rows are handed over as they are read. Exceptions are JSON documents, which are
  parsed as a whole, and Parquet from a pipe, which has its directory at the end.

Why not `csv.Sniffer` and pandas? The sniffer guesses separators from letter frequencies and takes `e` for
one in a list of host names. pandas would be the largest dependency of the package, reads a column of
addresses as numbers where it can, and does not say which line was at fault.
"""

from __future__ import annotations

import gzip
import io
import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ipmicra.edge.files.blocks import LineTap
from ipmicra.edge.files.cells import WHOLE_LINE, Row, is_empty, rows_in, separator_of, separator_of_list
from ipmicra.edge.files.lines import (
    LONGEST_LINE,
    PLAIN_ENCODING,
    Line,
    Note,
    decoded,
    guarded,
    ignore,
    name_of,
    numbered,
    open_bytes,
    translated,
)
from ipmicra.errors import InputError, MissingExtraError
from ipmicra.model.foreign_text import from_csv_cell

LOOKED_AT = 50
"""Rows by which separator and columns are recognised."""
_PARQUET = b"PAR1"
_BRACKETED = re.compile(r"\[[0-9a-fA-F:.]+(%\w+)?\]")

Record = dict[str, str]
"""Texts by column name, in lower case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of a file; good for one reading."""

    name: str
    """The file in words."""
    names: tuple[str, ...] | None
    """Of the columns, where the form has them (JSON, Parquet); None for CSV, whose first row may."""
    rows: Iterator[Row]
    separator: str = ","
    """Of the cells; a blank stands for any white space."""
    unit: str = "line"
    """What the numbers of rows count."""
    objects: Iterator[tuple[int, Any]] | None = None
    """Of JSON: its values as they are. They and the rows are two views of the same reading."""
    tap: LineTap | None = None
    """Of a plain list: where its lines come from, so that a reader in a hurry can take the rest as bytes."""

    def where(self, number: int) -> str:
        """Say where a row stands."""
        return f"{self.name}, {self.unit} {number}"


@contextmanager
def open_table(
    path: Path, note: Note = ignore, *, within: Sequence[str] = (), is_list: bool = False
) -> Iterator[Table]:
    """Open a table; `-` is standard input. Comments (`#`) and empty lines are no rows.

    Args:
        path: The file, or a pipe.
        note: Takes findings.
        within: Keys under which a JSON document may keep its list.
        is_list: Whether most such files are plain lists: lines are cut only where nearly all of them agree.

    Raises:
        InputError: It cannot be read at all; reading its rows may raise it too.
    """
    name = name_of(path)
    with open_bytes(path) as stream:
        with translated(name):
            is_parquet = stream.peek(len(_PARQUET)).startswith(_PARQUET)
        if is_parquet:
            yield _parquet(stream, name)
            return
        tap = LineTap(stream) if is_list else None
        with decoded(tap or stream, name) as text:
            with translated(name):
                table = _from_text(text, name, note, within, is_list=is_list)
            is_plain = table.separator == WHOLE_LINE and text.encoding == PLAIN_ENCODING
            yield replace(table, tap=tap) if is_plain else table


def read_records(
    path: Path,
    needed: Sequence[str],
    note: Note = ignore,
    *,
    order: Sequence[str] = (),
    within: Sequence[str] = (),
    aliases: Mapping[str, str] | None = None,
) -> Iterator[tuple[str, Record]]:
    """Read the rows of a table by column name, each with where it stands; short rows are filled up.

    Args:
        path: The file, or a pipe.
        needed: Columns without which the file is of no use.
        note: Takes findings.
        order: The columns of a file without a header; empty if there must be one.
        within: Keys under which a JSON document may keep its list.
        aliases: Other names of columns, where a file does not have the usual one.

    Raises:
        InputError: It cannot be read, or a column is missing.
    """
    with open_table(path, note, within=within) as table:
        if table.objects is not None:
            names = _renamed([name.strip().lower() for name in table.names or ()], aliases)
            _check_columns(table, names, needed)
            for where, record in _by_key(table, table.objects, note):
                yield where, dict(zip(_renamed(list(record), aliases), record.values(), strict=True))
            return
        names, rows = _header(table, needed, order)
        names = _renamed(names, aliases)
        _check_columns(table, names, needed)
        for number, cells in rows:
            if len(cells) > len(names):
                note(f"{table.where(number)}: more cells than the header")
            yield (
                table.where(number),
                dict(zip(names, cells + [""] * (len(names) - len(cells)), strict=False)),
            )


def _renamed(names: list[str], aliases: Mapping[str, str] | None) -> list[str]:
    """Rename columns to their usual names, unless a file has a column of that name too."""
    if not aliases:
        return names
    return [usual if (usual := aliases.get(name, name)) not in names else name for name in names]


def _header(table: Table, needed: Sequence[str], order: Sequence[str]) -> tuple[list[str], Iterator[Row]]:
    """Return the columns' names, and the rows that follow them."""
    if table.names is not None:
        return [name.strip().lower() for name in table.names], table.rows
    first = next(table.rows, (1, []))
    names = [cell.lower() for cell in first[1]]
    if order and not set(names) & set(needed):
        return list(order), itertools.chain([first] if first[1] else [], table.rows)
    return names, table.rows


def _check_columns(table: Table, names: Sequence[str], needed: Sequence[str]) -> None:
    missing = sorted(set(needed) - set(names))
    if missing:
        raise InputError(
            f"{table.name}: the first line lacks the columns {', '.join(missing)}: "
            f"it must name the columns {', '.join(needed)}"
        )


def _by_key(table: Table, objects: Iterator[tuple[int, Any]], note: Note) -> Iterator[tuple[str, Record]]:
    for number, one in objects:
        if isinstance(one, Mapping):
            yield table.where(number), {str(key).strip().lower(): _text(cell) for key, cell in one.items()}
        else:
            note(f"{table.where(number)}: no object")


# --- text


def _from_text(
    text: io.TextIOWrapper, name: str, note: Note, within: Sequence[str], *, is_list: bool
) -> Table:
    """Recognise the form by the first line that says anything."""
    lead: list[str] = []
    for line in iter(lambda: text.readline(LONGEST_LINE), ""):
        lead.append(line)
        if not is_empty(line):
            break
    start = lead[-1].lstrip() if lead else ""
    if start.startswith("[") and not (is_list and _BRACKETED.match(start)):
        return _from_objects(enumerate(_json("".join(lead) + text.read(), name, within), 1), name, "record")
    if start.startswith("{"):
        if isinstance(_json_of(lead[-1]), dict) and not within:
            return _from_objects(_json_lines(numbered(lead, text, name, note)), name, "line")
        return _from_document("".join(lead) + text.read(), name, note, within)
    return _from_csv(numbered(lead, text, name, note), name, is_list=is_list)


def _from_csv(lines: Iterator[Line], name: str, *, is_list: bool) -> Table:
    first = list(itertools.islice(lines, LOOKED_AT))
    telling = [line for _, line in first if not is_empty(line)]
    # One odd line of a list is that line's fault; a table with zero bytes is another kind of file.
    if sum("\0" in line for line in telling) > (len(telling) / 2 if is_list else 0):
        raise InputError(f"{name} is neither CSV, JSON lines nor JSON: there are zero bytes in it")
    separator = separator_of_list(telling) if is_list else separator_of(telling)
    rows = guarded(_cut(itertools.chain(first, lines), separator), name)
    return Table(name=name, names=None, rows=rows, separator=separator)


def _cut(lines: Iterator[Line], separator: str) -> Iterator[Row]:
    return ((number, [from_csv_cell(cell) for cell in cells]) for number, cells in rows_in(lines, separator))


def rows_of_list(text: io.TextIOBase, name: str) -> Iterator[Row]:
    """Cut a text of a plain list as the list itself; the lines are numbered anew."""
    return guarded(_cut(numbered((), text, name, ignore), WHOLE_LINE), name)


# --- JSON


def _json(text: str, name: str, within: Sequence[str]) -> list[Any]:
    """Parse a document that is a list of records, one record, or an object with such a list."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name} is no JSON: {error}") from error
    if isinstance(content, dict):
        content = next((content[key] for key in within if isinstance(content.get(key), list)), [content])
    return list(content)


def _json_of(line: str) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _json_lines(lines: Iterable[Line]) -> Iterator[tuple[int, Any]]:
    return ((number, _json_of(line)) for number, line in lines if not is_empty(line))


def _from_document(text: str, name: str, note: Note, within: Sequence[str]) -> Table:
    """Read one object over several lines; if it is none, JSON lines of which the first is broken."""
    try:
        return _from_objects(enumerate(_json(text, name, within), 1), name, "record")
    except InputError:
        if "\n" not in text.strip():
            raise
    return _from_objects(_json_lines(numbered((), io.StringIO(text), name, note)), name, "line")


def _from_objects(objects: Iterator[tuple[int, Any]], name: str, unit: str) -> Table:
    """Make rows of objects, or of lists; what is neither object, list nor value has no cells."""
    guarded_objects = guarded(objects, name)
    first = list(itertools.islice(guarded_objects, LOOKED_AT))
    names = tuple(dict.fromkeys(str(key) for _, one in first if isinstance(one, dict) for key in one))
    both = itertools.chain(first, guarded_objects)
    rows = ((number, _cells_of(one, names)) for number, one in both)
    return Table(name=name, names=names or None, rows=rows, unit=unit, objects=both)


def _cells_of(one: object, names: tuple[str, ...]) -> list[str]:
    if isinstance(one, dict):
        return [_text(one.get(key)) for key in names]
    if isinstance(one, list):
        return [_text(cell) for cell in one]
    return [] if one is None or names else [_text(one)]


def _text(value: object) -> str:
    """Write a value as text; what is nested stays JSON, as in our own CSV."""
    if value is None:
        return ""
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else str(value).strip()
    # Half of a surrogate pair can be written in JSON, but neither printed nor stored.
    return text.encode("utf-8", "replace").decode("utf-8")


# --- Parquet


def _parquet(stream: io.BufferedReader, name: str) -> Table:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError as error:
        raise MissingExtraError("Parquet", "pyarrow") from error
    with translated(name):
        # A decompressor claims to be seekable even if the pipe below it is not.
        is_packed = isinstance(stream, gzip.GzipFile)
        source = stream if stream.seekable() and not is_packed else io.BytesIO(stream.read())

    def rows() -> Iterator[Row]:
        numbers = itertools.count(1)
        try:
            for batch in file.iter_batches():
                for cells in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                    yield next(numbers), [_text(cell) for cell in cells]
        except ArrowException as error:
            raise InputError(f"{name} cannot be read as Parquet: {error}") from error

    try:
        file = parquet.ParquetFile(source)
    except (ArrowException, OSError) as error:
        raise InputError(f"{name} cannot be read as Parquet: {error}") from error
    return Table(name=name, names=tuple(file.schema_arrow.names), rows=guarded(rows(), name), unit="row")
