"""Keep an unfinished download on disk.

Theory of operation
-------------------
`NAME.part` holds the bytes, its sidecar the version they belong to (`state.py`), and a lock on `NAME.part`
keeps other processes out. The order of steps makes it safe to be killed at any moment:

- A new version first empties `NAME.part`, then writes its sidecar, then the bytes: bytes of one version are
  never found beside the validator of another.
- A finished one is synced, renamed over NAME, and only then remembered as finished: an old sidecar beside a
  new dump costs a download, a new one beside an old dump would hide that it is old.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from ipmicra.edge.durable import settle
from ipmicra.edge.fetch.checksum import sum_file
from ipmicra.edge.fetch.state import FileState, forget_state, read_state, write_state

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedWriter
    from pathlib import Path

    from ipmicra.model.dump_source import ChecksumKind


class PartialFile:
    """`NAME.part`, open for appending and held against other processes."""

    def __init__(self, target: Path, path: Path, file: BufferedWriter) -> None:
        """Take over an open file; `target` is what it becomes once it is whole."""
        self._target = target
        self._path = path
        self._file = file
        self.size = os.fstat(file.fileno()).st_size

    def resumable_state(self, url: str) -> FileState | None:
        """Read which version the bytes belong to; None if they cannot be resumed."""
        state = read_state(self._path)
        if not self.size or state is None or state.url != url or state.strong_validator is None:
            return None
        return state if state.bytes_total is None or self.size <= state.bytes_total else None

    def start(self, state: FileState) -> None:
        """Begin a version from its first byte."""
        self.discard()
        write_state(self._path, state)

    def append(self, piece: bytes) -> None:
        """Add bytes at the end."""
        self._file.write(piece)
        self.size += len(piece)

    def discard(self) -> None:
        """Discard all bytes and their state."""
        self._file.truncate(0)
        self.size = 0
        forget_state(self._path)

    def checksum(self, kind: ChecksumKind) -> str:
        """Sum the bytes so far."""
        self._file.flush()
        return sum_file(self._path, kind)

    def publish(self, state: FileState) -> None:
        """Put the file in its place, as a whole and for good."""
        self._file.flush()
        settle(self._path, self._target)
        write_state(self._target, state)
        forget_state(self._path)


@contextmanager
def partial_file(target: Path) -> Iterator[PartialFile]:
    """Open the unfinished download of a dump; BlockingIOError if another process has it open."""
    path = target.with_name(f"{target.name}.part")
    file = _open_locked(path)
    with file:
        part = PartialFile(target, path, file)
        try:
            yield part
        finally:
            if not part.size:
                with suppress(OSError):
                    path.unlink()


def _open_locked(path: Path) -> BufferedWriter:
    """Open a file for appending and lock it until it is closed.

    A symbolic link is refused: a new version empties the file, and another user may have chosen the target.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
    while True:
        file = os.fdopen(os.open(path, flags, 0o666), "ab")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_still_at(path, file):
                return file
        except BaseException:
            file.close()
            raise
        file.close()  # its holder renamed or removed it between opening and locking


def _is_still_at(path: Path, file: BufferedWriter) -> bool:
    """Return whether an open file is still the one at a path."""
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False
