"""Parse IANA's address space tables, the top level of every hierarchy."""

from __future__ import annotations

import csv
import io
import re

from ipmicra.model.finding import Reason
from ipmicra.native import kernels

_CELLS = (("Prefix", "IPv6 Prefix"), ("Designation", "Allocation"), ("Status",), ("Date",))
"""Titles of the cells that are read, in the order of `native/parse/iana.c`."""
_BLANKS = re.compile("[ \t\r\n]+")
_MONTH = re.compile("[0-9]{4}-[0-9]{2}")


def read_iana(data: bytes, sheet: kernels.Sheet) -> None:
    """Read a whole CSV file into a sheet; its first record names the columns and is skipped."""
    # latin-1 preserves every byte; the kernel decides later whether a value is UTF-8
    reader = csv.reader(io.StringIO(data.decode("latin-1"), newline=""))
    line = 1
    header: list[str] = []
    sheet.clear()
    try:
        for record in reader:
            cells = [_BLANKS.sub(" ", cell).strip(" ") for cell in record]
            if any(cells):
                if header:
                    _take(sheet, header, cells, line)
                else:
                    header = cells
                    sheet.skip(line, Reason.HEADER)
            line = reader.line_num + 1
    except csv.Error:  # a field of more than 128 KiB: no such table
        sheet.skip(line, Reason.BAD_RANGE)
    sheet.add_lines(line - 1)


def _take(sheet: kernels.Sheet, header: list[str], cells: list[str], line: int) -> None:
    """Add one record."""
    texts = [_cell(header, cells, titles) for titles in _CELLS]
    if _MONTH.fullmatch(texts[-1]):
        texts[-1] += "-01"
    texts.append(",".join(cells))
    sheet.read_iana(tuple(text.encode("latin-1") for text in texts), line)


def _cell(header: list[str], cells: list[str], titles: tuple[str, ...]) -> str:
    """Find the cell whose title starts with one of these words."""
    return next((cell for title, cell in zip(header, cells, strict=False) if title.startswith(titles)), "")
