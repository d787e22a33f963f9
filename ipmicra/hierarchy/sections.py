"""View a hierarchy's sections in any buffer, and read texts from its pools."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from ipmicra.errors import CorruptHierarchyError, HierarchyError
from ipmicra.hierarchy.digest import content_hash, section_digest
from ipmicra.hierarchy.format import GEO_ROWS, NUMBER_TYPES, POSTAL, Section, read_layout

if TYPE_CHECKING:
    from numpy.typing import NDArray

LENGTH_BYTES = 3
"""Maximum number of bytes that encode a text's length."""


class Sections:
    """The sections of a hierarchy, checked once; views and arrays copy nothing."""

    def __init__(self, buffer: memoryview) -> None:
        """Check header and table."""
        if sys.byteorder != "little":
            message = "hierarchy files are read on little-endian machines only"
            raise HierarchyError(message)
        self.layout = read_layout(buffer)
        self._buffer = buffer
        self.views: dict[str, memoryview] = {
            name: self._bytes(section).cast(NUMBER_TYPES[section.number_type])  # type: ignore[call-overload]
            for name, section in self.layout.sections.items()
        }
        """Each section as a sequence of integers; making a view reads nothing."""
        if POSTAL not in self.views:  # version 1: no subnet has a postal address
            self.views[POSTAL] = memoryview(bytes(4 * len(self.views[GEO_ROWS]))).cast("I")
        self._arrays: dict[str, NDArray[Any]] = {}

    def array(self, name: str) -> NDArray[Any]:
        """Return a section as a read-only array."""
        array = self._arrays.get(name)
        if array is None:
            import numpy as np

            section = self.layout.sections[name]
            array = np.frombuffer(self._bytes(section), "<" + section.number_type.decode())
            array.flags.writeable = False
            self._arrays[name] = array
        return array

    def damaged(self) -> list[Section]:
        """Hash every section and return those whose bytes have changed."""
        found = []
        digests = {}
        for name, section in self.layout.sections.items():
            digests[name] = section_digest(self._bytes(section))
            if digests[name] != section.digest:
                found.append(section)
        if not found and content_hash(digests) != self.layout.content_hash:
            raise CorruptHierarchyError(0, "the content hash is not that of the sections")
        self._check_gaps()
        return found

    def _check_gaps(self) -> None:
        """Check that the gaps between sections are zero."""
        at = self.layout.table_end
        for section in sorted(self.layout.sections.values(), key=lambda section: section.offset):
            if any(self._buffer[at : section.offset]):
                raise CorruptHierarchyError(at, f"something is written before section {section.name!r}")
            at = section.offset + section.size

    def release(self) -> None:
        """Release the buffer, except where arrays of it are still in use."""
        for view in self.views.values():
            view.release()
        self.views.clear()
        self._arrays.clear()

    def _bytes(self, section: Section) -> memoryview:
        return self._buffer[section.offset : section.offset + section.size]


def read_text(pool: memoryview, at: int) -> tuple[str, int]:
    """Read a text from a pool; return it and the position after it."""
    length = 0
    for i in range(LENGTH_BYTES):
        if at >= len(pool):
            raise CorruptHierarchyError(at, "a text lies outside its pool")
        byte = pool[at]
        at += 1
        length |= (byte & 0x7F) << 7 * i
        if byte < 0x80:  # noqa: PLR2004 - the top bit means that more bytes follow
            break
    if at + length > len(pool):
        raise CorruptHierarchyError(at, "a text runs over the end of its pool")
    return str(pool[at : at + length], "utf-8", "replace"), at + length
