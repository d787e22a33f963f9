"""Look up single addresses in plain Python, without loading numpy or a compiler."""

from __future__ import annotations

import socket
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from ipaddress import IPv4Address

from ipmicra.errors import CorruptHierarchyError
from ipmicra.hierarchy import format as names
from ipmicra.hierarchy.sections import Sections
from ipmicra.model.address import AnyAddress, read_any_address

LOW_WORD = (1 << 64) - 1


def ipv4_finder(sections: Sections) -> Callable[[int], int]:
    """Return a function from an IPv4 number to the row of its narrowest subnet."""
    index, segments = sections.view(names.SEGMENT_INDEX), sections.view(names.SEGMENTS)
    rows = sections.layout.sections[names.BOUNDS4].count // 2
    shift = 33 - len(index).bit_length()

    def row_of(address: int) -> int:
        entry = index[address >> shift]
        if entry < rows:
            return entry
        first = (entry & 0xFFFFFFFF) + 1
        try:
            found = bisect_right(segments, address << 32 | 0xFFFFFFFF, first, first + (entry >> 32))
            row = segments[found - 1] & 0xFFFFFFFF
        except IndexError:
            raise _no_segment(sections) from None
        if row < rows:
            return row
        raise _no_segment(sections)

    return row_of


def text_finder(sections: Sections, row_of_any: Callable[[str], int]) -> Callable[[str], int]:
    """Return a function from an address's text to the row of its narrowest subnet.

    The body of `ipv4_finder` is repeated here on purpose: calling it would cost a tenth of the look-up.
    """
    index, segments = sections.view(names.SEGMENT_INDEX), sections.view(names.SEGMENTS)
    rows = sections.layout.sections[names.BOUNDS4].count // 2
    shift = 33 - len(index).bit_length()
    family, to_bytes, to_number = socket.AF_INET, socket.inet_pton, int.from_bytes

    def row_of(text: str) -> int:
        try:
            address = to_number(to_bytes(family, text), "big")
        except (OSError, TypeError, ValueError):
            return row_of_any(text)
        entry = index[address >> shift]
        if entry < rows:
            return entry
        first = (entry & 0xFFFFFFFF) + 1
        try:
            found = bisect_right(segments, address << 32 | 0xFFFFFFFF, first, first + (entry >> 32))
            row = segments[found - 1] & 0xFFFFFFFF
        except IndexError:
            raise _no_segment(sections) from None
        if row < rows:
            return row
        raise _no_segment(sections)

    return row_of


def _no_segment(sections: Sections) -> CorruptHierarchyError:
    offset = sections.layout.sections[names.SEGMENT_INDEX].offset
    return CorruptHierarchyError(offset, "the index does not point to a segment or a subnet")


class Finder:
    """Looks up single addresses in one hierarchy."""

    def __init__(self, sections: Sections) -> None:
        """Look up in the given sections."""
        self._sections = sections
        self._row4 = ipv4_finder(sections)
        bounds = sections.view(names.BOUNDS6)
        self._highs, self._lows = bounds[::4], bounds[1::4]
        self._bounds = bounds
        self._parent = sections.view(names.PARENT)
        self.base6 = sections.layout.sections[names.BOUNDS4].count // 2

    def row_of(self, address: AnyAddress) -> int:
        """Return the row of the narrowest subnet; a number is an IPv4 address."""
        parsed = read_any_address(address)
        return self._row4(int(parsed)) if isinstance(parsed, IPv4Address) else self._row6(int(parsed))

    def _row6(self, address: int) -> int:
        """Find the last subnet that starts at or before an address, then climb to one that contains it."""
        high, low = address >> 64, address & LOW_WORD
        behind = bisect_right(self._highs, high)
        if behind and self._highs[behind - 1] == high:
            start = bisect_left(self._highs, high, 0, behind)
            behind = bisect_right(self._lows, low, start, behind)
        row = max(behind - 1, 0)
        while row > 0 and address > (self._bounds[4 * row + 2] << 64 | self._bounds[4 * row + 3]):
            above = self._parent[row + self.base6] - self.base6
            if not 0 <= above < row:
                raise CorruptHierarchyError(
                    self._sections.layout.sections[names.PARENT].offset, "a parent follows its child"
                )
            row = above
        return row + self.base6
