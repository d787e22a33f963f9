"""Keys that know nothing of the network: SHA-1 of names, as hash-based systems use them."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

_BITS = 48
"""Bits of one number: three of them fit into a digest's 160 bits, and a float holds each exactly."""


def hashed_points(names: list[str], dimensions: int) -> NDArray[np.float64]:
    """Return a point of the unit cube for each name, of three dimensions at most."""
    digests = [hashlib.sha1(name.encode(), usedforsecurity=False).digest() for name in names]
    width = _BITS // 8
    numbers = [
        [int.from_bytes(digest[i * width : (i + 1) * width]) for i in range(dimensions)] for digest in digests
    ]
    return np.array(numbers, dtype=np.float64).reshape(len(names), dimensions) / 2.0**_BITS
