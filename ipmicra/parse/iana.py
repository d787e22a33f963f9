"""Parse IANA's address space tables, the top level of every hierarchy."""

from __future__ import annotations

import csv
import io
import re

import numpy as np

from ipmicra.model.finding import Reason
from ipmicra.parse import sheets
from ipmicra.parse.sheets import PADDING, Sheet

_CELLS = (("Prefix", "IPv6 Prefix"), ("Designation", "Allocation"), ("Status",), ("Date",))
"""Titles of the cells to read, in the order that `kernels.iana` expects."""
_BLANKS = re.compile("[ \t\r\n]+")
_MONTH = re.compile("[0-9]{4}-[0-9]{2}")


def read_iana(data: bytes, sheet: Sheet) -> None:
    """Read a whole CSV file into a sheet; its first record names the columns and is skipped."""
    # latin-1 preserves every byte; the kernel decides later whether a value is UTF-8
    reader = csv.reader(io.StringIO(data.decode("latin-1"), newline=""))
    line = 1
    header: list[str] = []
    try:
        for record in reader:
            cells = [_BLANKS.sub(" ", cell).strip(" ") for cell in record]
            if any(cells):
                if header:
                    _take(sheet, header, cells, line)
                else:
                    header = cells
                    _skip(sheet, line, Reason.HEADER)
            line = reader.line_num + 1
    except csv.Error:  # a field of more than 128 KiB: not an IANA table
        _skip(sheet, line, Reason.BAD_RANGE)
    sheet.counts[sheets.LINES] = line - 1


def _take(sheet: Sheet, header: list[str], cells: list[str], line: int) -> None:
    """Pass one record to the kernel."""
    from ipmicra.parse.kernels.iana import take_record

    texts = [_cell(header, cells, titles) for titles in _CELLS]
    if _MONTH.fullmatch(texts[-1]):
        texts[-1] += "-01"
    texts.append(",".join(cells))
    ends = np.cumsum([len(text) for text in texts])
    spans = np.stack((np.concatenate(([0], ends[:-1])), ends), axis=1)
    buffer = np.frombuffer(bytearray("".join(texts).encode("latin-1") + bytes(PADDING)), np.uint8)
    take_record(sheet, buffer, spans, line)


def _cell(header: list[str], cells: list[str], titles: tuple[str, ...]) -> str:
    """Find the cell whose title starts with one of these words."""
    return next((cell for title, cell in zip(header, cells, strict=False) if title.startswith(titles)), "")


def _skip(sheet: Sheet, line: int, reason: Reason) -> None:
    """Count a record as skipped."""
    sheet.counts[sheets.SKIPPED] += 1
    sheet.findings[sheet.counts[sheets.FINDINGS]] = line, int(reason), 0, 0
    sheet.counts[sheets.FINDINGS] += 1
