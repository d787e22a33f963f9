"""Columns of a table that has to fit a terminal.

A row takes one line, whatever the width. A table that is too wide loses what can be spared, in this order:

1. columns without any value, and the width of headings that are broken at underscores and blanks;
2. the ends of long texts, down to `LONG` characters;
3. columns: those that the command can spare, then the last ones, but never the first two;
4. the ends of all texts, down to `SHORT` characters.

Numbers are never shortened. Texts with blanks lose whole words, others their middle, because hosts and files
differ at both ends; `…` marks what is missing. Into files and pipes, where there is room, everything is
printed.

A table that is printed row by row (`streamed_columns`) knows its rows too late: it loses the columns that its
command can spare, then width of the first column, whose longer texts are shortened in the middle.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ipmicra.model.foreign_text import printable

BETWEEN = 2
"""Blanks between two columns."""
SHORTEST = 16
"""Least width of the first column of a table that is printed row by row."""
LONG, SHORT = 24, 8
"""Characters of a text that stay before columns are left out, and at least."""
KEPT = 2
"""Columns that are never left out: what a row is about, and what is said of it."""
_NUMBER = re.compile(r"[+-]?\d+(,\d{3})*(\.\d+)?(e[+-]\d+)?( %)?( ?± ?[\d.,]+( %)?)?")
_NOTHING = ("", "–")


@dataclass(frozen=True, slots=True, kw_only=True)
class TableColumn:
    """A column of a table, as texts."""

    name: str
    """The heading as the command wrote it."""
    heading: str
    cells: list[str]
    is_number: bool
    """Whether it has numbers and nothing else, also with a percent sign."""

    @property
    def has_values(self) -> bool:
        """Whether any cell says something."""
        return any(cell not in _NOTHING for cell in self.cells)

    @property
    def width_of_cells(self) -> int:
        """Characters of the widest cell."""
        return max(map(_width, self.cells), default=0)

    @property
    def width(self) -> int:
        """Characters of the widest cell or line of the heading."""
        return max(self.width_of_cells, _width(self.heading))

    def narrowed(self) -> TableColumn:
        """Break the heading if it is wider than what is below it."""
        if _width(self.heading) <= self.width_of_cells:
            return self
        return replace(self, heading=re.sub(r"_|/| ", lambda at: at[0].strip() + "\n", self.heading))

    def cut(self, width: int) -> TableColumn:
        """Shorten texts that are wider; numbers and headings stay as they are."""
        if self.is_number:
            return self
        return replace(self, cells=[_shortened_cell(cell, width) for cell in self.cells])


def fitting_columns(
    headings: Sequence[str], rows: Sequence[Sequence[Any]], width: int, spared: Sequence[str] = ()
) -> list[TableColumn]:
    """Return the columns of a table that fit into `width`; `spared` are left out first, in this order."""
    columns = [_column(heading, [row[i] for row in rows]) for i, heading in enumerate(headings)]
    if _total(columns) <= width:
        return columns
    columns = [column.narrowed() for column in columns if column.has_values or not rows]
    columns = _cut_to_fit(columns, width, LONG)
    order = [*spared, *(column.name for column in reversed(columns[KEPT:]) if column.name not in spared)]
    for name in order:
        if _total(columns) > width and len(columns) > KEPT:
            columns = [column for column in columns if column.name != name]
    return _cut_to_fit(columns, width, SHORT)


def _cut_to_fit(columns: list[TableColumn], width: int, least: int) -> list[TableColumn]:
    """Shorten the widest texts until the table fits, or no text is longer than `least`."""
    columns = list(columns)
    while (over := _total(columns) - width) > 0:
        widest = max(range(len(columns)), key=lambda i: _cuttable(columns[i]))
        found = _cuttable(columns[widest])
        if found <= max(least, _width(columns[widest].heading)):
            break
        # One column gives up to half of what it has before the next widest is asked.
        columns[widest] = columns[widest].cut(max(least, found - over, found // 2))
    return columns


def _cuttable(column: TableColumn) -> int:
    return 0 if column.is_number else column.width_of_cells


def _total(columns: Sequence[TableColumn]) -> int:
    return sum(column.width + BETWEEN for column in columns) - BETWEEN


def _width(text: str) -> int:
    """Return the width of the widest line of a text in a terminal."""
    from rich.cells import cell_len

    return max(map(cell_len, text.split("\n")))


def _column(heading: str, values: Sequence[Any]) -> TableColumn:
    cells = [f"{value:,}" if _is_count(value) else printable(value) for value in values]
    filled = [cell for cell in cells if cell not in _NOTHING]
    return TableColumn(
        name=heading,
        heading="\n".join(printable(line) for line in heading.split("\n")),  # ours are broken on purpose
        cells=cells,
        is_number=bool(filled) and all(_NUMBER.fullmatch(cell) for cell in filled),
    )


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def streamed_columns(widths: Mapping[str, int], spared: Sequence[str], width: int) -> dict[str, int]:
    """Return columns with their widths for rows that are not known yet; `spared` go first, in this order.

    {"host": 32, "address": 15, "crawler": 12} in 40 columns, without a need for addresses, is
    {"host": 26, "crawler": 12}.
    """
    left = dict(widths)
    for name in spared:
        if _line_width(left) > width:
            left.pop(name, None)
    first = next(iter(left))
    left[first] = max(SHORTEST, left[first] - max(0, _line_width(left) - width))
    return left


def _line_width(widths: Mapping[str, int]) -> int:
    return sum(widths.values()) + BETWEEN * (len(widths) - 1)


def _shortened_cell(text: str, width: int) -> str:
    """Shorten a cell: texts by whole words, single words and indented ones in the middle."""
    if _width(text) <= width:
        return text
    from rich.cells import set_cell_size

    head = set_cell_size(text, width - 1)
    last = head.rfind(" ") if not text.startswith(" ") else -1
    if last > 0:
        return head[:last].rstrip(" ,;:") + "…"
    return shortened(text, width)


def shortened(text: str, width: int) -> str:
    """Return a text that fits: the middle of a longer one is left out, for hosts differ at both ends."""
    if len(text) <= width:
        return text
    head = (width - 1) // 2
    return f"{text[:head]}…{text[head + 1 - width :]}"
