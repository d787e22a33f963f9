"""Keeping each text once: a hash table over bytes in a pool.

A slot is hash << 32 | number + 1. Two texts count as the same only if their bytes are: a hash alone would
merge strangers sooner or later.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from ipmicra.parse.kernels.bytescan import borrow, load64, prefetch

FIRST_SLOTS = 1 << 12
BATCH = 64
"""Texts hashed ahead of their turn."""
OFFSET, PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
MIX = np.uint64(0x9E3779B97F4A7C15)


@numba.njit(nogil=True, cache=True, forceinline=True)
def hash_bytes(buffer, start, end):
    """Give 32 well-mixed bits of some bytes."""
    value = OFFSET ^ np.uint64(end - start)
    while start + 8 <= end:
        value = (value ^ load64(buffer, start)) * MIX
        value ^= value >> np.uint64(32)
        start += 8
    for i in range(start, end):
        value = (value ^ np.uint64(buffer[i])) * PRIME
    value ^= value >> np.uint64(29)
    return (value * MIX) >> np.uint64(32)


@numba.njit(nogil=True, cache=True, forceinline=True)
def same_bytes(a, a_start, b, b_start, length):
    """Tell whether two spans hold the same bytes."""
    done = 0
    while done + 8 <= length:
        if load64(a, a_start + done) != load64(b, b_start + done):
            return False
        done += 8
    for i in range(done, length):
        if a[a_start + i] != b[b_start + i]:
            return False
    return True


@numba.njit(nogil=True, cache=True, forceinline=True)
def find_slot(slots, pool, ends, buffer, start, end, hashed):
    """Give the slot that holds a text, or the free one where it belongs."""
    mask = np.uint64(slots.size - 1)
    slot = hashed & mask
    while slots[slot] != 0:
        if slots[slot] >> np.uint64(32) == hashed:
            number = np.int64(slots[slot] & np.uint64(0xFFFFFFFF)) - 1
            begin = ends[number - 1] if number else 0
            if ends[number] - begin == end - start and same_bytes(pool, begin, buffer, start, end - start):
                break
        slot = slot + np.uint64(1) & mask
    return slot


@numba.njit(nogil=True, cache=True)
def grow_slots(slots):
    """Give a table of twice the size with the same content."""
    larger = np.zeros(slots.size * 2, np.uint64)
    mask = np.uint64(larger.size - 1)
    for entry in slots:
        if entry != 0:
            slot = entry >> np.uint64(32) & mask
            while larger[slot] != 0:
                slot = slot + np.uint64(1) & mask
            larger[slot] = entry
    return larger


@numba.njit(nogil=True, cache=True)
def grow(array, needed):
    """Give an array with room for at least so many elements."""
    if needed <= array.size:
        return array
    larger = np.empty(max(needed, array.size * 3 // 2), array.dtype)
    larger[: array.size] = array
    return larger


@numba.njit(nogil=True, cache=True, forceinline=True)
def text_start(starts, lengths, row, column):
    """Give where one text of a row starts."""
    at = np.int64(starts[row])
    for i in range(column):
        at += np.int64(lengths[row, i])
    return at


@numba.njit(nogil=True, cache=True, forceinline=True)
def hash_batch(text, starts, lengths, column, row, slots, hashes):
    """Hash the next texts and ask for their slots: all of them come from memory at the same time."""
    for i in range(min(BATCH, starts.size - row)):
        start = text_start(starts, lengths, row + i, column)
        hashes[i] = hash_bytes(text, start, start + np.int64(lengths[row + i, column]))
        prefetch(slots, np.int64(hashes[i] & np.uint64(slots.size - 1)))


@numba.njit(nogil=True, cache=True)
def number_column(text, starts, lengths, column, count, table, numbers):
    """Number one text of each row, on top of the first texts of a table; empty ones get -1.

    The table is (slots, pool, ends); it is given back, with its count in front, for more rows to go on with.
    """
    slots, pool, ends = table
    text, starts, lengths, numbers = borrow(text), borrow(starts), borrow(lengths), borrow(numbers)
    size = ends[count - 1] if count else 0
    hashes = np.empty(BATCH, np.uint64)
    for row in range(starts.size):
        if row % BATCH == 0:
            hash_batch(text, starts, lengths, column, row, borrow(slots), borrow(hashes))
        length = np.int64(lengths[row, column])
        if length == 0:
            numbers[row] = -1
            continue
        start = text_start(starts, lengths, row, column)
        hashed = hashes[row % BATCH]
        slot = find_slot(borrow(slots), borrow(pool), borrow(ends), text, start, start + length, hashed)
        if slots[slot] == 0:
            pool = grow(pool, size + length)
            for i in range(length):
                pool[size + i] = text[start + i]
            size += length
            ends = grow(ends, count + 1)
            ends[count] = size
            count += 1
            slots[slot] = hashed << np.uint64(32) | np.uint64(count)
            numbers[row] = count - 1
            if count * 2 > slots.size:
                slots = grow_slots(slots)
        else:
            numbers[row] = np.int64(slots[slot] & np.uint64(0xFFFFFFFF)) - 1
    return count, (slots, pool, ends)


def empty_table(
    rows: int, text_bytes: int
) -> tuple[NDArray[np.uint64], NDArray[np.uint8], NDArray[np.int64]]:
    """Make a table with room for so many rows and bytes; memory that is not used is never claimed."""
    slots = max(FIRST_SLOTS, 1 << (rows // 2).bit_length())
    return np.zeros(slots, np.uint64), np.empty(text_bytes, np.uint8), np.empty(rows, np.int64)


@numba.njit(nogil=True, cache=True)
def renumber(numbers, picked, count, out):
    """Number anew in the order in which rows are picked, -1 for a row or number of -1.

    Reading a dump's texts in the order of the dump is what makes numbering fast; this makes the result
    independent of that order. Gives the old number of each new one, and the row that first had it.
    """
    new = np.full(count, -1, np.int64)
    order = np.empty(count, np.int64)
    firsts = np.empty(count, np.int64)
    used = 0
    for i in range(picked.size):
        old = np.int64(numbers[picked[i]]) if picked[i] >= 0 else -1
        if old >= 0 and new[old] < 0:
            new[old] = used
            order[used], firsts[used] = old, picked[i]
            used += 1
        out[i] = new[old] if old >= 0 else -1
    return order[:used], firsts[:used]
