"""What a node has to say and could not say yet, on disk; and which run of which crawl it takes part in.

A file of lines, only ever appended to, in the order in which things happened: it is written twenty times a
second, and a database would take more time than the exchange. A crash can only lose the end of it, and a page
is finished only after its links: so pages whose report was lost are fetched again, and none is missed. What
was delivered is crossed out by a line that counts it; once nothing is left, the file begins anew.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ipmicra.edge.hierarchy_file import write_atomically
from ipmicra.errors import StoreError
from ipmicra.model.link import Link
from ipmicra.partition.exchange.exchange import Entry, Fetched

FILE, RUN = "ipmicra.journal", "ipmicra.run"
"""In the job's folder."""
MOST_BYTES = 16_000_000
"""Size at which what is crossed out is removed, though something is left."""
_encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


class Journal:
    """The files of one node; without a folder nothing is kept beyond the process."""

    def __init__(self, folder: Path | None) -> None:
        """Open the journal of a job, made if it is missing."""
        self._folder = folder
        self._run: int | None = None
        self._left = 0
        """Entries that are not crossed out."""
        self._size = 0
        if folder is None:
            return
        self._path, run = folder / FILE, folder / RUN
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._path.touch()
            self._run = int(run.read_text(encoding="ascii")) if run.exists() else None
        except (OSError, ValueError) as error:
            raise StoreError(str(folder), f"cannot go on with this job: {error}") from error
        self._open(self.entries())

    def append(self, entries: Iterable[Entry]) -> None:
        """Write entries behind those that are there."""
        lines = [_line_of(one) for one in entries]
        self._left += len(lines)
        self._write("".join(lines))

    def drop(self, count: int) -> None:
        """Cross out the oldest entries: they have been delivered."""
        self._left -= count
        if self._left <= 0:
            self.clear()
        else:
            self._write(f'{{"drop":{count}}}\n')
            if self._size > MOST_BYTES:
                self._file.close()
                self._open(self.entries())

    def entries(self) -> list[Entry]:
        """Return all entries that are not crossed out, the oldest first."""
        if self._folder is None:
            return []
        entries: list[Entry] = []
        dropped = 0
        for line in self._path.read_bytes().split(b"\n")[:-1]:  # what is behind the last newline is cut off
            try:
                content = json.loads(line)
            except ValueError as error:
                raise StoreError(str(self._path), f"a line makes no sense: {line[:80]!r}") from error
            if isinstance(content, dict) and "drop" in content:
                dropped += content["drop"]
            else:
                entries.append(_entry_of(content))
        return entries[dropped:]

    def clear(self) -> None:
        """Forget all entries: they are delivered, or about another run."""
        self._left = self._size = 0
        if self._folder is not None:
            self._file.truncate(0)

    @property
    def run(self) -> int | None:
        """The run of the crawl that the job takes part in; None if it is new."""
        return self._run

    @run.setter
    def run(self, run: int) -> None:
        self._run = run
        if self._folder is not None:
            write_atomically(self._folder / RUN, [str(run).encode()])

    def close(self) -> None:
        """Close the file."""
        if self._folder is not None:
            self._file.close()

    def _write(self, text: str) -> None:
        if self._folder is None:
            return
        data = text.encode()
        self._size += len(data)
        try:
            if os.write(self._file.fileno(), data) != len(data):
                raise StoreError(str(self._path), "the disk is full")
        except OSError as error:
            raise StoreError(str(self._path), f"cannot be written: {error.strerror}") from error

    def _open(self, entries: list[Entry]) -> None:
        """Open the file with these entries alone: without what is crossed out, or was cut off by a crash."""
        data = "".join(map(_line_of, entries)).encode()
        write_atomically(self._path, [data])
        self._file = self._path.open("ab", buffering=0)
        self._left, self._size = len(entries), len(data)


def _line_of(entry: Entry) -> str:
    """Write a link as a list, a number as a number, and the key of a claimed link as an object."""
    return _encode({"fetched": entry.key} if isinstance(entry, Fetched) else entry) + "\n"


def _entry_of(content: Any) -> Entry:  # noqa: ANN401 - from JSON
    if isinstance(content, int):
        return content
    if isinstance(content, dict):
        return Fetched(content["fetched"])
    url, host, depth, priority, key, extra = content
    return Link(url=url, host=host, depth=depth, priority=priority, key=key, extra=extra)
