"""Rows of single addresses; a few look-ups need no numpy."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Address
from typing import NoReturn

from ipmicra.errors import CorruptHierarchyError
from ipmicra.hierarchy import format as names
from ipmicra.hierarchy.sections import Sections
from ipmicra.model.address import AnyAddress, read_any_address
from ipmicra.native import kernels

LOW_WORD = (1 << 64) - 1
MAPPED = 0xFFFF << 32
"""What IPv4 addresses have before them as IPv6 addresses, `::ffff:0:0/96`."""
_READ = (names.SEGMENT_INDEX, names.SEGMENTS, names.BOUNDS6, names.PARENT)
_FAULTS = {
    2: (names.SEGMENT_INDEX, "the index points to no segment or no subnet"),
    3: (names.SEGMENTS, "the segments are not in order"),
    4: (names.PARENT, "the parents do not fit the subnets"),
}
"""What compiled look-ups may find wrong: members of `Soundness` in `native/hierarchy/lookup.h`."""


def new_finder(sections: Sections) -> kernels.Finder:
    """Make the compiled finder over a hierarchy's sections; it has to be closed before they are released."""
    views = [sections.views[name] for name in _READ]
    try:
        index, segments, bounds6, parent = views
        return kernels.Finder(index, segments, bounds6, parent, words_of, _fault_of(sections))
    except BufferError:  # the file lies at an odd place of a larger buffer, where numbers are not aligned
        copies = (memoryview(bytes(view)).cast(view.format) for view in views)  # type: ignore[call-overload]
        index, segments, bounds6, parent = copies
        return kernels.Finder(index, segments, bounds6, parent, words_of, _fault_of(sections))


def words_of(address: AnyAddress) -> tuple[int, int]:
    """Return high and low word of an address in any form; IPv4 as IPv4-mapped IPv6, a number as IPv4."""
    parsed = read_any_address(address)
    return (0, MAPPED | int(parsed)) if isinstance(parsed, IPv4Address) else divmod(int(parsed), LOW_WORD + 1)


def _fault_of(sections: Sections) -> Callable[[int], NoReturn]:
    """Make the function that raises what compiled code found wrong."""
    layout = sections.layout

    def raise_fault(code: int) -> NoReturn:
        section, reason = _FAULTS[code]
        raise CorruptHierarchyError(layout.sections[section].offset, reason)

    return raise_fault
