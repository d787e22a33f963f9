"""A terminal that commands may write to, as much as they like."""

from __future__ import annotations

import os
import threading
from typing import Self


class Terminal:
    """Reads all the while: a command that fills a terminal nobody reads would wait for ever."""

    def __init__(self) -> None:
        self._reading, self.end = os.openpty()
        self._pieces: list[bytes] = []
        self._thread = threading.Thread(target=self._read)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.end)
        self._thread.join()
        os.close(self._reading)

    @property
    def shown(self) -> str:
        """All that was written, once it is over."""
        return b"".join(self._pieces).decode()

    def _read(self) -> None:
        while True:
            try:
                piece = os.read(self._reading, 1 << 16)
            except OSError:  # nobody has the other end any more
                return
            if not piece:
                return
            self._pieces.append(piece)
