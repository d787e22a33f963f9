"""Parse a dump chunk by chunk with the compiled reader of its dialect.

Theory of operation
-------------------
The caller decompresses a dump into chunks that end at a separator of the dialect (`Dialect.separator`), so
no paragraph spans two chunks and every chunk can be parsed on its own. Parsing is split in two:

- `parse` turns one chunk into a `Sheet`. It does not touch the parser's state, and compiled code releases the
  GIL, so several threads can call it at the same time on different chunks.
- `add` appends a sheet to the columns. It must be called in the order of the dump, by one thread at a time:
  line numbers and text offsets depend on what was added before.

Buffers belong to the caller, are only read, and need no room beside the text. Sheets are reused: their arrays
grow to what a chunk needs.

Why threads and not processes? Processes have to send their columns back: two dumps took 6.3 to 6.7 s with
threads and 8.8 to 11.3 s with processes (decision 0003).
"""

from __future__ import annotations

from ipmicra.model.registry import Registry
from ipmicra.native import kernels
from ipmicra.parse.columns import Columns
from ipmicra.parse.dialect import Dialect
from ipmicra.parse.iana import read_iana


class Parser:
    """Turns the chunks of one dump into columns; chunks end at a separator of the dialect."""

    def __init__(
        self, dialect: Dialect, registry: Registry, gatherer: kernels.Gatherer | None = None
    ) -> None:
        """Parse the given dialect; paragraphs without a known source belong to `registry`.

        Columns are appended to those of `gatherer`, if one is given.
        """
        self._dialect = dialect
        self._registry = int(registry)
        self.gatherer = gatherer or kernels.Gatherer()
        self.gatherer.begin()

    def parse(self, buffer: bytes | bytearray, size: int, sheet: kernels.Sheet) -> kernels.Sheet:
        """Read the first bytes of a buffer into a sheet, in place of what the sheet held.

        Changes nothing in the parser, so that several chunks can be read at the same time.
        """
        if self._dialect is Dialect.IANA:
            read_iana(bytes(memoryview(buffer)[:size]), sheet)
        elif self._dialect is Dialect.STATISTICS:
            sheet.read_statistics(buffer, size)
        else:
            sheet.read_paragraphs(buffer, size, self._registry)
        return sheet

    def add(self, sheet: kernels.Sheet) -> None:
        """Append what a chunk gave; chunks come in the order of the dump."""
        self.gatherer.add(sheet)

    def finish(self) -> Columns:
        """Return the columns of all that was added."""
        return Columns.of(self.gatherer)


def parse_bytes(data: bytes, dialect: Dialect, registry: Registry = Registry.NONE) -> Columns:
    """Parse a whole dump that is in memory."""
    parser = Parser(dialect, registry)
    parser.add(parser.parse(data, len(data), kernels.Sheet()))
    return parser.finish()
