"""Looking up many addresses at once."""

from __future__ import annotations

import numba
import numpy as np

from ipmicra.parse.kernels.bytescan import prefetch

TABLE_BITS = 24
"""First bits of an address that are looked up in a table: a /24 mostly belongs to one subnet."""
DIRECT = np.uint32(1 << 31)
"""Marks entries of the table that are a row rather than a segment."""
ROW = np.uint32((1 << 31) - 1)
LOW = np.uint64(0xFFFFFFFF)
BATCH = 64
"""Addresses looked up side by side."""


@numba.njit(nogil=True, cache=True)
def are_sound(segments, rows):
    """Tell whether segments start at 0, ascend strictly and name existing rows."""
    if segments[0] >> np.uint64(32) != 0:
        return False
    previous = np.uint64(0)
    for i in range(segments.size):
        start = segments[i] >> np.uint64(32)
        if (i > 0 and start <= previous) or segments[i] & LOW >= np.uint64(rows):
            return False
        previous = start
    return True


@numba.njit(nogil=True, cache=True)
def fill_table(segments, table):
    """Write for each /24 its row, marked, or else the segment that its first address lies in."""
    current = 0
    for bucket in range(table.size):
        first = np.uint64(bucket) << np.uint64(32 - TABLE_BITS)
        last = first | np.uint64((1 << 32 - TABLE_BITS) - 1)
        while current + 1 < segments.size and segments[current + 1] >> np.uint64(32) <= first:
            current += 1
        if current + 1 < segments.size and segments[current + 1] >> np.uint64(32) <= last:
            table[bucket] = np.uint32(current)
        else:
            table[bucket] = np.uint32(segments[current] & LOW) | DIRECT


@numba.njit(nogil=True, cache=True, forceinline=True)
def _in_segments(segments, entry, address):
    """Give the row of an address whose /24 has several subnets, from the segment that the /24 starts in."""
    key = np.uint64(address) << np.uint64(32) | LOW
    low = np.int64(entry)
    high = min(low + (1 << 32 - TABLE_BITS), segments.size - 1)
    while low < high:
        middle = (low + high + 1) >> 1
        if segments[middle] <= key:
            low = middle
        else:
            high = middle - 1
    return np.uint32(segments[low] & LOW)


@numba.njit(nogil=True, cache=True)
def rows_of(segments, table, addresses, rows):
    """Write the row of the narrowest subnet of each IPv4 address.

    A batch at a time: all of its entries are fetched before the first is looked at, so that the waits for
    memory overlap.
    """
    entries = np.empty(BATCH, np.uint32)
    for start in range(0, addresses.size, BATCH):
        count = min(BATCH, addresses.size - start)
        for i in range(count):
            entries[i] = table[addresses[start + i] >> np.uint32(32 - TABLE_BITS)]
        for i in range(count):
            prefetch(segments, np.int64(entries[i] & ROW))
        for i in range(count):
            if entries[i] & DIRECT:
                rows[start + i] = entries[i] & ROW
            else:
                rows[start + i] = _in_segments(segments, entries[i], addresses[start + i])


@numba.njit(nogil=True, cache=True)
def rows_of_wide(bounds, parent, base, addresses, rows):
    """Write the row of the narrowest subnet of each IPv6 address; tell whether the tree was sound.

    `bounds` is (row, 4), `addresses` is (n, 2); rows start at base. The last subnet that starts at or before
    the address holds it, or one of its ancestors does.
    """
    for i in range(len(addresses)):
        high_word, low_word = addresses[i, 0], addresses[i, 1]
        low, high = 0, len(bounds) - 1
        while low < high:
            middle = (low + high + 1) >> 1
            first = bounds[middle, 0]
            if first < high_word or (first == high_word and bounds[middle, 1] <= low_word):
                low = middle
            else:
                high = middle - 1
        while low > 0 and (
            bounds[low, 2] < high_word or (bounds[low, 2] == high_word and bounds[low, 3] < low_word)
        ):
            above = np.int64(parent[low]) - base
            if above < 0 or above >= low:
                return False
            low = above
        rows[i] = np.uint32(low + base)
    return True
