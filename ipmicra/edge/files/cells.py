"""Lines of text into cells: which separator a file has, and where it cuts."""

from __future__ import annotations

import csv
import itertools
import re
from collections import Counter
from collections.abc import Iterator

from ipmicra.edge.files.lines import LONGEST_LINE, Line

SEPARATORS = ",;\t|"
WHITE_SPACE = " "
WHOLE_LINE = ""
"""Stands for no separator: the line is one cell."""
LONGEST_CELL = 1000
"""Lines that a quoted cell may have; a quote that is not closed within them is an ordinary character."""
LIST_SHARE = 0.8
"""Share of a list's lines that must have the same number of cells before it is taken for a table."""
_QUOTED = re.compile(r'"[^"]*"')

Row = tuple[int, list[str]]
"""Number of the line, counted from 1, and cells."""


def is_empty(line: str) -> bool:
    """Return whether a line is blank or a comment."""
    text = line.strip()
    return not text or text.startswith("#")


def separator_of(lines: list[str]) -> str:
    """Choose the separator that cuts most lines into the same number of cells, three or more."""
    plain = [_QUOTED.sub("", line) for line in lines]
    best, score = WHITE_SPACE, 0
    for separator in SEPARATORS:
        counts = Counter(line.count(separator) for line in plain)
        seen = sum(number for count, number in counts.items() if count > 1)
        usual = max((number for count, number in counts.items() if count > 1), default=0)
        if (seen + usual) > score:
            best, score = separator, seen + usual
    if score >= len(lines):
        return best
    return next((one for one in SEPARATORS if one in "".join(plain)), WHITE_SPACE)


def separator_of_list(lines: list[str]) -> str:
    """Choose the separator that cuts nearly all lines alike: entries of a list may hold any of them."""
    plain = [_QUOTED.sub("", line) for line in lines]
    for separator in SEPARATORS:
        count, number = (
            Counter(line.count(separator) for line in plain).most_common(1)[0] if plain else (0, 0)
        )
        if count and number >= LIST_SHARE * len(plain):
            return separator
    return WHOLE_LINE


def rows_in(lines: Iterator[Line], separator: str) -> Iterator[Row]:
    """Cut lines into cells; a quoted cell may continue on the next lines."""
    held: list[Line] = []
    while True:
        number, line = held.pop(0) if held else next(lines, (0, ""))
        if not number:
            return
        if is_empty(line):
            continue
        if separator == WHOLE_LINE:
            yield number, [line.strip().strip('"')]
        elif separator == WHITE_SPACE:
            yield number, line.split()
        elif '"' not in line:
            yield number, [cell.strip() for cell in line.split(separator)]
        else:
            cells, held = _quoted(line, itertools.chain(held, lines), separator)
            yield number, cells


def _quoted(line: str, lines: Iterator[Line], separator: str) -> tuple[list[str], list[Line]]:
    """Cut a line with quotes, and those after it that belong to it; return lines that turned out not to."""
    taken: list[Line] = []
    whole = line
    while True:
        try:
            cells = next(csv.reader([whole], delimiter=separator, skipinitialspace=True, strict=True))
            return [cell.strip() for cell in cells], []
        except csv.Error as error:
            following = next(lines, None) if "unexpected end" in str(error) else None
        if following is not None:
            taken.append(following)
            whole += following[1]
        if following is None or len(taken) > LONGEST_CELL or len(whole) > LONGEST_LINE:
            return _loosely(line, separator), taken


def _loosely(line: str, separator: str) -> list[str]:
    """Cut a line whose quotes make no sense."""
    try:
        cells = next(csv.reader([line], delimiter=separator, skipinitialspace=True))
    except csv.Error:
        cells = line.split(separator)
    return [cell.strip() for cell in cells]
