"""Delegated and delegated-extended statistics: one chunk of whole lines into a sheet."""

from __future__ import annotations

import numba
import numpy as np

from ipmicra.model.finding import Reason
from ipmicra.model.registry import STATISTICS_NAMES
from ipmicra.parse.fields import STORED_TEXTS, Field, Holder
from ipmicra.parse.kernels.bytescan import borrow, find, trim
from ipmicra.parse.kernels.output import accept, add_text, borrow_sheet, put_row, refuse
from ipmicra.parse.kernels.values import (
    BAD_RANGE,
    LEADING_ZERO,
    OUT_OF_RANGE,
    read_country,
    read_date,
    read_ipv4,
    read_ipv6,
    read_length6,
    read_number,
)
from ipmicra.parse.sheets import FIRST, LAST, LENGTHS, LINES, ROWS4, ROWS6, SKIPPED, UNKNOWN

REGISTRY, COUNTRY, TYPE, START, VALUE, DATE, STATUS, OPAQUE = range(8)
FIELDS = 8
FEWEST_FIELDS = 7
BAR, HASH, NEWLINE, RETURN, DOT, STAR = 124, 35, 10, 13, 46, 42
SPACE_SIZE = 1 << 32
LONGEST_COUNT = 18
"""Digits of a count that is read; the largest that fits the space, 4294967296, has ten."""

_NAMES = [np.frombuffer(name.encode(), np.uint8) for name in STATISTICS_NAMES]
_NAME_TEXT = np.concatenate(_NAMES)
_NAME_ENDS = np.cumsum([name.size for name in _NAMES])
_NAME_CODES = np.array([int(registry) for registry in STATISTICS_NAMES.values()])
_ASN, _IPV4, _IPV6, _SUMMARY = (
    np.frombuffer(word, np.uint8) for word in (b"asn", b"ipv4", b"ipv6", b"summary")
)
_NO_DATE = np.frombuffer(b"00000000", np.uint8)

HEADER, SUMMARY, ASN, BAD_LINE = (
    int(reason) for reason in (Reason.HEADER, Reason.SUMMARY, Reason.ASN, Reason.BAD_LINE)
)
BAD_COUNTRY, BAD_DATE = 1 << int(Reason.BAD_COUNTRY), 1 << int(Reason.BAD_DATE)
BY_OPAQUE, NO_HOLDER = int(Holder.OPAQUE), int(Holder.NONE)
HANDLE_TEXT, STATUS_TEXT = int(Field.HANDLE), int(Field.STATUS)


@numba.njit(nogil=True, cache=True)
def _equals(buffer, start, end, word):
    """Tell whether a span is exactly a word."""
    if end - start != word.size:
        return False
    for i in range(word.size):
        if buffer[start + i] != word[i]:
            return False
    return True


@numba.njit(nogil=True, cache=True)
def _split(buffer, start, end, spans):
    """Find the first eight fields, trimmed; give how many there are, eight at most."""
    count = 0
    position = start
    while count < FIELDS:
        behind = position
        while behind < end and buffer[behind] != BAR:
            behind += 1
        spans[count, 0], spans[count, 1] = trim(buffer, position, behind)
        count += 1
        if behind >= end:
            break
        position = behind + 1
    return count


@numba.njit(nogil=True, cache=True)
def _is_version(buffer, start, end):
    """Tell whether a span is digits and dots only."""
    for i in range(start, end):
        if buffer[i] != DOT and not 48 <= buffer[i] <= 57:
            return False
    return start < end


@numba.njit(nogil=True, cache=True)
def _registry(buffer, start, end):
    """Give the code of a registry's name, -1 if it is none."""
    begin = 0
    for i in range(_NAME_ENDS.size):
        if _equals(buffer, start, end, _NAME_TEXT[begin : _NAME_ENDS[i]]):
            return _NAME_CODES[i]
        begin = _NAME_ENDS[i]
    return -1


@numba.njit(nogil=True, cache=True)
def _refusal(buffer, spans, count):
    """Give the reason why a line is no registration, 0 if it is one."""
    if _is_version(buffer, spans[REGISTRY, 0], spans[REGISTRY, 1]):
        return HEADER
    if count > DATE and _equals(buffer, spans[DATE, 0], spans[DATE, 1], _SUMMARY):
        return SUMMARY
    if count > TYPE and _equals(buffer, spans[TYPE, 0], spans[TYPE, 1], _ASN):
        return ASN
    if count < FEWEST_FIELDS or _registry(buffer, spans[REGISTRY, 0], spans[REGISTRY, 1]) < 0:
        return BAD_LINE
    is_ipv4 = _equals(buffer, spans[TYPE, 0], spans[TYPE, 1], _IPV4)
    if not is_ipv4 and not _equals(buffer, spans[TYPE, 0], spans[TYPE, 1], _IPV6):
        return BAD_LINE
    return 0


@numba.njit(nogil=True, cache=True)
def _is_count(buffer, start, end):
    """Tell whether a span is digits, not all of them 0."""
    is_positive = False
    for i in range(start, end):
        if not 48 <= buffer[i] <= 57:
            return False
        is_positive |= buffer[i] != 48
    return is_positive


@numba.njit(nogil=True, cache=True)
def _range4(sheet, buffer, spans):
    """Read start and count into the next IPv4 row; give (reason to skip or 0, repairs)."""
    end = spans[START, 1]
    first, octets, is_large, has_zero, behind = read_ipv4(buffer, spans[START, 0], end)
    count, _behind = read_number(buffer, spans[VALUE, 0], spans[VALUE, 1], LONGEST_COUNT)
    if octets < 4 or behind != end or not _is_count(buffer, spans[VALUE, 0], spans[VALUE, 1]):
        return BAD_RANGE, 0
    if is_large or count < 1 or first + count > SPACE_SIZE:
        return OUT_OF_RANGE, 0
    row = sheet.counts[ROWS4]
    sheet.rows4[row, FIRST] = first
    sheet.rows4[row, LAST] = first + count - 1
    return 0, LEADING_ZERO if has_zero else 0


@numba.njit(nogil=True, cache=True)
def _range6(sheet, buffer, spans):
    """Read start and prefix length into the next IPv6 row; give (reason to skip or 0, repairs)."""
    is_read, high, low, behind = read_ipv6(buffer, spans[START, 0], spans[START, 1])
    if not is_read or behind != spans[START, 1]:
        return BAD_RANGE, 0
    wide = sheet.wide6[sheet.counts[ROWS6]]
    return read_length6(buffer, spans[VALUE, 0], spans[VALUE, 1], high, low, wide)


@numba.njit(nogil=True, cache=True)
def _country_and_date(buffer, spans):
    """Read country and date; give (country, date, repairs)."""
    country, date, repairs = 0, 0, 0
    start, end = spans[COUNTRY, 0], spans[COUNTRY, 1]
    if start < end and not (end - start == 1 and buffer[start] == STAR):
        country = read_country(buffer, start, end)
        if country == 0:
            repairs |= BAD_COUNTRY
    start, end = spans[DATE, 0], spans[DATE, 1]
    if start < end and not _equals(buffer, start, end, _NO_DATE):
        if end - start == 8:
            date = read_date(buffer, start, end)
        if date == 0:
            repairs |= BAD_DATE
    return country, date, repairs


@numba.njit(nogil=True, cache=True)
def _put_registration(sheet, buffer, spans, is_wide, line):
    """Write a row whose range is already in place; give the repairs needed."""
    country, date, repairs = _country_and_date(buffer, spans)
    rows = sheet.rows6 if is_wide else sheet.rows4
    row = sheet.counts[ROWS6 if is_wide else ROWS4]
    holder = BY_OPAQUE if spans[OPAQUE, 0] < spans[OPAQUE, 1] else NO_HOLDER
    registry = _registry(buffer, spans[REGISTRY, 0], spans[REGISTRY, 1])
    put_row(sheet, rows, row, country, date, line, registry, holder)
    for column in range(STORED_TEXTS):
        rows[row, LENGTHS + column] = 0
    repairs |= add_text(sheet, rows, row, HANDLE_TEXT, buffer, spans[OPAQUE, 0], spans[OPAQUE, 1])
    repairs |= add_text(sheet, rows, row, STATUS_TEXT, buffer, spans[STATUS, 0], spans[STATUS, 1])
    sheet.counts[ROWS6 if is_wide else ROWS4] = row + 1
    return repairs


@numba.njit(nogil=True, cache=True)
def _take_line(sheet, buffer, spans, line, start, end):
    """Read one line that is neither blank nor comment."""
    spans[OPAQUE, 0] = spans[OPAQUE, 1] = 0
    count = _split(buffer, start, end, spans)
    reason = _refusal(buffer, spans, count)
    if reason != 0:
        refuse(sheet, UNKNOWN if reason == BAD_LINE else SKIPPED, reason, line, buffer, start, end)
        return
    is_wide = _equals(buffer, spans[TYPE, 0], spans[TYPE, 1], _IPV6)
    if is_wide:
        reason, repairs = _range6(sheet, buffer, spans)
    else:
        reason, repairs = _range4(sheet, buffer, spans)
    if reason != 0:
        refuse(sheet, SKIPPED, reason, line, buffer, start, end)
        return
    repairs |= _put_registration(sheet, buffer, spans, is_wide, line)
    accept(sheet, repairs, line, buffer, start, end)


@numba.njit(nogil=True, cache=True)
def read_statistics(buffer, size, first_line, _default_registry, sheet):
    """Read whole lines into a sheet; `buffer[size]` is a line end. Counts of the sheet must be zero."""
    owned = np.zeros((FIELDS, 2), np.int64)
    _read(borrow(buffer), size, first_line, borrow_sheet(sheet), borrow(owned))
    return owned.size


@numba.njit(nogil=True, cache=True)
def _read(buffer, size, first_line, sheet, spans):
    """Go through the lines; all arrays are borrowed."""
    position = 0
    line = first_line
    while position < size:
        newline = find(buffer, position, np.uint8(NEWLINE))
        end = newline
        if end > position and buffer[end - 1] == RETURN:
            end -= 1
        start, end = trim(buffer, position, end)
        if start < end and buffer[start] != HASH:
            _take_line(sheet, buffer, spans, line, start, end)
        line += 1
        position = newline + 1
    sheet.counts[LINES] = line - first_line
