"""Encode sections as the bytes of a hierarchy file.

Theory of operation
-------------------
Where each section lies follows from the sizes alone. The header needs the hashes of all sections as well, and
hashing a large hierarchy takes about as long as writing it. So an `Encoded` hands out two things that may be
asked for at the same time, by different threads: `body`, the sections with their places, and `header`, which
hashes them. Nothing is joined or copied: a file of gigabytes is never in memory a second time.

The same sections and metadata give the same bytes on any machine; no clock is read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ipmicra.hierarchy import format as names
from ipmicra.hierarchy.digest import content_hash, section_digest
from ipmicra.hierarchy.format import ALIGNMENT, ENTRY, HEADER, Section, encode_header


class Encoded:
    """A hierarchy file, ready to be written."""

    def __init__(self, sections: dict[str, NDArray[Any]], meta: dict[str, Any]) -> None:
        """Lay sections and metadata out behind each other."""
        meta_bytes = json.dumps(meta, sort_keys=True).encode()
        self._parts = {names.META: np.frombuffer(meta_bytes, np.uint8), **sections}
        self._offsets: dict[str, int] = {}
        at = HEADER.size + ENTRY.size * len(self._parts)
        for name, array in self._parts.items():
            self._offsets[name] = -(-at // ALIGNMENT) * ALIGNMENT
            at = self._offsets[name] + array.nbytes
        self.size = at
        """Bytes of the whole file."""

    def body(self) -> Iterator[tuple[int, memoryview]]:
        """Yield the offset and the bytes of each section; what lies between them is zero."""
        for name, array in self._parts.items():
            yield self._offsets[name], _bytes_of(array)

    @cached_property
    def header(self) -> bytes:
        """Header and table of sections, the first bytes of the file."""
        table = [
            Section(
                name=name,
                number_type=f"{array.dtype.kind}{array.dtype.itemsize}".encode(),
                offset=self._offsets[name],
                size=array.nbytes,
                digest=self._digests[name],
            )
            for name, array in self._parts.items()
        ]
        return encode_header(table, self.size, self.content_hash)

    @cached_property
    def content_hash(self) -> bytes:
        """Hash that identifies the content, without the metadata about its origin."""
        return content_hash(self._digests)

    @cached_property
    def _digests(self) -> dict[str, bytes]:
        return {name: section_digest(_bytes_of(array)) for name, array in self._parts.items()}

    def __bytes__(self) -> bytes:
        """Return the whole file."""
        whole = bytearray(self.size)
        whole[: len(self.header)] = self.header
        for offset, piece in self.body():
            whole[offset : offset + len(piece)] = piece
        return bytes(whole)


def _bytes_of(array: NDArray[Any]) -> memoryview:
    """Return an array's bytes in little-endian order, without copying on little-endian machines."""
    little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    return little.view(np.uint8).data if little.size else memoryview(b"")
