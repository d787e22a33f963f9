"""Writing rows and findings into a sheet."""

from __future__ import annotations

import numba
import numpy as np

from ipmicra.model.finding import FATE_OF, Fate, Reason
from ipmicra.model.registry import SOURCES
from ipmicra.parse.kernels.bytescan import borrow, load64
from ipmicra.parse.kernels.text import copy_text
from ipmicra.parse.sheets import (
    AT,
    COUNTRY,
    DATE,
    FINDING_AT,
    FINDING_LENGTH,
    FINDING_LINE,
    FINDING_REASON,
    FINDINGS,
    HOLDER,
    KEPT,
    LENGTHS,
    LINE,
    REGISTRY,
    REPAIRED,
    TEXT,
    Sheet,
)

LONGEST_EXCERPT = 80
"""Bytes of the paragraph's first line that a finding shows."""
REPAIRS = [int(reason) for reason in Reason if FATE_OF[reason] is Fate.REPAIRED]
LAST_REPAIR = max(REPAIRS)
VALUE_CUT = 1 << int(Reason.VALUE_CUT)
HAS_EXCERPT = np.array(
    [
        code not in {Reason.OTHER_CLASS, Reason.ASN, Reason.SUMMARY, Reason.HEADER}
        for code in range(len(Reason) + 1)
    ]
)
_SOURCE_WORDS = np.array([int.from_bytes(word.encode(), "little") for word in SOURCES], np.uint64)
_SOURCE_CODES = np.array([int(registry) for registry in SOURCES.values()], np.uint8)
_LOWER = np.uint64(0x2020202020202020)


@numba.njit(nogil=True, cache=True)
def borrow_sheet(sheet):
    """Give the same sheet without reference counts."""
    return Sheet(
        borrow(sheet.rows4),
        borrow(sheet.rows6),
        borrow(sheet.wide6),
        borrow(sheet.organisations),
        borrow(sheet.findings),
        borrow(sheet.text),
        borrow(sheet.counts),
    )


@numba.njit(nogil=True, cache=True, forceinline=True)
def put_row(sheet, rows, row, country, date, line, registry, holder):
    """Fill the words of a row that are neither range nor text length."""
    rows[row, AT] = sheet.counts[TEXT]
    rows[row, COUNTRY] = country
    rows[row, DATE] = date
    rows[row, LINE] = line
    rows[row, REGISTRY] = registry
    rows[row, HOLDER] = holder


@numba.njit(nogil=True, cache=True)
def add_finding(sheet, line, reason, at, length):
    """Write one finding; the excerpt is already in the text."""
    i = sheet.counts[FINDINGS]
    sheet.findings[i, FINDING_LINE] = line
    sheet.findings[i, FINDING_REASON] = reason
    sheet.findings[i, FINDING_AT] = at
    sheet.findings[i, FINDING_LENGTH] = length
    sheet.counts[FINDINGS] = i + 1


@numba.njit(nogil=True, cache=True)
def add_excerpt(sheet, buffer, start, end):
    """Copy the first line of a paragraph into the text; give (where, length)."""
    at = sheet.counts[TEXT]
    if end - start > LONGEST_EXCERPT:
        end = start + LONGEST_EXCERPT
        while end > start and 0x80 <= buffer[end] <= 0xBF:
            end -= 1
    length, _is_cut = copy_text(sheet.text, at, buffer, start, end)
    sheet.counts[TEXT] = at + length
    return at, length


@numba.njit(nogil=True, cache=True)
def refuse(sheet, fate, reason, line, buffer, start, end):
    """Count a paragraph as skipped or unknown, with its finding."""
    sheet.counts[fate] += 1
    at, length = sheet.counts[TEXT], 0
    if HAS_EXCERPT[reason]:
        at, length = add_excerpt(sheet, buffer, start, end)
    add_finding(sheet, line, reason, at, length)


@numba.njit(nogil=True, cache=True, forceinline=True)
def accept(sheet, repairs, line, buffer, start, end):
    """Count a paragraph as kept or repaired, with a finding for each repair."""
    if repairs == 0:
        sheet.counts[KEPT] += 1
        return
    sheet.counts[REPAIRED] += 1
    at, length = add_excerpt(sheet, buffer, start, end)
    for reason in range(1, LAST_REPAIR + 1):
        if repairs >> reason & 1:
            add_finding(sheet, line, reason, at, length)


@numba.njit(nogil=True, cache=True, forceinline=True)
def add_text(sheet, rows, row, column, buffer, start, end):
    """Append one text of a row; give the repair it needed, or 0."""
    if start >= end:
        rows[row, LENGTHS + column] = 0
        return 0
    at = sheet.counts[TEXT]
    length, is_cut = copy_text(sheet.text, at, buffer, start, end)
    rows[row, LENGTHS + column] = length
    sheet.counts[TEXT] = at + length
    return VALUE_CUT if is_cut else 0


@numba.njit(nogil=True, cache=True)
def registry_of(buffer, start, end, fallback):
    """Read the value of `source:` up to a blank, `#` or `-`."""
    length = 0
    while start + length < end and length < 9:
        byte = buffer[start + length]
        if byte == 32 or byte == 9 or byte == 35 or byte == 45:
            break
        length += 1
    if length == 0 or length > 7:
        return fallback
    mask = (np.uint64(1) << np.uint64(8 * length)) - np.uint64(1)
    raw = load64(buffer, start) & mask
    if (raw & (np.uint64(0x4040404040404040) & mask)) != (np.uint64(0x4040404040404040) & mask):
        return fallback  # a digit or sign, which the folding below could turn into a letter
    word = (raw | _LOWER) & mask
    for i in range(_SOURCE_WORDS.size):
        if _SOURCE_WORDS[i] == word:
            return np.int64(_SOURCE_CODES[i])
    return fallback
