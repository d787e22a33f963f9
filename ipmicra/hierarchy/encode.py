"""Encode sections as the bytes of a hierarchy file.

The header contains the offsets and hashes of all sections, so everything is laid out and hashed first and
written afterwards. `pieces` then yields header, gaps and sections in file order without joining them: a
file of gigabytes is never in memory a second time. The same sections and metadata give the same bytes on
any machine; no clock is read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ipmicra.hierarchy import format as names
from ipmicra.hierarchy.digest import content_hash, section_digest
from ipmicra.hierarchy.format import ALIGNMENT, ENTRY, HEADER, Section, encode_header


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """A hierarchy file, ready to be written."""

    content_hash: bytes
    header: bytes
    layout: tuple[Section, ...]
    parts: dict[str, NDArray[Any]]

    def pieces(self) -> Iterator[memoryview | bytes]:
        """Yield the file from its first byte to its last."""
        yield self.header
        at = len(self.header)
        for section in self.layout:
            yield b"\0" * (section.offset - at)
            yield _bytes_of(self.parts[section.name])
            at = section.offset + section.size


def encode(sections: dict[str, NDArray[Any]], meta: dict[str, Any]) -> Encoded:
    """Hash and lay out sections and metadata."""
    meta_bytes = json.dumps(meta, sort_keys=True).encode()
    parts = {names.META: np.frombuffer(meta_bytes, np.uint8), **sections}
    digests = {name: section_digest(_bytes_of(array)) for name, array in parts.items()}
    layout, size = _lay_out(parts, digests)
    edition = content_hash(digests)
    return Encoded(
        content_hash=edition, header=encode_header(layout, size, edition), layout=tuple(layout), parts=parts
    )


def _bytes_of(array: NDArray[Any]) -> memoryview:
    """Return an array's bytes in little-endian order, without copying on little-endian machines."""
    little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    return little.view(np.uint8).data if little.size else memoryview(b"")


def _lay_out(parts: dict[str, NDArray[Any]], digests: dict[str, bytes]) -> tuple[list[Section], int]:
    """Return the section table and the size of the file."""
    at = HEADER.size + ENTRY.size * len(parts)
    layout = []
    for name, array in parts.items():
        offset = -(-at // ALIGNMENT) * ALIGNMENT
        number_type = f"{array.dtype.kind}{array.dtype.itemsize}".encode()
        layout.append(
            Section(
                name=name, number_type=number_type, offset=offset, size=array.nbytes, digest=digests[name]
            )
        )
        at = offset + array.nbytes
    return layout, at
