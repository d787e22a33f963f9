"""The paragraph dialects (RPSL, LACNIC, ARIN): one chunk of whole paragraphs into a sheet.

A paragraph's values are remembered as spans of the buffer and copied only when it ends. Values that continue
over several lines are joined in a scratch area behind the chunk, so that every span lies in one buffer.
"""

from __future__ import annotations

import numba
import numpy as np

from ipmicra.model.finding import Reason
from ipmicra.parse.kernels.attributes import take
from ipmicra.parse.kernels.bytescan import borrow, cut_comment, is_blank, trim
from ipmicra.parse.kernels.closing import close
from ipmicra.parse.kernels.lines import (
    is_comment,
    is_continuation,
    join_lines,
    line_end,
    next_paragraph,
    read_key,
    skip_continuations,
)
from ipmicra.parse.kernels.output import borrow_sheet, refuse
from ipmicra.parse.kernels.state import (
    BY_ORG,
    BY_ORGID,
    HANDLE,
    HEAD,
    HEAD_END,
    HOLDER,
    JUNK,
    KIND,
    LINE,
    MOST_ADDRESSES,
    NONE,
    ORGANISATION,
    ORGID,
    OTHER,
    REGISTRATION,
    SCRATCH,
    SPANS,
    STATE_SIZE,
)
from ipmicra.parse.sheets import LINES, PADDING, SKIPPED, UNKNOWN

OTHER_CLASS = int(Reason.OTHER_CLASS)
UNKNOWN_CLASS, NO_ATTRIBUTE = int(Reason.UNKNOWN_CLASS), int(Reason.NO_ATTRIBUTE)


@numba.njit(nogil=True, cache=True, forceinline=True)
def _open(sheet, buffer, state, line, start, end):
    """Start a paragraph by its first line; give (field, position of the value)."""
    field, kind, value = read_key(buffer, start, end)
    state[LINE], state[HEAD], state[HEAD_END] = line, start, end
    state[KIND] = kind
    if value < 0 or is_continuation(buffer[start]):
        state[KIND] = 0
        refuse(sheet, UNKNOWN, NO_ATTRIBUTE, line, buffer, start, end)
    elif kind == OTHER:
        refuse(sheet, SKIPPED, OTHER_CLASS, line, buffer, start, end)
    elif kind == 0:
        refuse(sheet, UNKNOWN, UNKNOWN_CLASS, line, buffer, start, end)
    elif kind == ORGANISATION:
        state[HOLDER] = BY_ORGID if field == ORGID else BY_ORG
    return field, value


@numba.njit(nogil=True, cache=True, forceinline=True)
def _take_line(sheet, buffer, size, spans, addresses, state, line, start, end, following):
    """Read one line that is neither blank nor comment; give (next line, lines used beside it)."""
    is_first = state[LINE] == 0
    if is_first:
        field, value = _open(sheet, buffer, state, line, start, end)
        if state[KIND] != REGISTRATION and state[KIND] != ORGANISATION:
            return next_paragraph(buffer, size, following)
    else:
        field, _kind, value = read_key(buffer, start, end)
        if value < 0:
            state[JUNK] = 1
        if field == NONE or spans[field, 1] != 0:  # of no use, or known already
            byte = buffer[following]
            if is_continuation(byte) or is_comment(byte):
                return skip_continuations(buffer, size, following)
            return following, 0
    lines = 0
    from_, to = trim(buffer, value, end)
    byte = buffer[following]
    if following < size and (is_continuation(byte) or is_comment(byte)):
        from_, to, following, lines = join_lines(buffer, size, state, following, from_, to)
    if is_first and state[KIND] == ORGANISATION:
        from_, to = cut_comment(buffer, from_, to)
        spans[HANDLE, 0], spans[HANDLE, 1] = from_, to if from_ < to else 0
    elif field != NONE:
        take(buffer, spans, addresses, state, field, from_, to)
    return following, lines


@numba.njit(nogil=True, cache=True, forceinline=True)
def _read(buffer, size, first_line, default_registry, sheet, spans, addresses, state):
    """Go through the lines; all arrays are borrowed."""
    state[SCRATCH] = size + PADDING
    position = 0
    line = first_line
    while position < size:
        byte = buffer[position]
        end, following = line_end(buffer, position)
        is_empty = end == position
        if not is_empty and is_blank(byte):
            is_empty = trim(buffer, position, end)[0] == end
        if is_empty:
            close(sheet, buffer, size, spans, addresses, state, default_registry)
        elif not is_comment(byte):
            following, more = _take_line(
                sheet, buffer, size, spans, addresses, state, line, position, end, following
            )
            line += more
        line += 1
        position = following
    close(sheet, buffer, size, spans, addresses, state, default_registry)
    sheet.counts[LINES] = line - first_line


@numba.njit(nogil=True, cache=True)
def read_paragraphs(buffer, size, first_line, default_registry, sheet):
    """Read whole paragraphs into a sheet; `buffer[size]` is a line end, and there is room behind for scratch.

    The room has to be twice as large as the chunk and the padding. Counts of the sheet must be zero.
    """
    owned_spans = np.zeros((SPANS, 2), np.int64)
    owned_addresses = np.zeros((MOST_ADDRESSES, 2), np.int64)
    owned_state = np.zeros(STATE_SIZE, np.int64)
    _read(
        borrow(buffer),
        size,
        first_line,
        default_registry,
        borrow_sheet(sheet),
        borrow(owned_spans),
        borrow(owned_addresses),
        borrow(owned_state),
    )
    return owned_spans.size + owned_addresses.size + owned_state.size
