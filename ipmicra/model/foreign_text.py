r"""Write untrusted text so that it harms neither a terminal nor a spreadsheet.

Theory of operation
-------------------
Names in dumps, DNS answers and details of agents are untrusted. Printed unchanged, an
escape sequence rewrites the terminal, a line end forges a row, and a cell that starts with `=` becomes a
formula of the spreadsheet that opens the file. Every output therefore goes through one of three functions:

- `printable`, for people: a character that cannot be printed becomes �.
- `json_text`, for programs: such a character is escaped as JSON does it. `json.dumps` escapes the first 32
  only, but terminals also obey U+009B, and U+202E turns the text after it around.
- `csv_line`, for programs and spreadsheets: a text that is not plain gets an apostrophe in front, which makes
  it a text for every spreadsheet, and backslash escapes for what cannot be printed.

`from_csv_cell` reverses a cell exactly. Files of other origin may contain apostrophes and backslashes that
mean themselves, so a cell is only unescaped if escaping the result gives the same cell: `'tis` and `C:\new`
stay what they are. Numbers are never escaped: -1.5 is no formula.

Blanks around a text and a leading `#` would be lost to our own reader, which strips cells and skips
comments; such texts are escaped too. Cells with any separator that the reader knows are quoted, so that no
name can make it choose another separator.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence

SUBSTITUTE = "\N{REPLACEMENT CHARACTER}"
MARK = "'"
"""First character of an escaped cell."""
_ODD_STARTS = frozenset(
    f"{MARK}=+-@# \N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}"
    "\N{FULLWIDTH HYPHEN-MINUS}\N{FULLWIDTH COMMERCIAL AT}"
)
_NUMBERS = re.compile(r"[-+]?[0-9.]*([ ,]+[-+]?[0-9.]+)*")
"""A number, or several such as coordinates; a spreadsheet has nothing to calculate there."""
_QUOTED = re.compile(r'[",;|]')
_ESCAPE = re.compile(r"\\(?:(\\)|x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8}))")
_PLAIN = re.compile(r"[\n -~]*")


def printable(value: object) -> str:
    """Return a value as text that a terminal shows and does not obey."""
    text = "" if value is None else str(value)
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else SUBSTITUTE for letter in text)


def json_text(value: object, indent: int | None = None) -> str:
    """Return a value as JSON, with every character escaped that cannot be printed."""
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    if _PLAIN.fullmatch(text):
        return text
    return "".join(
        letter if letter.isprintable() or letter == "\n" else json.dumps(letter)[1:-1] for letter in text
    )


def csv_line(values: Iterable[object]) -> str:
    """Return values as a line of CSV; what is nested becomes JSON."""
    cells = [_cell(value) for value in values]
    if cells == [""]:
        return '""\n'  # an empty line would be no row
    return ",".join(cells) + "\n"


def csv_text(columns: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table as CSV."""
    return "".join(csv_line(row) for row in (columns, *rows))


def from_csv_cell(cell: str) -> str:
    """Return the text that a cell stands for."""
    if not cell.startswith(MARK):
        return cell
    text = _ESCAPE.sub(_unescape, cell[1:])
    return text if _escape(text) == cell else cell


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool | int | float):
        return str(value)
    text = _escape(json_text(value) if isinstance(value, Mapping | list) else str(value))
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


def _escape(text: str) -> str:
    """Return a text as it is, or marked and escaped if it is not plain."""
    is_plain = text.isprintable() and text[:1] not in _ODD_STARTS and text[-1:] != " "
    if is_plain or (text[:1] in "+-" and text[-1:] != " " and _NUMBERS.fullmatch(text)):
        return text
    escaped = "".join(_escape_letter(letter) for letter in text)
    return MARK + (escaped[:-1] + r"\x20" if escaped.endswith(" ") else escaped)


def _escape_letter(letter: str) -> str:
    if letter == "\\":
        return r"\\"
    if letter.isprintable():
        return letter
    code = ord(letter)
    if code <= 0xFF:  # noqa: PLR2004 - what two digits hold
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004 - four digits


def _unescape(found: re.Match[str]) -> str:
    digits = found[2] or found[3] or found[4]
    code = int(digits, 16) if digits else ord("\\")
    return chr(code) if code < 0x110000 else found[0]  # noqa: PLR2004 - the last of Unicode
