"""Copying values into the text of the columns: always valid UTF-8, never longer than allowed."""

from __future__ import annotations

import numba
import numpy as np

from ipmicra.parse.kernels.bytescan import load64, store64

LONGEST_TEXT = 1000
"""Bytes kept of one value."""

HIGH_BITS = np.uint64(0x8080808080808080)


@numba.njit(nogil=True, cache=True)
def _sequence_length(buffer, position, end):
    """Give the length of the UTF-8 sequence at a non-ASCII byte; 0 if it is not valid.

    E2 82 AC gives 3; C0 80 (overlong), ED A0 80 (a surrogate) and F4 90 80 80 (beyond U+10FFFF) give 0.
    """
    lead = buffer[position]
    lowest, highest = 0x80, 0xBF
    if 0xC2 <= lead <= 0xDF:
        length = 2
    elif 0xE0 <= lead <= 0xEF:
        length = 3
        if lead == 0xE0:
            lowest = 0xA0
        elif lead == 0xED:
            highest = 0x9F
    elif 0xF0 <= lead <= 0xF4:
        length = 4
        if lead == 0xF0:
            lowest = 0x90
        elif lead == 0xF4:
            highest = 0x8F
    else:
        return 0
    if position + length > end or not lowest <= buffer[position + 1] <= highest:
        return 0
    for i in range(position + 2, position + length):
        if not 0x80 <= buffer[i] <= 0xBF:
            return 0
    return length


@numba.njit(nogil=True, cache=True)
def _is_utf8(buffer, start, end):
    """Tell whether a span is valid UTF-8."""
    position = start
    while position < end:
        length = 1 if buffer[position] < 0x80 else _sequence_length(buffer, position, end)
        if length == 0:
            return False
        position += length
    return True


@numba.njit(nogil=True, cache=True)
def _copy_latin1(text, at, buffer, start, end):
    """Copy a latin-1 span as UTF-8; give (bytes written, is_cut)."""
    written = 0
    for i in range(start, end):
        byte = buffer[i]
        size = 1 if byte < 0x80 else 2
        if written + size > LONGEST_TEXT:
            return written, True
        if size == 1:
            text[at + written] = byte
        else:
            text[at + written] = 0xC0 | byte >> 6
            text[at + written + 1] = 0x80 | byte & 0x3F
        written += size
    return written, False


@numba.njit(nogil=True, cache=True)
def _copy_words(text, at, buffer, start, length):
    """Copy a span eight bytes at a time, past its end; tell whether a byte over 127 is in it."""
    seen = np.uint64(0)
    done = 0
    while done + 8 <= length:
        word = load64(buffer, start + done)
        seen |= word
        store64(text, at + done, word)
        done += 8
    if done < length:
        word = load64(buffer, start + done)
        store64(text, at + done, word)
        seen |= word & ((np.uint64(1) << np.uint64(8 * (length - done))) - np.uint64(1))
    return seen & HIGH_BITS != 0


@numba.njit(nogil=True, cache=True)
def copy_text(text, at, buffer, start, end):
    """Append a span to the text as UTF-8; give (bytes written, is_cut)."""
    length = min(end - start, LONGEST_TEXT + 8)
    has_high = _copy_words(text, at, buffer, start, length)
    if not has_high and end - start <= LONGEST_TEXT:
        return end - start, False
    if not _is_utf8(buffer, start, end):
        return _copy_latin1(text, at, buffer, start, end)
    if end - start <= LONGEST_TEXT:
        return end - start, False
    length = LONGEST_TEXT
    while 0x80 <= buffer[start + length] <= 0xBF:
        length -= 1
    return length, True
