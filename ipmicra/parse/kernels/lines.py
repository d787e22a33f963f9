"""Lines of the paragraph dialects: their ends, their keys, and the lines that continue a value."""

from __future__ import annotations

import numba
import numpy as np

from ipmicra.parse.fields import MIX_HIGH, MIX_LOW, SLOTS, key_table
from ipmicra.parse.kernels.bytescan import find, is_blank, load64, match32, trailing_zeros, trim
from ipmicra.parse.kernels.state import NONE, SCRATCH

_WORDS, _MEANINGS = key_table()
_MIX_LOW, _MIX_HIGH = np.uint64(MIX_LOW), np.uint64(MIX_HIGH)
_LOWER, _BIT6 = np.uint64(0x2020202020202020), np.uint64(0x4040404040404040)
_MASKS = np.array([(1 << 8 * i) - 1 for i in range(8)] + [(1 << 64) - 1], np.uint64)
NEWLINE, RETURN, HASH, PERCENT, PLUS, SPACE, TAB, COLON = 10, 13, 35, 37, 43, 32, 9, 58


@numba.njit(nogil=True, cache=True)
def _has_control(raw, folded):
    r"""Tell whether folding turned a control character into a sign: it has neither bit 5 nor bit 6.

    `last\rmodified` folds to `last-modified`: 0x0D has neither bit, so it is found out.
    """
    used = folded | folded << np.uint64(1)
    seen = raw | raw << np.uint64(1)
    return (used & ~seen & _BIT6) != 0


@numba.njit(nogil=True, cache=True)
def read_key(buffer, start, end):
    """Recognise an attribute line; give (field, kind, position behind the colon), position -1 for junk."""
    colons = match32(buffer, start, np.uint8(COLON))
    length = trailing_zeros(colons)
    if length == 0 or start + length >= end or length == 32:
        return NONE, 0, -1
    if length <= 16:
        raw_low = load64(buffer, start) & _MASKS[min(length, 8)]
        raw_high = load64(buffer, start + 8) & _MASKS[max(length, 8) - 8]
        low = (raw_low | _LOWER) & _MASKS[min(length, 8)]
        high = (raw_high | _LOWER) & _MASKS[max(length, 8) - 8]
        slot = np.int64((low * _MIX_LOW ^ high * _MIX_HIGH) >> np.uint64(55))
        while _MEANINGS[slot, 1] != 0:
            if _WORDS[slot, 0] == low and _WORDS[slot, 1] == high:
                if _has_control(raw_low, low) or _has_control(raw_high, high):
                    break
                return np.int64(_MEANINGS[slot, 0]), np.int64(_MEANINGS[slot, 1]) - 1, start + length + 1
            slot = (slot + 1) % SLOTS
    below = (np.uint32(1) << np.uint32(length)) - np.uint32(1)
    if (match32(buffer, start, np.uint8(SPACE)) | match32(buffer, start, np.uint8(TAB))) & below:
        return NONE, 0, -1
    return NONE, 0, start + length + 1


@numba.njit(nogil=True, cache=True)
def is_continuation(byte):
    """Tell whether a line that starts so continues the value above."""
    return byte == SPACE or byte == TAB or byte == PLUS


@numba.njit(nogil=True, cache=True)
def is_comment(byte):
    """Tell whether a line that starts so is a comment."""
    return byte == HASH or byte == PERCENT


@numba.njit(nogil=True, cache=True)
def line_end(buffer, start):
    """Give (end of the text, start of the next line) of the line at a position."""
    newline = find(buffer, start, np.uint8(NEWLINE))
    if newline > start and buffer[newline - 1] == RETURN:
        return newline - 1, newline + 1
    return newline, newline + 1


@numba.njit(nogil=True, cache=True)
def append(buffer, scratch, start, end):
    """Copy a span to the scratch area; give the position behind it."""
    for i in range(start, end):
        buffer[scratch] = buffer[i]
        scratch += 1
    return scratch


@numba.njit(nogil=True, cache=True)
def join_lines(buffer, size, state, following, start, end):
    """Join continuation lines to a value; give (start, end, next line, lines used)."""
    lines = 0
    used_lines = 0
    used = following
    position = following
    is_copied = False
    while position < size:
        byte = buffer[position]
        stop, next_line = line_end(buffer, position)
        lines += 1
        if is_continuation(byte):
            from_, to = trim(buffer, position, stop)
            if from_ == to:
                break  # blank: the paragraph ends here
            if byte == PLUS:
                from_, to = trim(buffer, position + 1, stop)
            if from_ < to:
                if not is_copied:
                    copied = state[SCRATCH]
                    state[SCRATCH] = append(buffer, copied, start, end)
                    start, is_copied = copied, True
                if state[SCRATCH] > start:
                    buffer[state[SCRATCH]] = SPACE
                    state[SCRATCH] += 1
                state[SCRATCH] = end = append(buffer, state[SCRATCH], from_, to)
            used, used_lines = next_line, lines
        elif not is_comment(byte):
            break
        position = next_line
    return start, end, used, used_lines


@numba.njit(nogil=True, cache=True)
def skip_continuations(buffer, size, position):
    """Step over comments and continuation lines; give (next line, lines passed)."""
    lines = 0
    while position < size and (is_continuation(buffer[position]) or is_comment(buffer[position])):
        end, following = line_end(buffer, position)
        if not is_comment(buffer[position]) and trim(buffer, position, end)[0] == end:
            break
        position = following
        lines += 1
    return position, lines


@numba.njit(nogil=True, cache=True)
def next_paragraph(buffer, size, position):
    """Step over the lines of a paragraph that is not wanted; give (blank line, lines passed)."""
    lines = 0
    while position < size:
        byte = buffer[position]
        if byte == NEWLINE or byte == RETURN or is_blank(byte):
            end, _next = line_end(buffer, position)
            if trim(buffer, position, end)[0] == end:
                break
        position = find(buffer, position, np.uint8(NEWLINE)) + 1
        lines += 1
    return position, lines
