"""Remember which texts were seen, by the million, in a temporary file instead of in memory.

Theory of operation
-------------------
The file is a table of 64-bit fingerprints with open addressing, as `Fingerprints` has it in memory. The slot
of a number is given by its highest bits, and a number whose slot is taken goes into the next empty one. So
the file is sorted, apart from numbers within a run of taken slots, and the last run may reach beyond the
table: reading behind the end of the file reads empty slots, and writing there extends it.

A full table is doubled by reading it from the beginning to the end and writing another one: the numbers of
the runs read so far come first in the new table, too. Hence a block of each is all that is ever in memory.

Two of n texts are confused with a probability of n² ÷ 2^65.
"""

from __future__ import annotations

import os
import struct
import tempfile
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from ipmicra.errors import IpmicraError
from ipmicra.partition.exchange.visited import fingerprint

_WORD = 8
_BITS = 64
_WINDOW = struct.Struct("<16Q")
"""Slots that are read at a time: most runs are shorter."""
_NUMBER = np.dtype("<u8")
_FULL = 0.6
"""Share of slots in use above which the table is doubled."""
_FIRST_BITS = 16
_BLOCK = 1 << 20
"""Bytes that are read at a time when the table is doubled."""


class FingerprintFile:
    """A set of texts: 13 to 27 bytes of disk for each, and no memory."""

    def __init__(self, first_bits: int = _FIRST_BITS) -> None:
        """Start empty, with two to the power of `first_bits` slots."""
        self._bits = first_bits
        self._count = 0
        self._file = _temporary()

    def __len__(self) -> int:
        """Count the texts."""
        return self._count

    def add(self, text: str) -> bool:
        """Add a text; return whether it is new."""
        number = fingerprint(text)
        slot, descriptor = number >> _BITS - self._bits, self._file.fileno()
        while True:
            window = os.pread(descriptor, _WINDOW.size, slot * _WORD)
            for found in _WINDOW.unpack(window.ljust(_WINDOW.size, b"\0")):
                if found == number:
                    return False
                if not found:
                    self._put(number, slot)
                    return True
                slot += 1

    def close(self) -> None:
        """Remove the file."""
        self._file.close()

    def _put(self, number: int, slot: int) -> None:
        _write(self._file, number.to_bytes(_WORD, "little"), slot)
        self._count += 1
        if self._count > _FULL * (1 << self._bits):
            self._grow()

    def _grow(self) -> None:
        old, self._file = self._file, _temporary()
        self._bits += 1
        free, offset, rest = 0, 0, np.empty(0, _NUMBER)
        with old:
            while block := os.pread(old.fileno(), _BLOCK, offset):
                offset += len(block)
                numbers = np.concatenate((rest, np.frombuffer(block, _NUMBER)))
                empty = np.flatnonzero(numbers == 0)
                end = int(empty[-1]) + 1 if empty.size else 0  # a run that is not over waits for its rest
                free, rest = self._append(numbers[:end], free), numbers[end:]
        self._append(rest, free)

    def _append(self, numbers: NDArray[np.uint64], free: int) -> int:
        """Write whole runs behind those before, whose end is `free`; return their end.

        A number goes into its slot or behind the one before: slots 3, 3, 3, 9 become places 3, 4, 5, 9. Less
        their index that is 3, 3, 3, 6, the greatest of 3, 2, 1, 6 so far.
        """
        numbers = np.sort(numbers[numbers != 0])
        if not numbers.size:
            return free
        slots, index = (numbers >> np.uint64(_BITS - self._bits)).astype(np.int64), np.arange(numbers.size)
        places = index + np.maximum.accumulate(np.maximum(slots - index, free))
        first, last = int(places[0]), int(places[-1])
        table = np.zeros(last - first + 1, _NUMBER)
        table[places - first] = numbers
        _write(self._file, table.tobytes(), first)
        return last + 1


def _temporary() -> BinaryIO:
    try:
        return tempfile.TemporaryFile(buffering=0)
    except OSError as error:
        raise _without_room(error) from error


def _write(file: BinaryIO, data: bytes, slot: int) -> None:
    try:
        os.pwrite(file.fileno(), data, slot * _WORD)
    except OSError as error:
        raise _without_room(error) from error


def _without_room(error: OSError) -> IpmicraError:
    return IpmicraError(
        f"cannot write a temporary file to {tempfile.gettempdir()}: {error.strerror}; "
        "make room, or name another folder by TMPDIR"
    )
