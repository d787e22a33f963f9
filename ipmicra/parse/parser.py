"""Parse a dump chunk by chunk with the kernel of its dialect.

Theory of operation
-------------------
The caller decompresses a dump into chunks that end at a separator of the dialect (`Dialect.separator`), so
no paragraph spans two chunks and every chunk can be parsed on its own. Parsing is split in two:

- `parse` turns one chunk into a `Sheet`. It does not touch the parser's state, and its kernels release the
  GIL, so several threads can call it at the same time on different chunks.
- `add` appends a sheet to the columns. It must be called in the order of the dump, by one thread at a time:
  line numbers and text offsets depend on what was added before.

Buffers belong to the caller and are reused. `buffer_size` reserves twice the text again behind the text:
kernels write joined values (continuation lines, postal addresses) there and read up to `PADDING` bytes past
any position without bounds checks. `parse` writes a newline behind the text, so that the last line ends
even if the dump does not. Sheets are sized so that no chunk can overflow them; hence kernels check no
capacity either.

Why threads and not processes? Processes have to send their columns back: two dumps took 6.3 to 6.7 s with
threads and 8.8 to 11.3 s with processes (decision 0003).
"""

from __future__ import annotations

import numpy as np

from ipmicra.model.registry import Registry
from ipmicra.parse.columns import Columns, Gatherer
from ipmicra.parse.dialect import Dialect
from ipmicra.parse.iana import read_iana
from ipmicra.parse.sheets import PADDING, Sheet, has_room, new_sheet


def buffer_size(chunk_bytes: int) -> int:
    """Return the buffer size for chunks of `chunk_bytes`: text, then scratch space for joined values."""
    return 3 * chunk_bytes + 4 * PADDING


class Parser:
    """Turns the chunks of one dump into columns; chunks end at a separator of the dialect."""

    def __init__(self, dialect: Dialect, registry: Registry) -> None:
        """Parse the given dialect; paragraphs without a known source belong to `registry`."""
        self._dialect = dialect
        self._registry = int(registry)
        self._gatherer = Gatherer()

    def parse(self, buffer: bytearray, size: int, sheet: Sheet | None = None) -> Sheet:
        """Parse the first `size` bytes of a buffer of at least `buffer_size(size)`; the rest is scratch.

        Does not change the parser, so several chunks can be parsed concurrently. A given sheet is reused
        if it is large enough.
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
        """Append the sheet of a chunk; call it in the order of the dump."""
        self._gatherer.add(sheet)

    def reserve(self, times: float) -> None:
        """Reserve space for `times` what was added so far; a wrong guess only costs time."""
        self._gatherer.reserve(times)

    def feed(self, buffer: bytearray, size: int) -> None:
        """Parse a chunk and append it."""
        self.add(self.parse(buffer, size))

    def finish(self) -> Columns:
        """Return the columns of everything added."""
        return self._gatherer.finish()


def _kernel(dialect: Dialect):  # type: ignore[no-untyped-def] # noqa: ANN202
    """Import the kernel of a dialect; only this loads the compiler."""
    if dialect is Dialect.STATISTICS:
        from ipmicra.parse.kernels.statistics import read_statistics

        return read_statistics
    from ipmicra.parse.kernels.paragraphs import read_paragraphs

    return read_paragraphs


def parse_bytes(data: bytes, dialect: Dialect, registry: Registry = Registry.NONE) -> Columns:
    """Parse a whole dump that is in memory."""
    parser = Parser(dialect, registry)
    buffer = bytearray(buffer_size(len(data)))
    buffer[: len(data)] = data
    parser.feed(buffer, len(data))
    return parser.finish()
