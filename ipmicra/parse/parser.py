"""Feeding chunks of a dump to the kernel of its dialect."""

from __future__ import annotations

import numpy as np

from ipmicra.model.registry import Registry
from ipmicra.parse.columns import Columns, Gatherer
from ipmicra.parse.dialect import Dialect
from ipmicra.parse.iana import read_iana
from ipmicra.parse.sheets import PADDING, Sheet, has_room, new_sheet


def buffer_size(chunk_bytes: int) -> int:
    """Give the size of a buffer for chunks of so many bytes: text, then room to join values in."""
    return 3 * chunk_bytes + 4 * PADDING


class Parser:
    """Turns the chunks of one dump into columns. A chunk ends where the dialect lets it."""

    def __init__(self, dialect: Dialect, registry: Registry) -> None:
        """Read a dialect; paragraphs that name no registry belong to the given one."""
        self._dialect = dialect
        self._registry = int(registry)
        self._gatherer = Gatherer()

    def parse(self, buffer: bytearray, size: int, sheet: Sheet | None = None) -> Sheet:
        """Read the first bytes of a buffer that `buffer_size` made large enough; it may be written to.

        Changes nothing in the parser, so that several chunks can be read at the same time. A sheet that is
        handed in is used again if it is large enough.
        """
        if len(buffer) < buffer_size(size):
            raise ValueError(f"{size} bytes of text need a buffer of {buffer_size(size)}, not {len(buffer)}")
        if sheet is None or not has_room(sheet, size):
            sheet = new_sheet(size)
        sheet.counts[:] = 0
        buffer[size] = ord("\n")
        if self._dialect is Dialect.IANA:
            read_iana(bytes(memoryview(buffer)[:size]), sheet)
        else:
            _kernel(self._dialect)(np.frombuffer(buffer, np.uint8), size, 1, self._registry, sheet)
        return sheet

    def add(self, sheet: Sheet) -> None:
        """Append what a chunk gave; chunks come in the order of the dump."""
        self._gatherer.add(sheet)

    def reserve(self, times: float) -> None:
        """Expect so many times as much as was added so far; a wrong guess costs time only."""
        self._gatherer.reserve(times)

    def feed(self, buffer: bytearray, size: int) -> None:
        """Parse a chunk and append it."""
        self.add(self.parse(buffer, size))

    def finish(self) -> Columns:
        """Give the columns of all that was added."""
        return self._gatherer.finish()


def _kernel(dialect: Dialect):  # type: ignore[no-untyped-def] # noqa: ANN202
    """Import the kernel of a dialect: the compiler behind it is loaded only here."""
    if dialect is Dialect.STATISTICS:
        from ipmicra.parse.kernels.statistics import read_statistics

        return read_statistics
    from ipmicra.parse.kernels.paragraphs import read_paragraphs

    return read_paragraphs


def parse_bytes(data: bytes, dialect: Dialect, registry: Registry = Registry.NONE) -> Columns:
    """Read a whole dump that is in memory."""
    parser = Parser(dialect, registry)
    buffer = bytearray(buffer_size(len(data)))
    buffer[: len(data)] = data
    parser.feed(buffer, len(data))
    return parser.finish()
