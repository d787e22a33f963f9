"""Read the organisations of a hierarchy by number, by handle, or by words in their names."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache

from ipmicra.errors import CorruptHierarchyError
from ipmicra.hierarchy import format as names
from ipmicra.hierarchy.sections import Sections, read_text
from ipmicra.model.organisation import HolderEvidence, Organisation
from ipmicra.model.registry import Registry

FIXED_BYTES = 4
"""Evidence, registry and two letters of country before the texts of a record."""


class Organisations:
    """Reads organisation records; numbers count from 1."""

    def __init__(self, sections: Sections) -> None:
        """Read from the given sections."""
        self._at = sections.views[names.ORGANISATION_AT]
        self._records = sections.views[names.ORGANISATIONS]
        self._offset = sections.layout.sections[names.ORGANISATIONS].offset

    def __len__(self) -> int:
        """Count the organisations."""
        return len(self._at)

    def __getitem__(self, number: int) -> Organisation:
        """Read one organisation."""
        if not 1 <= number <= len(self._at):
            raise CorruptHierarchyError(self._offset, f"there is no organisation {number}")
        at = self._at[number - 1]
        if at + FIXED_BYTES > len(self._records):
            raise CorruptHierarchyError(self._offset, f"organisation {number} lies outside its section")
        evidence, registry, *letters = self._records[at : at + FIXED_BYTES]
        handle, at = read_text(self._records, at + FIXED_BYTES)
        name, at = read_text(self._records, at)
        address, at = read_text(self._records, at)
        try:
            return Organisation(
                number=number,
                handle=handle or None,
                name=name or None,
                address=address or None,
                country=bytes(letters).decode("ascii", "replace") if letters[0] else None,
                registry=Registry(registry),
                evidence=HolderEvidence(evidence),
            )
        except ValueError as error:
            raise CorruptHierarchyError(self._offset, f"organisation {number}: {error}") from error

    def search(self, query: str) -> Iterator[Organisation]:
        """Yield organisations whose handle or name contains a text, ignoring case."""
        pattern = _pattern(query)
        wanted = query.casefold()
        position = 0
        while (match := pattern.search(self._records, position)) is not None:
            number = bisect_right(self._at, match.start())
            if number == 0:
                return
            organisation = self[number]
            if any(wanted in (text or "").casefold() for text in (organisation.handle, organisation.name)):
                yield organisation
            position = max(self._at[number] if number < len(self._at) else 0, match.start() + 1)
            if number == len(self._at) or position >= len(self._records):
                return

    def by_handle(self, handle: str) -> list[Organisation]:
        """Return the organisations with exactly this handle; registries may use the same one."""
        wanted = handle.casefold()
        if not wanted:
            return []
        return [found for found in self.search(handle) if (found.handle or "").casefold() == wanted]


def _pattern(query: str) -> re.Pattern[bytes]:
    """Return a pattern that matches UTF-8 text ignoring case, even where cases differ in length."""
    parts = [b"".join(_one_of(_forms(letter)) for letter in part) for part in query.casefold().split("ss")]
    return re.compile((_one_of({"ß", "ẞ"}, _one_of(_forms("s")) * 2)).join(parts))


def _one_of(texts: set[str], *patterns: bytes) -> bytes:
    """Return a pattern that matches any of some texts and patterns."""
    escaped = [re.escape(text.encode("utf-8", "surrogatepass")) for text in sorted(texts)]
    return b"(?:" + b"|".join([*patterns, *escaped]) + b")"


def _forms(letter: str) -> set[str]:
    """Return all letters that are equal when case is ignored."""
    if letter.isascii():
        return {letter, letter.upper()}
    return _folded().get(letter, set()) | {letter, letter.upper()}


@cache
def _folded() -> dict[str, set[str]]:
    """Group the letters outside ASCII by their case-folded form; sigma, for one, has three."""
    forms: dict[str, set[str]] = {}
    for letter in map(chr, range(0x80, 0x10000)):
        if (folded := letter.casefold()) != letter:
            forms.setdefault(folded, set()).add(letter)
    return forms
