"""Who holds each subnet: the best handle, maintainer or description that its registration has."""

from __future__ import annotations

import numba
import numpy as np

from ipmicra.hierarchy.kernels.duplicates import is_better
from ipmicra.hierarchy.kernels.intern import (
    FIRST_SLOTS,
    find_slot,
    grow,
    grow_slots,
    hash_bytes,
    text_start,
)
from ipmicra.model.organisation import HolderEvidence
from ipmicra.parse.fields import Field, Holder
from ipmicra.parse.kernels.bytescan import borrow, prefetch
from ipmicra.parse.sheets import PADDING

DESCR, HANDLE, MAINTAINER = int(Field.DESCR), int(Field.HANDLE), int(Field.MAINTAINER)
OPAQUE = int(Holder.OPAQUE)
BY_MAINTAINER, BY_DESCRIPTION = int(HolderEvidence.MAINTAINER), int(HolderEvidence.DESCRIPTION)
ROOM = 2048
"""Bytes that one key takes at most: a kind, a registry and the longest text."""
KEYS = 16
"""Keys written ahead of their turn."""


@numba.njit(nogil=True, cache=True, forceinline=True)
def _is_edge(byte):
    """Tell whether a byte counts as nothing at the ends of a description."""
    return byte == 32 or byte == 9 or byte == 44 or byte == 46 or byte == 59


@numba.njit(nogil=True, cache=True, forceinline=True)
def put_key(pool, size, text, start, end, kind, registry):
    """Write a holder's key behind the pool: kind, registry where handles are local to one, folded text.

    Letters become upper case and runs of blanks one space; a description also loses `.,;` at its ends.
    """
    pool[size] = kind
    pool[size + 1] = registry if kind >= OPAQUE else 0
    size += 2
    if kind == BY_DESCRIPTION:
        while start < end and _is_edge(text[start]):
            start += 1
        while end > start and _is_edge(text[end - 1]):
            end -= 1
    was_blank = False
    for i in range(start, end):
        byte = text[i]
        is_blank = byte == 32 or byte == 9
        if not is_blank:
            if was_blank:
                pool[size] = 32
                size += 1
            pool[size] = byte - 32 if 97 <= byte <= 122 else byte
            size += 1
        was_blank = is_blank
    return size


@numba.njit(nogil=True, cache=True, forceinline=True)
def _evidence(lengths, holder, row):
    """Give (kind, column) of the best evidence; kind 0 if there is none."""
    if lengths[row, HANDLE]:
        return np.int64(holder[row]), HANDLE
    if lengths[row, MAINTAINER]:
        return np.int64(BY_MAINTAINER), MAINTAINER
    if lengths[row, DESCR]:
        return np.int64(BY_DESCRIPTION), DESCR
    return np.int64(0), HANDLE


@numba.njit(nogil=True, cache=True)
def number_organisations(text, starts, lengths, country, date, registry, holder):
    """Keep the best object of each handle; give (slots, pool, ends, object row of each key)."""
    slots = np.zeros(FIRST_SLOTS, np.uint64)
    pool = np.empty(1 << 16, np.uint8)
    ends = np.empty(1 << 12, np.int64)
    best = np.empty(1 << 12, np.int64)
    count = 0
    size = 0
    for row in range(starts.size):
        pool = grow(pool, size + ROOM)
        start = np.int64(starts[row])
        behind = put_key(
            pool, size, text, start, start + np.int64(lengths[row, 0]), holder[row], registry[row]
        )
        hashed = hash_bytes(borrow(pool), size, behind)
        slot = find_slot(borrow(slots), borrow(pool), borrow(ends), borrow(pool), size, behind, hashed)
        if slots[slot] == 0:
            ends, best = grow(ends, count + 1), grow(best, count + 1)
            ends[count], best[count] = behind, row
            size = behind
            count += 1
            slots[slot] = hashed << np.uint64(32) | np.uint64(count)
            if count * 2 > slots.size:
                slots = grow_slots(slots)
        else:
            number = np.int64(slots[slot] & np.uint64(0xFFFFFFFF)) - 1
            if is_better(text, starts, lengths, country, date, registry, holder, row, best[number]):
                best[number] = row
    return slots, pool[:size], ends[:count], best[:count]


@numba.njit(nogil=True, cache=True, forceinline=True)
def _key_batch(text, starts, lengths, registry, holder, row, keys, slots):
    """Write the keys of the next rows apart and ask for their slots: they come from memory together."""
    room, behind, hashes, kinds = keys
    for i in range(min(KEYS, starts.size - row)):
        kind, column = _evidence(lengths, holder, row + i)
        kinds[i] = kind
        if kind:
            start = text_start(starts, lengths, row + i, column)
            stop = start + np.int64(lengths[row + i, column])
            behind[i] = put_key(room, i * ROOM, text, start, stop, kind, registry[row + i])
            hashes[i] = hash_bytes(room, i * ROOM, behind[i])
            prefetch(slots, np.int64(hashes[i] & np.uint64(slots.size - 1)))


@numba.njit(nogil=True, cache=True)
def number_holders(text, starts, lengths, registry, holder, table, numbers):
    """Number the holders that registrations name, on top of those in a table; -1 where nothing names one.

    The table is (slots, pool, ends, kinds), as this function gives it for another family to go on with.
    """
    slots, pool, ends, kinds = table
    text, starts, lengths, holder = borrow(text), borrow(starts), borrow(lengths), borrow(holder)
    count = ends.size
    size = ends[count - 1] if count else 0
    room, behind = np.empty(KEYS * ROOM + PADDING, np.uint8), np.empty(KEYS, np.int64)
    hashes, batch_kinds = np.empty(KEYS, np.uint64), np.empty(KEYS, np.int64)
    keys = borrow(room), borrow(behind), borrow(hashes), borrow(batch_kinds)
    for row in range(starts.size):
        i = row % KEYS
        if i == 0:
            _key_batch(text, starts, lengths, borrow(registry), holder, row, keys, borrow(slots))
        if batch_kinds[i] == 0:
            numbers[row] = -1
            continue
        begin = i * ROOM
        slot = find_slot(borrow(slots), borrow(pool), borrow(ends), borrow(room), begin, behind[i], hashes[i])
        if slots[slot] == 0:
            length = behind[i] - begin
            pool = grow(pool, size + length)
            for byte in range(length):
                pool[size + byte] = room[begin + byte]
            size += length
            ends, kinds = grow(ends, count + 1), grow(kinds, count + 1)
            ends[count], kinds[count] = size, batch_kinds[i]
            count += 1
            slots[slot] = hashes[i] << np.uint64(32) | np.uint64(count)
            if count * 2 > slots.size:
                slots = grow_slots(slots)
            numbers[row] = count - 1
        else:
            numbers[row] = np.int64(slots[slot] & np.uint64(0xFFFFFFFF)) - 1
    return slots, pool[:size].copy(), ends[:count].copy(), kinds[:count].copy()


@numba.njit(nogil=True, cache=True)
def match_keys(pool, ends, slots, known_pool, known_ends, out):
    """Write for each key its number among known keys, -1 where it is not known."""
    begin = 0
    for i in range(ends.size):
        hashed = hash_bytes(pool, begin, ends[i])
        slot = find_slot(slots, known_pool, known_ends, pool, begin, ends[i], hashed)
        out[i] = np.int64(slots[slot] & np.uint64(0xFFFFFFFF)) - 1 if slots[slot] else -1
        begin = ends[i]
