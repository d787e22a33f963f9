"""Where to start searching for an address: one entry for each value of its first bits."""

from __future__ import annotations

import numba
import numpy as np

from ipmicra.parse.kernels.bytescan import borrow


@numba.njit(nogil=True, cache=True)
def index_segments(segments, shift, out):
    """Write for each bucket of 2**shift addresses its row, or count << 32 | the segment it begins in."""
    segments, out = borrow(segments), borrow(out)
    at = 0
    for bucket in range(out.size):
        edge = np.uint64(bucket) << np.uint64(shift)
        while at + 1 < segments.size and segments[at + 1] >> np.uint64(32) <= edge:
            at += 1
        first = at
        last = edge | (np.uint64(1) << np.uint64(shift)) - np.uint64(1)
        while at + 1 < segments.size and segments[at + 1] >> np.uint64(32) <= last:
            at += 1
        if at == first:
            out[bucket] = segments[at] & np.uint64(0xFFFFFFFF)
        else:
            out[bucket] = np.uint64(at - first) << np.uint64(32) | np.uint64(first)
