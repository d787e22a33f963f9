"""The record of a soak: everything that was asked, answered, ordered, fetched and measured, line by line."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Event = dict[str, Any]
"""`t` is when it was noted, in seconds since the start; `kind` says what it is."""


class Record:
    """Writes events to a file as JSON lines; belongs to one process, any of its threads."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", encoding="utf-8", buffering=1 << 16)
        self._began_s = time.monotonic()

    @property
    def now_s(self) -> float:
        """Seconds since the start."""
        return round(time.monotonic() - self._began_s, 4)

    def note(self, kind: str, **fields: Any) -> None:
        self._file.write(json.dumps({"t": self.now_s, "kind": kind, **fields}) + "\n")

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self._file.close()


def read_record(path: Path) -> Iterator[Event]:
    """Read the events of a file; a last line that was cut off is left out."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.endswith("\n"):
                yield json.loads(line)
