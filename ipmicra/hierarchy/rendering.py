"""Look up runs of addresses and render them as lines of CSV or JSON, by compiled code and without numpy.

A run is a piece of a list: the bytes of some lines that are addresses and nothing else. Compiled code renders
the lines that need no escape and stops before any other target, which the caller renders by other means; see
native/hierarchy/render.c.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Self

from ipmicra.hierarchy import format as names
from ipmicra.hierarchy.sections import Sections
from ipmicra.native import kernels

MOST_TARGETS = 1 << 16
"""Addresses of one run; those of a large one are found by tables, which are made once."""
WORTH_NOTES = 64
"""Rows that are noted in the time in which one is searched."""
SECTIONS = (
    *(names.BOUNDS4, names.BOUNDS6, names.PARENT, names.ORGANISATION, names.NETNAME, names.COUNTRY),
    *(names.STATUS, names.REGISTRY, names.DATE, names.COUNTRIES, names.STATUSES, names.NAMES),
    *(names.ORGANISATION_AT, names.ORGANISATIONS, names.GEO_ROWS, names.GEOLOC, names.GEOFEED),
    names.POSTAL,
)
"""What compiled code reads, in the order in which it takes them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """Lines of a list that are addresses and nothing else."""

    data: bytes
    """The lines, perhaps among others."""
    edges: memoryview
    """Where the text of each address starts in them and where it ends: (count, 2) of int64."""
    words: memoryview
    """High and low word of each address, IPv4 as IPv4-mapped IPv6: (count, 2) of uint64."""

    @classmethod
    def read(cls, data: bytes, start: int) -> tuple[Self, int]:
        """Read as many lines from a place on as are addresses; return them and the place behind."""
        most = min(MOST_TARGETS, data.count(b"\n", start))
        edges, words = bytearray(16 * most), bytearray(16 * most)
        count, end = kernels.read_lines(data, start, memoryview(edges).cast("q"), memoryview(words).cast("Q"))
        return cls(data=data, edges=_pairs(edges, "q", count), words=_pairs(words, "Q", count)), end

    def __len__(self) -> int:
        """Count the addresses."""
        return len(self.words)

    def text(self, number: int) -> str:
        """Return an address as it was written."""
        return self.data[self.edges[number, 0] : self.edges[number, 1]].decode("ascii")


class Renderer:
    """Finds and renders runs of targets; lives no longer than its hierarchy."""

    def __init__(self, sections: Sections, finder: kernels.Finder) -> None:
        """Read from the sections of a hierarchy; nothing is read yet."""
        self._sections = tuple(sections.views[name] for name in SECTIONS)
        self._finder = finder
        self._asked = 0
        self._notes = bytearray()

    def rows_of(self, targets: Targets) -> memoryview:
        """Return the row of the narrowest subnet of each target."""
        rows = memoryview(bytearray(4 * len(targets))).cast("I")
        if rows:
            self._finder.rows_of_run(targets.words, rows)
        self._note(len(targets))
        return rows

    def _note(self, asked: int) -> None:
        """Note what is searched for in each row, once so many were asked for that it pays."""
        self._asked += asked
        count = len(self._sections[SECTIONS.index(names.PARENT)])
        if not self._notes and self._asked * WORTH_NOTES >= count:
            notes = bytearray(count)
            with suppress(BufferError):  # as below: then nothing is rendered by compiled code
                kernels.note_rows(self._sections, notes)
                self._notes = notes

    def render(
        self, targets: Targets, rows: memoryview, start: int, out: bytearray, *, is_json: bool
    ) -> tuple[int, int]:
        """Write lines of targets from a place on: CSV with the narrowest subnet, or JSON with the lineage.

        Return the first target that was not rendered, for want of room or because it is not for compiled
        code, and the bytes written.
        """
        words, edges = targets.words, targets.edges
        try:
            return kernels.render_lines(
                self._sections, targets.data, edges, words, rows, start, is_json, out, self._notes
            )
        except BufferError:  # the file lies at an odd place of a larger buffer
            return start, 0


def _pairs(content: bytearray, number_type: str, count: int) -> memoryview:
    """View the first pairs of numbers in a buffer."""
    if not count:
        return memoryview(b"").cast(number_type)  # type: ignore[call-overload,no-any-return]
    return memoryview(content)[: 16 * count].cast(number_type, (count, 2))  # type: ignore[call-overload,no-any-return]
