"""Bytes of a user's file as numbered lines of text.

The first bytes decide: gzip is unpacked, a byte order mark chooses UTF-8 or UTF-16, everything else is read
as UTF-8. Bytes that are no UTF-8 become U+FFFD, so that one odd line does not hide the others. Files are
read once and from front to back: standard input (`-`), FIFOs and process substitution (`<(…)`) work like
regular files.
"""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TypeVar, cast

from ipmicra.edge.files.blocks import LineTap
from ipmicra.edge.hierarchy_file import shown
from ipmicra.errors import InputError

Note = Callable[[str], object]
"""Takes a finding in words; `list.append` will do."""
Item = TypeVar("Item")
Line = tuple[int, str]
"""Number, counted from 1, and text with its line end."""

STDIN = "-"
LONGEST_LINE = 1 << 20
"""Characters of a line; a longer one is skipped, so that a file without line ends cannot fill the memory."""
LONGEST_TEXT = 1 << 30
"""Characters of a file that is read as a whole; a gzip file of a megabyte can unpack to a gigabyte."""
PLAIN_ENCODING = "utf-8-sig"
"""Of all files but those in UTF-16."""
_SNIFFED = 1024
_PIECE = 1 << 16
_GZIP = b"\x1f\x8b"
_ZIP = b"PK\x03\x04"
_UTF16 = {b"\xff\xfe": "little", b"\xfe\xff": "big"}
_ASCII_SHARE = 0.25


def ignore(_finding: str) -> None:
    """Ignore a finding."""


def name_of(path: Path) -> str:
    """Return how messages name a file."""
    return "standard input" if str(path) == STDIN else shown(path)


@contextmanager
def translated(name: str) -> Iterator[None]:
    """Turn what can go wrong while a file is read into `InputError`."""
    try:
        yield
    except FileNotFoundError as error:
        raise InputError(f"there is no file {name}") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{name} is truncated or damaged: {error}") from error
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror or error}") from error
    except ValueError as error:  # a NUL in the name
        raise InputError(f"{name} cannot be read: {error}") from error


@contextmanager
def open_bytes(path: Path) -> Iterator[io.BufferedReader]:
    """Open a file, unpacked if it is gzip; `peek` shows its start.

    Raises:
        InputError: It cannot be opened.
    """
    with ExitStack() as stack:
        with translated(name_of(path)):
            raw: IO[bytes] = sys.stdin.buffer if str(path) == STDIN else stack.enter_context(path.open("rb"))
            # A stream without `peek` stands for standard input in tests and notebooks.
            stream = cast(
                "io.BufferedReader",
                raw if hasattr(raw, "peek") else io.BufferedReader(cast("io.RawIOBase", raw)),
            )
            start = stream.peek(_SNIFFED)
            if start.startswith(_GZIP):
                unpacked = stack.enter_context(gzip.GzipFile(fileobj=stream))
                stream = cast("io.BufferedReader", unpacked)  # it has all that is used of one
                start = stream.peek(_SNIFFED)
            if start.startswith(_ZIP):
                raise InputError(f"{name_of(path)} is a zip archive: unpack it first")
        yield stream


@contextmanager
def decoded(stream: io.BufferedReader | LineTap, name: str) -> Iterator[io.TextIOWrapper]:
    """Decode a stream; line ends stay as they are."""
    with translated(name):
        start = stream.peek(_SNIFFED)[:_SNIFFED]
    encoding = "utf-16" if _is_utf16(start) else PLAIN_ENCODING
    text = io.TextIOWrapper(cast("io.BufferedReader", stream), encoding, errors="replace", newline="")
    try:
        yield text
    finally:
        text.detach()  # else standard input would be closed with the wrapper


def _is_utf16(start: bytes) -> bool:
    """Return whether a mark is followed by what looks like UTF-16: ASCII in some of the 16-bit units.

    A binary file may start with the same two bytes; read as UTF-16 it would be one endless line.
    """
    order = _UTF16.get(start[:2])
    if order is None:
        return False
    units = [int.from_bytes(start[i : i + 2], order) for i in range(2, len(start) - 1, 2)]  # type: ignore[arg-type]
    return sum(0 < unit < 0x80 for unit in units) >= _ASCII_SHARE * len(units)  # noqa: PLR2004 - end of ASCII


def numbered(lead: Iterable[str], text: io.TextIOBase, where: str, note: Note) -> Iterator[Line]:
    """Number the lines of a text whose first ones were read already; too long ones become findings."""
    number = 0
    for source in (iter(lead), iter(lambda: text.readline(LONGEST_LINE), "")):
        for line in source:
            number += 1
            if len(line) >= LONGEST_LINE and not line.endswith(("\n", "\r")):
                _skip_line(text)
                note(f"{where}, line {number}: longer than {LONGEST_LINE:,} characters; skipped")
            else:
                yield number, line


def _skip_line(text: io.TextIOBase) -> None:
    while (rest := text.readline(LONGEST_LINE)) and not rest.endswith(("\n", "\r")):
        pass


@contextmanager
def open_lines(path: Path, note: Note = ignore) -> Iterator[Iterator[Line]]:
    """Open a text file as numbered lines.

    Raises:
        InputError: It cannot be opened; reading on may raise it too.
    """
    name = name_of(path)
    with open_bytes(path) as stream, decoded(stream, name) as text:
        yield guarded(numbered((), text, name, note), name)


def read_text(path: Path, most: int | None = None) -> str:
    """Read a whole text file, or its first characters up to a limit.

    Raises:
        InputError: It cannot be read, or it is a whole file that is too long.
    """
    name = name_of(path)
    with open_bytes(path) as stream, decoded(stream, name) as text, translated(name):
        content = "".join(_pieces(text, LONGEST_TEXT + 1 if most is None else most))
    if most is None and len(content) > LONGEST_TEXT:
        raise InputError(f"{name} has more than {LONGEST_TEXT:,} characters")
    return content


def _pieces(text: io.TextIOWrapper, most: int) -> Iterator[str]:
    """Read up to so many characters; asked for all at once, Python takes memory for as many bytes first."""
    while most > 0 and (piece := text.read(min(most, _PIECE))):
        yield piece
        most -= len(piece)


def guarded(items: Iterator[Item], name: str) -> Iterator[Item]:
    """Pass items on; what goes wrong while they are read becomes `InputError`.

    Only reading is guarded: an error in code that uses the items is not reported as an error of the file.
    """
    with translated(name):
        yield from items


def read_list(path: Path, note: Note = ignore) -> Iterator[tuple[int, str]]:
    """Read a list with one entry per line, each with its number; `#` starts a comment."""
    with open_lines(path, note) as lines:
        for number, line in lines:
            text = line.partition("#")[0].strip()
            if text:
                yield number, text
