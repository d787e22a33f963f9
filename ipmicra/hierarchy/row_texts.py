"""Texts of many rows: the numbers by which a hierarchy stores them, and the text behind each number."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ipmicra.errors import CorruptHierarchyError
from ipmicra.hierarchy import format as names
from ipmicra.hierarchy.organisations import Organisations
from ipmicra.hierarchy.sections import Sections, read_text
from ipmicra.model.registry import Registry

if TYPE_CHECKING:
    from numpy.typing import NDArray

TEXTS = ("netname", "organisation", "registry", "country", "status")
"""What rows have texts of."""


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

    def numbers(self, what: str, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the number of each row's text; all rows must exist."""
        found: NDArray[Any] = self._sections.array(what)[rows]
        return found

    def text(self, what: str, number: int) -> str | None:
        """Return the text behind a number; None if there is none."""
        return self._readers[what](number)

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
