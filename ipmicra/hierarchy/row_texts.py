"""Texts of many rows: the numbers by which a hierarchy stores them, and the text behind each number."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address
from typing import TYPE_CHECKING, Any

from ipmicra.errors import CorruptHierarchyError
from ipmicra.hierarchy import format as names
from ipmicra.hierarchy.organisations import Organisations
from ipmicra.hierarchy.sections import Sections, read_text
from ipmicra.model.address import range_text
from ipmicra.model.registry import Registry
from ipmicra.native import kernels

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TEXTS = ("netname", "organisation", "registry", "country", "status")
"""What rows have texts of."""

LABEL_BYTES, NAME_BYTES = 20, 16
"""Room for a text at first; there is more when that is full."""
LONGEST_BYTES = 128
"""What compiled code wants to be free, and a bit more."""
Texts = tuple["NDArray[np.int32]", "NDArray[np.uint8]"]
"""Texts as Arrow keeps them: where each begins and the last ends, and the bytes of all in UTF-8."""


class RowTexts:
    """Reads the texts of rows; rows of one text mostly have one number, so that few texts are read."""

    def __init__(self, sections: Sections) -> None:
        """Read from the sections of a hierarchy; nothing is read yet."""
        self._sections = sections
        self._organisations = Organisations(sections)
        self._readers: dict[str, Callable[[int], str | None]] = {
            "netname": self._name,
            "organisation": lambda number: self._organisations[number].label if number else None,
            "registry": self._registry,
            "country": self._country,
            "status": lambda code: self._name(self._listed(names.STATUSES, code)),
        }

    def numbers(self, what: str, rows: NDArray[Any] | list[int]) -> NDArray[Any]:
        """Return the number of each row's text; all rows must exist."""
        found: NDArray[Any] = self._sections.array(what)[rows]
        return found

    def text(self, what: str, number: int) -> str | None:
        """Return the text behind a number; None if there is none."""
        return self._readers[what](number)

    def labels(self, rows: NDArray[np.uint32]) -> Texts:
        """Write rows as prefixes, or as first and last address; no two have the same."""
        bounds4, bounds6 = self._sections.array(names.BOUNDS4), self._sections.array(names.BOUNDS6)
        return _joined(
            len(rows),
            LABEL_BYTES * len(rows),
            lambda at, edges, data: kernels.write_labels(bounds4, bounds6, rows, at, edges, data),
            lambda at: self._label(int(rows[at])),
        )

    def names(self, places: NDArray[np.uint32]) -> Texts:
        """Read the names behind numbers of netnames; 0 stands for an empty one."""
        pool = self._sections.views[names.NAMES]
        return _joined(
            len(places),
            NAME_BYTES * len(places),
            lambda at, edges, data: kernels.write_names(pool, places, at, edges, data),
            lambda at: self._name(int(places[at])) or "",
        )

    def _label(self, row: int) -> str:
        narrow = self._sections.array(names.BOUNDS4).reshape(-1, 2)
        if row < len(narrow):
            return range_text(*(IPv4Address(int(end)) for end in narrow[row]))
        ends = self._sections.array(names.BOUNDS6).reshape(-1, 2, 2)[row - len(narrow)]
        return range_text(*(IPv6Address(int(high) << 64 | int(low)) for high, low in ends))

    def _name(self, at: int) -> str | None:
        return read_text(self._sections.views[names.NAMES], at)[0] or None if at else None

    def _country(self, code: int) -> str | None:
        letters = self._listed(names.COUNTRIES, code)
        return chr(letters >> 8) + chr(letters & 0xFF) if letters else None

    def _registry(self, number: int) -> str | None:
        try:
            return Registry(number).label
        except ValueError as error:
            offset = self._sections.layout.sections[names.REGISTRY].offset
            raise CorruptHierarchyError(offset, str(error)) from error

    def _listed(self, section: str, code: int) -> int:
        known = self._sections.views[section]
        if code >= len(known):
            offset = self._sections.layout.sections[section].offset
            raise CorruptHierarchyError(offset, f"{section} {code} is not listed")
        return int(known[code])


def _joined(
    count: int,
    room: int,
    write: Callable[[int, NDArray[np.int32], NDArray[np.uint8]], int],
    read: Callable[[int], str],
) -> Texts:
    """Let compiled code write texts; `read` returns those in front of which it stops."""
    import numpy as np

    edges, data = np.zeros(count + 1, np.int32), np.empty(room + LONGEST_BYTES, np.uint8)
    at = write(0, edges, data)
    while at < count:
        text, begin = np.frombuffer(read(at).encode(), np.uint8), int(edges[at])
        end = begin + len(text)
        if end + LONGEST_BYTES > len(data):
            data = np.concatenate([data[:begin], np.empty(end + LONGEST_BYTES + len(data) // 2, np.uint8)])
        data[begin:end], edges[at + 1] = text, end
        at = write(at + 1, edges, data)
    return edges, data[: edges[-1]]
