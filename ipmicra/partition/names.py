"""Host names packed into one buffer of bytes, so that all of them are hashed at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ipmicra.errors import InputError

WORD = 8
"""Bytes that are read at a time; the buffer ends in as many zeros, for the last word to be read whole."""
_SEPARATOR = "\n"
_DOT = ord(".")


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedNames:
    """Many texts in one buffer; text i is `buffer[starts[i]:ends[i]]`, in UTF-8."""

    buffer: NDArray[np.uint8]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]

    @classmethod
    def pack(cls, names: Iterable[str]) -> Self:
        """Pack texts; letters become lower case, since host names are case-insensitive."""
        listed = names if isinstance(names, list | tuple) else list(names)
        text = _SEPARATOR.join(listed).lower().encode()
        padded = np.zeros(len(text) + 1 + WORD, np.uint8)
        padded[: len(text)] = np.frombuffer(text, np.uint8)
        if listed:
            padded[len(text)] = ord(_SEPARATOR)
        ends = np.flatnonzero(padded == ord(_SEPARATOR))
        if len(ends) != len(listed):
            raise InputError("a host name has a line break in it")
        starts = np.zeros(len(ends), np.int64)
        starts[1:] = ends[:-1] + 1
        return cls(buffer=padded, starts=starts, ends=ends)

    def __len__(self) -> int:
        """Count the texts."""
        return len(self.starts)

    def first_labels(self) -> PackedNames:
        """Return the part of each text before its first dot; a text without one stays whole."""
        dots = np.append(np.flatnonzero(self.buffer == _DOT), len(self.buffer))
        first_dot = dots[np.searchsorted(dots, self.starts)]
        return PackedNames(buffer=self.buffer, starts=self.starts, ends=np.minimum(first_dot, self.ends))

    def taken(self, rows: NDArray[np.int64]) -> PackedNames:
        """Return some of the texts, in the same buffer."""
        return PackedNames(buffer=self.buffer, starts=self.starts[rows], ends=self.ends[rows])

    def texts(self) -> list[str]:
        """Unpack all."""
        whole = self.buffer.tobytes()
        pairs = zip(self.starts.tolist(), self.ends.tolist(), strict=True)
        return [whole[start:end].decode() for start, end in pairs]
