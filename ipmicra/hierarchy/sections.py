"""Views of a hierarchy's sections over any buffer, and the texts in its pools."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from ipmicra.errors import CorruptHierarchyError, HierarchyError
from ipmicra.hierarchy.digest import content_hash, section_digest
from ipmicra.hierarchy.format import NUMBER_TYPES, Section, read_layout

if TYPE_CHECKING:
    from numpy.typing import NDArray

LENGTH_BYTES = 3
"""A text's length takes at most so many bytes."""


class Sections:
    """A hierarchy's bytes, checked once and handed out section by section. Nothing is copied."""

    def __init__(self, buffer: memoryview) -> None:
        """Check header and table."""
        if sys.byteorder != "little":
            message = "hierarchy files are read on little-endian machines only"
            raise HierarchyError(message)
        self.layout = read_layout(buffer)
        self._buffer = buffer
        self._views: dict[str, memoryview] = {}
        self._arrays: dict[str, NDArray[Any]] = {}

    def view(self, name: str) -> memoryview:
        """Give a section as a sequence of whole numbers."""
        view = self._views.get(name)
        if view is None:
            section = self.layout.sections[name]
            view = self._bytes(section).cast(NUMBER_TYPES[section.number_type])  # type: ignore[call-overload]
            self._views[name] = view
        return view

    def array(self, name: str) -> NDArray[Any]:
        """Give a section as an array that cannot be written to."""
        array = self._arrays.get(name)
        if array is None:
            import numpy as np

            section = self.layout.sections[name]
            array = np.frombuffer(self._bytes(section), "<" + section.number_type.decode())
            array.flags.writeable = False
            self._arrays[name] = array
        return array

    def damaged(self) -> list[Section]:
        """Hash every section; give those whose bytes are not what was written."""
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
        """See that nothing is written between the sections."""
        at = self.layout.table_end
        for section in sorted(self.layout.sections.values(), key=lambda section: section.offset):
            if any(self._buffer[at : section.offset]):
                raise CorruptHierarchyError(at, f"something is written before section {section.name!r}")
            at = section.offset + section.size

    def release(self) -> None:
        """Let go of the buffer, as far as no array of it is still in use."""
        for view in self._views.values():
            view.release()
        self._views.clear()
        self._arrays.clear()

    def _bytes(self, section: Section) -> memoryview:
        return self._buffer[section.offset : section.offset + section.size]


def read_text(pool: memoryview, at: int) -> tuple[str, int]:
    """Read a text of a pool; give it and the position behind."""
    length = 0
    for i in range(LENGTH_BYTES):
        if at >= len(pool):
            raise CorruptHierarchyError(at, "a text lies outside its pool")
        byte = pool[at]
        at += 1
        length |= (byte & 0x7F) << 7 * i
        if byte < 0x80:  # noqa: PLR2004 - the top bit says that more follows
            break
    if at + length > len(pool):
        raise CorruptHierarchyError(at, "a text runs over the end of its pool")
    return str(pool[at : at + length], "utf-8", "replace"), at + length
