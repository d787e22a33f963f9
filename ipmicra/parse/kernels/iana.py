"""One record of IANA's tables into a sheet: the same values, read by the same code as everywhere."""

from __future__ import annotations

import numba

from ipmicra.model.finding import Reason
from ipmicra.model.registry import Registry
from ipmicra.parse.fields import STORED_TEXTS, Field
from ipmicra.parse.kernels.closing import read_range
from ipmicra.parse.kernels.output import accept, add_text, put_row, refuse
from ipmicra.parse.kernels.values import LEADING_ZERO, read_date
from ipmicra.parse.sheets import LENGTHS, ROWS4, ROWS6, SKIPPED

PREFIX, DESIGNATION, STATUS, DATE, RECORD = range(5)
"""Spans of one record: its cells, then all of it for findings."""
NETNAME_TEXT, DESCR_TEXT, STATUS_TEXT = int(Field.NETNAME), int(Field.DESCR), int(Field.STATUS)
BAD_DATE = 1 << int(Reason.BAD_DATE)
IANA = int(Registry.IANA)


@numba.njit(nogil=True, cache=True)
def take_record(sheet, buffer, spans, line):
    """Read a record whose cells are spans of the buffer."""
    reason, repairs, is_wide = read_range(sheet, buffer, spans[PREFIX, 0], spans[PREFIX, 1])
    if reason != 0:
        refuse(sheet, SKIPPED, reason, line, buffer, spans[RECORD, 0], spans[RECORD, 1])
        return
    repairs &= ~LEADING_ZERO  # the normal form here: 003/8
    date = 0
    if spans[DATE, 0] < spans[DATE, 1]:
        date = read_date(buffer, spans[DATE, 0], spans[DATE, 1])
        if date == 0:
            repairs |= BAD_DATE
    rows, place = (sheet.rows6, ROWS6) if is_wide else (sheet.rows4, ROWS4)
    row = sheet.counts[place]
    put_row(sheet, rows, row, 0, date, line, IANA, 0)
    for column in range(STORED_TEXTS):
        rows[row, LENGTHS + column] = 0
    repairs |= add_text(sheet, rows, row, NETNAME_TEXT, buffer, spans[DESIGNATION, 0], spans[DESIGNATION, 1])
    repairs |= add_text(sheet, rows, row, DESCR_TEXT, buffer, spans[DESIGNATION, 0], spans[DESIGNATION, 1])
    repairs |= add_text(sheet, rows, row, STATUS_TEXT, buffer, spans[STATUS, 0], spans[STATUS, 1])
    sheet.counts[place] = row + 1
    accept(sheet, repairs, line, buffer, spans[RECORD, 0], spans[RECORD, 1])
