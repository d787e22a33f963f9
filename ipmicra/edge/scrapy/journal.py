"""What a node has to say and could not say yet, on disk; and which run of which crawl it takes part in.

A file of lines, only ever appended to, in the order in which things happened: it is written ten times a
second, and a database would take more time than the exchange. A crash can only lose the end of it, and a page
is finished only after its links: so pages whose report was lost are fetched again, and none is missed. What
was delivered is crossed out by a line that counts it; once nothing is left, the file begins anew.

After a power cut more than the end may be missing: pieces in the middle, or a mixture with what stood there
before the file began anew. So what is written at once ends with a sum of everything since the beginning, and
the beginning says from where the sum starts. Reading stops where the sums do.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from zlib import crc32

from ipmicra.edge.hierarchy_file import write_atomically
from ipmicra.errors import StoreError
from ipmicra.model.link import Link
from ipmicra.partition.exchange.exchange import Entry, Fetched

FILE, RUN = "ipmicra.journal", "ipmicra.run"
"""In the job's folder."""
MOST_BYTES = 16_000_000
"""Size at which what is crossed out is removed, though something is left."""
_START, _SUM = "from ", "sum "
"""Begin the lines that are no entries."""
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
        self._sum = 0
        """Of all that was written."""
        self._trouble: StoreError | None = None
        """What went wrong: nobody knows what is in the file since, so it is not written any more."""
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
        for line in _sound_lines(self._path.read_bytes()):
            content = json.loads(line)
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
        if self._trouble is not None:
            raise self._trouble
        data = self._summed(text)
        self._size += len(data)
        try:
            written = os.write(self._file.fileno(), data)
        except OSError as error:
            self._trouble = StoreError(str(self._path), f"cannot be written: {error.strerror}")
            raise self._trouble from error
        if written != len(data):
            self._trouble = StoreError(str(self._path), "the disk is full")
            raise self._trouble

    def _summed(self, text: str) -> bytes:
        """Return a text with the sum so far; with the start of the sum where the file is empty."""
        start = "" if self._size else f"{_START}{self._sum:08x}\n"
        self._sum = crc32(text.encode(), self._sum)
        return f"{start}{text}{_SUM}{self._sum:08x}\n".encode()

    def _open(self, entries: list[Entry]) -> None:
        """Open the file with these entries alone: without what is crossed out, or was cut off by a crash."""
        self._size = 0
        data = self._summed("".join(map(_line_of, entries))) if entries else b""
        write_atomically(self._path, [data])
        self._file = self._path.open("ab", buffering=0)
        self._left, self._size = len(entries), len(data)


def _sound_lines(data: bytes) -> list[bytes]:
    """Return the lines of entries up to where the sums are wrong."""
    sound: list[bytes] = []
    lines: list[bytes] = []
    checked: int | None = None
    for line in data.split(b"\n")[:-1]:  # what is behind the last newline is cut off
        if line.startswith(_START.encode()) and checked is None:
            checked = _hexadecimal(line[len(_START) :])
        elif line.startswith(_SUM.encode()):
            checked = None if checked is None else crc32(b"".join(one + b"\n" for one in lines), checked)
            if checked is None or _hexadecimal(line[len(_SUM) :]) != checked:
                break
            sound += lines
            lines = []
        else:
            lines.append(line)
    return sound


def _hexadecimal(text: bytes) -> int | None:
    try:
        return int(text, 16)
    except ValueError:
        return None


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
