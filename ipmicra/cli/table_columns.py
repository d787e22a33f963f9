"""Columns of a table that has to fit a terminal.

A table that is too wide loses what can be spared, in this order: columns without any value, then the width
of headings that are broken at their underscores. What is still too wide is wrapped when it is printed: texts
with blanks and long ones, but neither numbers nor addresses nor names, which nobody can read in two pieces.
Into files and pipes, where there is room, everything is printed.

A table that is printed row by row (`streamed_columns`) knows its rows too late: it loses the columns that its
command can spare, then width of the first column, whose longer texts are shortened in the middle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ipmicra.model.foreign_text import printable

BETWEEN = 2
"""Blanks between two columns."""
SHORTEST = 16
"""Least width of the first column of a table that is printed row by row."""
WHOLE = 20
"""Width up to which a column without blanks is never wrapped: numbers, names, addresses, prefixes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableColumn:
    """A column of a table, as texts."""

    heading: str
    cells: list[str]
    is_number: bool

    @property
    def width_of_cells(self) -> int:
        """Characters of the widest cell."""
        return max(map(len, self.cells), default=0)

    @property
    def width(self) -> int:
        """Characters of the widest cell or line of the heading."""
        return max(self.width_of_cells, *map(len, self.heading.split("\n")), 0)

    @property
    def is_whole(self) -> bool:
        """Whether it must not be wrapped."""
        return self.width <= WHOLE and not any(" " in cell for cell in self.cells)

    def narrowed(self) -> TableColumn:
        """Break the heading if it is wider than what is below it."""
        is_wider = len(self.heading) > self.width_of_cells
        return replace(self, heading=self.heading.replace("_", "_\n")) if is_wider else self


def fitting_columns(headings: Sequence[str], rows: Sequence[Sequence[Any]], width: int) -> list[TableColumn]:
    """Return the columns of a table, with what can be spared left out if it is wider than `width`."""
    columns = [_column(heading, [row[i] for row in rows]) for i, heading in enumerate(headings)]
    if sum(column.width + BETWEEN for column in columns) - BETWEEN <= width:
        return columns
    return [column.narrowed() for column in columns if column.width_of_cells or not rows]


def _column(heading: str, values: Sequence[Any]) -> TableColumn:
    return TableColumn(
        heading="\n".join(printable(line) for line in heading.split("\n")),  # ours are broken on purpose
        cells=[f"{value:,}" if isinstance(value, int) else printable(value) for value in values],
        is_number=bool(values) and all(isinstance(value, int | float) for value in values),
    )


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


def shortened(text: str, width: int) -> str:
    """Return a text that fits: the middle of a longer one is left out, for hosts differ at both ends."""
    if len(text) <= width:
        return text
    head = (width - 1) // 2
    return f"{text[:head]}…{text[head + 1 - width :]}"
