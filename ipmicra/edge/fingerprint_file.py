"""Remember which texts were seen, by the million, in a temporary file instead of in memory.

Theory of operation
-------------------
The file is a table of 64-bit fingerprints with open addressing, as `Fingerprints` has it in memory: a number
goes into the slot that its lowest bits name, or into the next empty one, and from the last slot to the first.

The table is mapped into memory, and texts are added many at a time, by arrays: all numbers look at their
slots at once; those that find themselves were seen, those that find an empty slot write themselves and look
again, because two may have chosen the same one, and the others go on to the next slot. At most 0.6 of the
slots are taken, so a few turns are enough. Each number may touch another page. When so many were added that
16 MB may have been touched, the pages are given back (`MADV_DONTNEED`): they stay in the file, which the
kernel keeps in memory as long as nobody else needs it, and the process stays small. Since a page that comes
back costs more than adding the number, the first table has just this size, good for 1.2 million texts.

A full table is doubled by adding its numbers to one of twice the size, a block at a time. Every slot of a new
table is written, so that a full disk is noticed then, as an error, and not later, in a page of the map.

Two of n texts are confused with a probability of n² ÷ 2^65.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from ipmicra.errors import IpmicraError
from ipmicra.partition.exchange.visited import fingerprint

_WORD = 8
_NUMBER = np.dtype("<u8")
_FULL = 0.6
"""Share of slots in use above which the table is doubled."""
_FIRST_BITS = 21
_RESIDENT = 1 << 24
"""Bytes of a table that may be in memory at a time."""
_BLOCK = 1 << 20
"""Bytes of a table that are written, or added to the next one, at a time."""


class FingerprintFile:
    """A set of texts: 13 to 27 bytes of disk for each, and 16 MB of memory for all of them."""

    def __init__(self, first_bits: int = _FIRST_BITS) -> None:
        """Start empty, with two to the power of `first_bits` slots."""
        self._bits = first_bits
        self._count = 0
        self._touched = 0
        """Bytes that may be in memory."""
        self._open()

    def __len__(self) -> int:
        """Count the texts."""
        return self._count

    def add(self, text: str) -> bool:
        """Add a text; return whether it is new."""
        return self.add_many([text])[0]

    def add_many(self, texts: Sequence[str]) -> list[bool]:
        """Add texts, in order; return for each whether it is new."""
        prints = np.array([fingerprint(text) for text in texts], _NUMBER)
        numbers, first = np.unique(prints, return_index=True)
        while self._count + len(numbers) > _FULL * (1 << self._bits):
            self._grow()
        marks = np.zeros(len(texts), np.bool_)
        marks[first] = self._add(numbers)
        found: list[bool] = marks.tolist()
        return found

    def close(self) -> None:
        """Remove the file."""
        self._slots = np.empty(0, _NUMBER)
        self._map.close()
        self._file.close()

    def _add(self, numbers: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Add numbers that differ; return which are new."""
        last = np.uint64((1 << self._bits) - 1)
        is_new = np.zeros(len(numbers), np.bool_)
        left = np.arange(len(numbers))
        slots = numbers & last
        while left.size:
            wanted = numbers[left]
            found = self._slots[slots]
            is_empty = found == 0
            self._slots[slots[is_empty]] = wanted[is_empty]
            is_new[left[is_empty]] = True
            is_placed = self._slots[slots] == wanted
            is_new[left[is_empty & ~is_placed]] = False  # another one took the slot
            left, slots = left[~is_placed], slots[~is_placed] + np.uint64(1) & last
        self._count += int(is_new.sum())
        self._touched += len(numbers) * mmap.PAGESIZE
        if min(self._touched, len(self._map)) > _RESIDENT:
            _release(self._map)
            self._touched = 0
        return is_new

    def _grow(self) -> None:
        old_slots, old_map, old_file = self._slots, self._map, self._file
        self._bits += 1
        self._count = 0
        self._open()
        step = max(1, _BLOCK // _WORD)
        for start in range(0, len(old_slots), step):
            block = old_slots[start : start + step]
            self._add(block[block != 0])
            _release(old_map)
        old_slots = block = np.empty(0, _NUMBER)  # a map with arrays over it cannot be closed
        old_map.close()
        old_file.close()

    def _open(self) -> None:
        """Begin an empty table."""
        try:
            self._file, self._map = _empty_table(_WORD << self._bits)
        except OSError as error:
            raise _without_room(error) from error
        self._slots = np.frombuffer(self._map, _NUMBER)


def _empty_table(size: int) -> tuple[BinaryIO, mmap.mmap]:
    """Make a file of zeros, and map it."""
    with ExitStack() as stack:
        file: BinaryIO = stack.enter_context(tempfile.TemporaryFile(buffering=0))
        for start in range(0, size, _BLOCK):
            os.pwrite(file.fileno(), bytes(min(_BLOCK, size - start)), start)
        table = mmap.mmap(file.fileno(), size)
        stack.pop_all()
    return file, table


def _release(table: mmap.mmap) -> None:
    """Release the pages of a table; they are read from the file when they are needed."""
    if hasattr(mmap, "MADV_DONTNEED"):
        table.madvise(mmap.MADV_DONTNEED)


def _without_room(error: OSError) -> IpmicraError:
    return IpmicraError(
        f"cannot write a temporary file to {tempfile.gettempdir()}: {error.strerror}; "
        "make room, or name another folder by TMPDIR"
    )
