"""Tables that users hand in, read row by row: CSV of any separator, JSON lines, JSON, Parquet; gzip or plain.

The content tells the form, so that a file's name does not matter; Parquet alone is known by its name.
"""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import json
import sys
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from ipmicra.errors import InputError

LOOKED_AT = 50
"""Rows from which separator and columns are told."""
SEPARATORS = ",;\t|"
_GZIP = b"\x1f\x8b"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_DAMAGE = (EOFError, zlib.error, gzip.BadGzipFile)

Row = tuple[int, list[str]]
"""Line, counted from 1, and cells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of a file; good for one reading."""

    name: str
    """The file in words."""
    names: tuple[str, ...] | None
    """Of the columns where the form tells them (JSON, Parquet); None for CSV, whose first row may."""
    rows: Iterator[Row]
    separator: str = ","
    """Of the cells; a blank stands for any white space."""


@contextmanager
def open_table(path: Path) -> Iterator[Table]:
    """Open a table; `-` is standard input. Comments (`#`) and empty lines are no rows."""
    name = "standard input" if str(path) == "-" else str(path)
    try:
        if path.suffix.lower() in {".parquet", ".pq"}:
            yield _parquet(path, name)
            return
        with _opened(path) as raw:
            yield _table(_lines(raw), name)
    except FileNotFoundError as error:
        raise InputError(f"there is no file {name}") from error
    except (IsADirectoryError, PermissionError) as error:
        raise InputError(f"{name} cannot be read: {error.strerror}") from error
    except _DAMAGE as error:
        raise InputError(f"{name} is cut or damaged: {error}") from error
    except csv.Error as error:
        raise InputError(f"{name} is no CSV: {error}") from error


def read_records(path: Path, needed: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Give the rows of a table with named columns, each with its line; short rows are filled up.

    Raises:
        InputError: It cannot be read, or a column is missing.
    """
    with open_table(path) as table:
        header = table.names if table.names is not None else tuple(next(table.rows, (1, []))[1])
        names = [name.strip().lower() for name in header]
        missing = [name for name in needed if name not in names]
        if missing:
            lacking, all_of_them = ", ".join(sorted(missing)), ", ".join(needed)
            message = f"the first line lacks the columns {lacking}: it must name the columns {all_of_them}"
            raise InputError(f"{table.name}: {message}")
        for line, cells in table.rows:
            yield line, dict(zip(names, cells + [""] * (len(names) - len(cells)), strict=False))


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    if str(path) == "-":
        yield sys.stdin.buffer
        return
    with path.open("rb") as file:
        yield file


def _lines(raw: IO[bytes]) -> Iterator[str]:
    """Give the lines of a stream, unpacked and decoded; odd bytes are replaced."""
    start = raw.read(2)
    stream: io.BufferedReader | gzip.GzipFile = io.BufferedReader(_Rejoined(start, raw), 1 << 16)
    if start == _GZIP:
        unpacked = gzip.GzipFile(fileobj=stream)
        start, stream = unpacked.peek(2)[:2], unpacked
    encoding = "utf-16" if start in _UTF16 else "utf-8-sig"
    return iter(io.TextIOWrapper(stream, encoding, errors="replace", newline=None))


class _Rejoined(io.RawIOBase):
    """A stream whose first bytes were read already: standard input cannot be wound back."""

    def __init__(self, start: bytes, rest: IO[bytes]) -> None:
        self._start, self._rest = start, rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - any buffer
        data = self._start or self._rest.read(len(buffer))
        given, self._start = data[: len(buffer)], self._start[len(buffer) :]
        buffer[: len(given)] = given
        return len(given)


def _table(lines: Iterator[str], name: str) -> Table:
    """Tell the form by the first line that says anything."""
    numbered = ((number, line) for number, line in enumerate(lines, 1) if not _is_empty(line))
    first = list(itertools.islice(numbered, LOOKED_AT))
    if any("\0" in line for _, line in first):
        raise InputError(f"{name} is neither CSV, JSON lines nor JSON: there are zero bytes in it")
    rest = itertools.chain(first, numbered)
    start = first[0][1].lstrip()[:1] if first else ""
    if start == "[":
        return _from_records(_json(rest, name), name)
    if start == "{":
        return _from_records(_json_lines(rest), name)
    separator = _separator([line for _, line in first])
    return Table(name=name, names=None, rows=_cells(rest, separator), separator=separator)


def _is_empty(line: str) -> bool:
    text = line.strip()
    return not text or text.startswith("#")


def _separator(lines: list[str]) -> str:
    """Choose the separator that parts most lines into the same number of cells, three or more."""
    best, score = " ", 0
    for separator in SEPARATORS:
        counts = Counter(line.count(separator) for line in lines)
        seen = sum(number for count, number in counts.items() if count > 1)
        usual = max((number for count, number in counts.items() if count > 1), default=0)
        if (seen + usual) > score:
            best, score = separator, seen + usual
    return best if score >= len(lines) else next((one for one in SEPARATORS if one in "".join(lines)), " ")


def _cells(numbered: Iterable[tuple[int, str]], separator: str) -> Iterator[Row]:
    """Part lines into cells. A quoted cell may not hold a line end: such a thing is no measurement."""
    for number, line in numbered:
        if separator == " ":
            yield number, line.split()
        elif '"' not in line:
            yield number, [cell.strip() for cell in line.split(separator)]
        else:
            cells = next(csv.reader([line], delimiter=separator, skipinitialspace=True))
            yield number, [cell.strip() for cell in cells]


def _json(numbered: Iterable[tuple[int, str]], name: str) -> Iterator[tuple[int, Any]]:
    try:
        content = json.loads("".join(line for _, line in numbered))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name} is no JSON: {error}") from error
    return iter(enumerate(content, 1))


def _json_lines(numbered: Iterable[tuple[int, str]]) -> Iterator[tuple[int, Any]]:
    for number, line in numbered:
        try:
            yield number, json.loads(line)
        except (ValueError, RecursionError):
            yield number, None


def _from_records(records: Iterator[tuple[int, Any]], name: str) -> Table:
    """Make rows of objects; what is no object has no cells, which its reader counts."""
    first = list(itertools.islice(records, LOOKED_AT))
    names = tuple(dict.fromkeys(key for _, one in first if isinstance(one, dict) for key in one))
    rows = (
        (number, [_text(one.get(key)) for key in names] if isinstance(one, dict) else [])
        for number, one in itertools.chain(first, records)
    )
    return Table(name=name, names=names, rows=rows)


def _text(value: object) -> str:
    return "" if value is None else str(value).strip()


def _parquet(path: Path, name: str) -> Table:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError as error:
        raise InputError("Parquet needs pyarrow: pip install 'ipmicra[columnar]'") from error
    try:
        table = parquet.read_table(path)
    except ArrowException as error:
        raise InputError(f"{name} cannot be read as Parquet: {error}") from error
    return _from_records(iter(enumerate(table.to_pylist(), 1)), name)
