"""A hash of host names that is the same on every machine and in every run, for one name or millions.

Eight bytes are mixed in at a time, the last ones padded with zeros; the length goes in first, so that padding
cannot make two names equal. Python's own `hash` is different in every process and is never used.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ipmicra.partition.names import WORD, PackedNames

ROUND = 0x9E3779B97F4A7C15
"""2^64 ÷ golden ratio, odd: spreads neighbouring values over all bits (Knuth's multiplicative hashing)."""
FINISH = 0xBF58476D1CE4E5B9
"""Multiplier of the last mix; of splitmix64 (Steele, Lea & Flood 2014)."""
_ALL = (1 << 64) - 1
_FOLD, _HALF = 29, 32
_MASKS = np.array([(1 << (8 * count)) - 1 for count in range(WORD + 1)], np.uint64)


def hash_one(name: str) -> int:
    """Hash one name to 64 bits; letters count as lower case."""
    text = name.lower().encode()
    mixed = len(text) * ROUND & _ALL
    for at in range(0, len(text), WORD):
        mixed = (mixed ^ int.from_bytes(text[at : at + WORD], "little")) * ROUND & _ALL
        mixed ^= mixed >> _FOLD
    mixed = (mixed ^ mixed >> _HALF) * FINISH & _ALL
    return mixed ^ mixed >> _FOLD


def hash_many(names: PackedNames) -> NDArray[np.uint64]:
    """Hash many names at once: the same values as one by one."""
    lengths = names.ends - names.starts
    words = np.ndarray((len(names.buffer) - WORD + 1,), "<u8", buffer=names.buffer, strides=(1,))
    mixed = lengths.astype(np.uint64) * np.uint64(ROUND)
    for at in range(0, int(lengths.max(initial=0)), WORD):
        live = np.flatnonzero(lengths > at) if at else slice(None)
        left = np.minimum(lengths[live] - at, WORD)
        word = words[names.starts[live] + at] & _MASKS[left]
        folded = (mixed[live] ^ word) * np.uint64(ROUND)
        # a name of no bytes is left out of the first word as well
        mixed[live] = np.where(left > 0, folded ^ folded >> np.uint64(_FOLD), mixed[live])
    mixed = (mixed ^ mixed >> np.uint64(_HALF)) * np.uint64(FINISH)
    finished: NDArray[np.uint64] = mixed ^ mixed >> np.uint64(_FOLD)
    return finished
