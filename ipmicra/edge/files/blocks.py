"""The lines of a stream as text first and as blocks of bytes later.

The first lines of a user's file tell what it is; they are decoded one by one. If it turns out to be a plain
list, the rest need not be: compiled code reads addresses from the bytes. `LineTap` stands between the stream
and its decoder and hands over one line at a time, so that the decoder never holds more than it was asked for.
Once the tap is closed the decoder sees the end of the file, and the rest comes as blocks.

A block is what the stream has without waiting, up to the last line end in it: whoever types targets, or
writes them slowly into a pipe, gets an answer per line.
"""

from __future__ import annotations

import io
from collections.abc import Iterator

BLOCK_BYTES = 1 << 20
"""Bytes asked for at once."""
LONGEST_PIECE = 1 << 22
"""Bytes without a line end that are kept; the rest of such a file is decoded as text after all."""


class LineTap(io.BufferedIOBase):
    """Passes a stream on to a decoder, line by line until it is opened or closed."""

    def __init__(self, stream: io.BufferedReader) -> None:
        """Pass on a stream, which stays open."""
        self._stream = stream
        self._kept = b""
        self._is_by_line, self._is_closed, self._is_cut = True, False, False
        self._has_ended = False

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def peek(self, size: int = 0) -> bytes:
        """Show the next bytes."""
        return self._stream.peek(size)

    def read1(self, size: int = -1) -> bytes:
        """Return some bytes: by line the next one, or a part of it."""
        if self._is_closed:
            return b""
        if self._kept:
            kept, self._kept = self._kept, b""
            return kept
        if self._has_ended:
            return b""  # a terminal would be asked once more
        if not self._is_by_line:
            return self._stream.read1(size)
        end = self._stream.peek(1).find(b"\n")
        self._is_cut = end < 0
        return self._stream.read1(end + 1 or size)

    def read(self, size: int | None = -1) -> bytes:
        """Return all bytes that are left, or a number of them at most."""
        if size is not None and size >= 0:
            return self.read1(size)
        return b"" if self._is_closed else b"".join(iter(self.read1, b""))

    def open_wide(self) -> None:
        """Pass on as many bytes at once as the decoder asks for."""
        self._is_by_line = False

    def close_for_blocks(self) -> bool:
        """Show the decoder an end, so that blocks may follow; refuse if it may hold half a line."""
        self._is_by_line, self._is_closed = False, not self._is_cut
        return self._is_closed

    def blocks(self) -> Iterator[bytes]:
        """Return whole lines as they arrive; afterwards the tap is open again for what is no such line."""
        kept = b""
        while len(kept) <= LONGEST_PIECE:
            piece = self._stream.read1(BLOCK_BYTES)
            if not piece:
                self._has_ended = True
                break
            end = piece.rfind(b"\n") + 1
            if end:
                yield kept + piece[:end]
                kept = piece[end:]
            else:
                kept += piece
        self._kept, self._is_closed = kept, False
