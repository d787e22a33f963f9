"""Writing texts into the pools of a hierarchy file: length first, then the bytes.

A length takes seven bits a byte, low bits first, the top bit set on all but the last: 5 is 05, 300 is AC 02.
"""

from __future__ import annotations

import numba
import numpy as np

from ipmicra.hierarchy.kernels.intern import text_start
from ipmicra.model.organisation import HolderEvidence
from ipmicra.parse.fields import Field

DESCR, HANDLE, MAINTAINER = int(Field.DESCR), int(Field.HANDLE), int(Field.MAINTAINER)
BY_MAINTAINER, BY_DESCRIPTION = int(HolderEvidence.MAINTAINER), int(HolderEvidence.DESCRIPTION)
LONGEST_LENGTH = 3
"""Bytes that a length takes at most: texts have fewer than 2**21 bytes."""


@numba.njit(nogil=True, cache=True)
def put_text(out, at, text, start, length):
    """Write one text with its length; give the position behind."""
    rest = length
    while rest >= 0x80:
        out[at] = rest & 0x7F | 0x80
        rest >>= 7
        at += 1
    out[at] = rest
    at += 1
    for i in range(length):
        out[at + i] = text[start + i]
    return at + length


@numba.njit(nogil=True, cache=True)
def write_picked(pool, ends, numbers, picked, places):
    """Write each text of a pool when the first row that has it is picked; give (bytes, place of each text).

    A place is where a text starts, counted from 1; 0 stands for none, also for a picked row of -1. What is
    written depends on the order of the picked rows alone, not on that of the numbers.
    """
    out = np.empty(pool.size + LONGEST_LENGTH * ends.size, np.uint8)
    place_of = np.zeros(ends.size, np.uint32)
    written = np.empty(ends.size, np.uint32)
    at = 0
    count = 0
    for i in range(picked.size):
        number = np.int64(numbers[picked[i]]) if picked[i] >= 0 else -1
        if number < 0:
            places[i] = 0
            continue
        if place_of[number] == 0:
            place_of[number] = at + 1
            written[count] = at + 1
            count += 1
            begin = ends[number - 1] if number else 0
            at = put_text(out, at, pool, begin, ends[number] - begin)
        places[i] = place_of[number]
    return out[:at], written[:count]


@numba.njit(nogil=True, cache=True)
def _put_three(out, at, text, starts, lengths, row):
    """Write handle, name and address of an organisation object."""
    begin = np.int64(starts[row])
    for column in range(3):
        length = np.int64(lengths[row, column])
        at = put_text(out, at, text, begin, length)
        begin += length
    return at


@numba.njit(nogil=True, cache=True)
def _put_evidence(out, at, text, starts, lengths, row, kind):
    """Write what a registration itself says of its holder: a handle, or a name for descriptions."""
    column = HANDLE
    if kind == BY_MAINTAINER:
        column = MAINTAINER
    elif kind == BY_DESCRIPTION:
        column = DESCR
        out[at] = 0
        at += 1
    begin = text_start(starts, lengths, row, column)
    at = put_text(out, at, text, begin, np.int64(lengths[row, column]))
    for _ in range(1 if kind == BY_DESCRIPTION else 2):
        out[at] = 0
        at += 1
    return at


@numba.njit(nogil=True, cache=True)
def encode_organisations(text, kinds, objects, registry, starts, lengths, object_rows, out, at):
    """Write one record per organisation: evidence, registry, two letters of country, handle, name, address.

    `objects[i]` is the row of an organisation object or -1; then the registration that named it has to do,
    whose registry, text start and text lengths are given. Gives the size written; at[i] is where a record
    starts.
    """
    object_starts, object_lengths, object_country = object_rows
    size = 0
    for i in range(kinds.size):
        at[i] = size
        out[size] = kinds[i]
        out[size + 1] = registry[i]
        country = np.int64(object_country[objects[i]]) if objects[i] >= 0 else 0
        out[size + 2] = country >> 8
        out[size + 3] = country & 0xFF
        if objects[i] >= 0:
            size = _put_three(out, size + 4, text, object_starts, object_lengths, objects[i])
        else:
            size = _put_evidence(out, size + 4, text, starts, lengths, i, kinds[i])
    return size
