"""Ending a paragraph: its values become a row of a sheet, or a finding."""

from __future__ import annotations

import numba

from ipmicra.model.finding import Reason
from ipmicra.parse.kernels.lines import COLON, SPACE, append
from ipmicra.parse.kernels.output import accept, add_text, put_row, refuse, registry_of
from ipmicra.parse.kernels.state import (
    ADDRESSES,
    BY_OWNERID,
    CHANGED,
    COUNTRY,
    CREATED,
    GEOFEED,
    HANDLE,
    HEAD,
    HEAD_END,
    HOLDER,
    JUNK,
    KIND,
    LINE,
    MODIFIED,
    NAME,
    ORGANISATION,
    OWNER,
    OWNERID,
    RANGE,
    REGISTRATION,
    REMARK,
    SCRATCH,
    SOURCE,
)
from ipmicra.parse.kernels.values import NO_RANGE, read_country, read_date, read_range4, read_range6
from ipmicra.parse.sheets import FIRST, LAST, ORGANISATIONS, PADDING, ROWS4, ROWS6, SKIPPED

COMMA = 44
JUNK_LINE = 1 << int(Reason.JUNK_LINE)
BAD_COUNTRY = 1 << int(Reason.BAD_COUNTRY)
BAD_DATE = 1 << int(Reason.BAD_DATE)
NO_HANDLE = int(Reason.NO_HANDLE)


@numba.njit(nogil=True, cache=True, forceinline=True)
def _country_and_date(buffer, spans):
    """Read country and date; give (country, date, repairs)."""
    country, date, repairs = 0, 0, 0
    if spans[COUNTRY, 1]:
        country = read_country(buffer, spans[COUNTRY, 0], spans[COUNTRY, 1])
        if country == 0:
            repairs |= BAD_COUNTRY
    for field in (MODIFIED, CHANGED, CREATED):
        if spans[field, 1]:
            date = read_date(buffer, spans[field, 0], spans[field, 1])
            if date == 0:
                repairs |= BAD_DATE
            break
    return country, date, repairs


@numba.njit(nogil=True, cache=True, forceinline=True)
def _join_addresses(buffer, addresses, state):
    """Join the address lines with commas in the scratch area; give the span."""
    start = position = state[SCRATCH]
    for i in range(state[ADDRESSES]):
        if i > 0:
            buffer[position] = COMMA
            buffer[position + 1] = SPACE
            position += 2
        position = append(buffer, position, addresses[i, 0], addresses[i, 1])
    state[SCRATCH] = position
    return start, position


@numba.njit(nogil=True, cache=True)
def _put_organisation(sheet, buffer, spans, addresses, state, handle, name, holder, meta):
    """Write an organisation; give the repairs its texts needed."""
    country, date, registry = meta
    row = sheet.counts[ORGANISATIONS]
    rows = sheet.organisations
    put_row(sheet, rows, row, country, date, state[LINE], registry, holder)
    repairs = add_text(sheet, rows, row, 0, buffer, spans[handle, 0], spans[handle, 1])
    repairs |= add_text(sheet, rows, row, 1, buffer, spans[name, 0], spans[name, 1])
    start, end = _join_addresses(buffer, addresses, state)
    repairs |= add_text(sheet, rows, row, 2, buffer, start, end)
    sheet.counts[ORGANISATIONS] = row + 1
    return repairs


@numba.njit(nogil=True, cache=True, forceinline=True)
def _put_registration(sheet, buffer, spans, state, is_wide, meta):
    """Write the columns of a registration other than its range; give the repairs its texts needed."""
    country, date, registry = meta
    rows = sheet.rows6 if is_wide else sheet.rows4
    row = sheet.counts[ROWS6 if is_wide else ROWS4]
    put_row(sheet, rows, row, country, date, state[LINE], registry, state[HOLDER])
    repairs = 0
    if spans[GEOFEED, 1] == 0:
        spans[GEOFEED, 0], spans[GEOFEED, 1] = spans[REMARK, 0], spans[REMARK, 1]
    for column in range(GEOFEED + 1):
        repairs |= add_text(sheet, rows, row, column, buffer, spans[column, 0], spans[column, 1])
    sheet.counts[ROWS6 if is_wide else ROWS4] = row + 1
    return repairs


@numba.njit(nogil=True, cache=True, forceinline=True)
def read_range(sheet, buffer, start, end):
    """Read a range into the next row of its family; give (reason to skip or 0, repairs, is_wide)."""
    if start >= end:
        return NO_RANGE, 0, False
    is_wide = False
    for i in range(start, end):
        if buffer[i] == COLON:
            is_wide = True
            break
    if is_wide:
        reason, repairs = read_range6(buffer, start, end, sheet.wide6[sheet.counts[ROWS6]])
        return reason, repairs, True
    reason, repairs, first, last = read_range4(buffer, start, end)
    sheet.rows4[sheet.counts[ROWS4], FIRST] = first
    sheet.rows4[sheet.counts[ROWS4], LAST] = last
    return reason, repairs, False


@numba.njit(nogil=True, cache=True, forceinline=True)
def _close_registration(sheet, buffer, spans, addresses, state, registry):
    """Turn the paragraph under way into a registration, or into the finding that says why not."""
    reason, repairs, is_wide = read_range(sheet, buffer, spans[RANGE, 0], spans[RANGE, 1])
    if reason != 0:
        refuse(sheet, SKIPPED, reason, state[LINE], buffer, state[HEAD], state[HEAD_END])
        return
    country, date, more = _country_and_date(buffer, spans)
    meta = (country, date, registry)
    repairs |= more | _put_registration(sheet, buffer, spans, state, is_wide, meta)
    if spans[OWNERID, 1] and spans[OWNER, 1]:
        repairs |= _put_organisation(sheet, buffer, spans, addresses, state, OWNERID, OWNER, BY_OWNERID, meta)
    if state[JUNK]:
        repairs |= JUNK_LINE
    accept(sheet, repairs, state[LINE], buffer, state[HEAD], state[HEAD_END])


@numba.njit(nogil=True, cache=True, forceinline=True)
def _close_organisation(sheet, buffer, spans, addresses, state, registry):
    """Turn the paragraph under way into an organisation."""
    if spans[HANDLE, 1] == 0:
        refuse(sheet, SKIPPED, NO_HANDLE, state[LINE], buffer, state[HEAD], state[HEAD_END])
        return
    country, date, repairs = _country_and_date(buffer, spans)
    meta = (country, date, registry)
    repairs |= _put_organisation(sheet, buffer, spans, addresses, state, HANDLE, NAME, state[HOLDER], meta)
    if state[JUNK]:
        repairs |= JUNK_LINE
    accept(sheet, repairs, state[LINE], buffer, state[HEAD], state[HEAD_END])


@numba.njit(nogil=True, cache=True, forceinline=True)
def close(sheet, buffer, size, spans, addresses, state, default_registry):
    """End the paragraph under way and make ready for the next."""
    if state[LINE] == 0:
        return
    if state[KIND] == REGISTRATION or state[KIND] == ORGANISATION:
        registry = registry_of(buffer, spans[SOURCE, 0], spans[SOURCE, 1], default_registry)
        if state[KIND] == REGISTRATION:
            _close_registration(sheet, buffer, spans, addresses, state, registry)
        else:
            _close_organisation(sheet, buffer, spans, addresses, state, registry)
        spans[:] = 0
    state[:] = 0
    state[SCRATCH] = size + PADDING
