"""What a disk may hold after a power cut: made from a log of what was done to it (`faulty_disk.c`).

Theory of operation
-------------------
A disk promises only what was synced. So the model keeps, for each file, what is certain and what is pending:

- data of a file (writes, truncations) are certain once that file is synced. Of those that are pending any
  subset may have reached the disk, in any order, and each write may be torn at a sector;
- names (new, renamed, removed files) are certain once their folder is synced. Of those that are pending the
  first so many may have reached the disk: file systems that keep a journal keep the order of names.

A file that was synced but whose name was not may be missing altogether, as POSIX allows it. `cut` draws one
of the states that are possible after the n-th operation.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

SECTOR = 512


class Kind(IntEnum):
    """Kinds of operations, numbered as in `faulty_disk.c`."""

    OPEN = 1
    WRITE = 2
    TRUNCATE = 3
    SYNC = 4
    RENAME = 5
    UNLINK = 6
    NOTE = 7


class Operation(NamedTuple):
    """One line of the log."""

    kind: Kind
    path: str
    other: str = ""
    """The new name of a file that is renamed."""
    offset: int = 0
    """Where data go; the length of a truncated file; the number of a note."""
    data: bytes = b""


def read_log(data: bytes) -> list[Operation]:
    """Read a log."""
    found, at = [], 0
    while at < len(data):
        end = data.index(b"\n", at)
        kind, path, other, offset, size = data[at:end].decode().split("\t")
        at = end + 1 + int(size)
        found.append(Operation(Kind(int(kind)), path, other, int(offset), data[end + 1 : at]))
    return found


@dataclass(slots=True)
class _File:
    certain: bytes = b""
    pending: list[Operation] = field(default_factory=list)

    def synced(self) -> None:
        for one in self.pending:
            self.certain = _changed(self.certain, one)
        self.pending = []

    def drawn(self, rng: random.Random) -> bytes:
        """Return what may be there: some of what is pending, in some order, torn here and there."""
        kept = [one for one in self.pending if rng.random() < 0.5]
        if rng.random() < 0.5:
            rng.shuffle(kept)
        content = self.certain
        for one in kept:
            content = _changed(content, _torn(one, rng))
        return content


class Disk:
    """Files and names, certain and pending."""

    def __init__(self, folder: Path) -> None:
        """Begin with what a folder has: all of it is certain."""
        self._folder = str(folder)
        self._names = {str(path): _File(path.read_bytes()) for path in folder.rglob("*") if path.is_file()}
        self._certain = dict(self._names)
        self._steps: list[Callable[[dict[str, _File]], object]] = []
        """Changes of names that are pending."""

    def follow(self, one: Operation) -> None:
        """Take in an operation."""
        if one.kind is Kind.SYNC:
            if one.path == self._folder:
                self._certain, self._steps = dict(self._names), []
            elif one.path in self._names:
                self._names[one.path].synced()
        elif one.kind in {Kind.WRITE, Kind.TRUNCATE}:
            self._names[one.path].pending.append(one)
        elif one.kind is Kind.OPEN:
            made = _File()
            self._step(lambda names: names.setdefault(one.path, made))
        elif one.kind is Kind.RENAME:
            self._step(lambda names: names.update({one.other: names.pop(one.path, _File())}))
        elif one.kind is Kind.UNLINK:
            self._step(lambda names: names.pop(one.path, None))

    def _step(self, change: Callable[[dict[str, _File]], object]) -> None:
        change(self._names)
        self._steps.append(change)

    def drawn(self, rng: random.Random) -> dict[str, bytes]:
        """Return the content of files, by path, as they may be after a power cut now."""
        names = dict(self._certain)
        for change in self._steps[: rng.randint(0, len(self._steps))]:
            change(names)
        return {path: file.drawn(rng) for path, file in names.items()}


def cut(before: Disk, log: Iterable[Operation], rng: random.Random) -> tuple[dict[str, bytes], list[int]]:
    """Return what may be on a disk after a log, and the notes that were made until then."""
    notes = []
    for one in log:
        if one.kind is Kind.NOTE:
            notes.append(one.offset)
        else:
            before.follow(one)
    return before.drawn(rng), notes


def _changed(content: bytes, one: Operation) -> bytes:
    if one.kind is Kind.TRUNCATE:
        return content[: one.offset].ljust(one.offset, b"\0")
    return content[: one.offset].ljust(one.offset, b"\0") + one.data + content[one.offset + len(one.data) :]


def _torn(one: Operation, rng: random.Random) -> Operation:
    """Return a write that lost its end, in one of four cases."""
    if one.kind is not Kind.WRITE or len(one.data) <= SECTOR or rng.random() < 0.75:
        return one
    return one._replace(data=one.data[: SECTOR * rng.randrange(1, -(-len(one.data) // SECTOR))])
