"""Lock a store for one process at a time; the system frees the lock however its holder ends.

A delegation keeps in memory what it knows of the store, and after a crash it resumes what was begun. Two at
once would undo each other's work and take each other's orders for lost. Readers need no lock.

The file of the lock also tells whether its last holder left by itself: one that was killed cannot cross out
what it wrote. This matters for the end of a batch. Between the commit that ends it and the exit of the
process there is a moment (20 ms in a small store, more while a long log is copied back). A process killed in
it has failed for its user, who runs the same command again: that must resume the batch, not begin one with a
new budget. So the ending is noted in the file first, the note is crossed out last (0.2 ms before the exit),
and whoever finds a noted ending reopens the batch.

That is for stores in files. A store in PostgreSQL is locked by a lease, with the same notes
(`lease_lock.py`).
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TextIO

from ipmicra.edge.store.places import is_postgres, make_folder, path_of
from ipmicra.errors import StoreBusyError, StoreError

if TYPE_CHECKING:
    from ipmicra.edge.store.store import Store

LEFT = "\nleft\n"
"""Crosses out what the holder of a lock wrote: what follows an object makes it no JSON."""


class HeldLock(ABC):
    """The lock of a store, held by this process."""

    _unsettled: tuple[int, float] | None = None
    """Batch that an earlier holder ended, and when; that holder was killed before it left."""

    def settle(self, reopen: Callable[[int, float], object]) -> None:
        """Reopen the batch that a killed holder had ended, if there is one; it may be called again."""
        if self._unsettled is not None:
            reopen(*self._unsettled)
            self._unsettled = None

    @abstractmethod
    def note_ending(self, batch: int, at_s: float) -> None:
        """Note, durably, that a batch is about to be ended."""

    @abstractmethod
    def protect(self, store: Store) -> None:
        """Let a store write only as long as the lock is held."""


class NoLock(HeldLock):
    """That of a store in memory, which dies with its process."""

    def note_ending(self, batch: int, at_s: float) -> None:
        """Do nothing."""

    def protect(self, store: Store) -> None:
        """Do nothing."""


class FileLock(HeldLock):
    """The lock of a store in a file: a lock of the system's on a file beside it."""

    def __init__(self, file: TextIO, holder: dict[str, Any]) -> None:
        """Write down who holds the lock; what is unsettled stays noted."""
        self._file = file
        self._holder = holder
        self._unsettled = ending_in(_content(file))
        self._write({**holder, **_noted(self._unsettled)})

    def note_ending(self, batch: int, at_s: float) -> None:
        """Note, durably, that a batch is about to be ended."""
        self._write({**self._holder, **_noted((batch, at_s))})
        os.fsync(self._file.fileno())

    def protect(self, store: Store) -> None:
        """Do nothing: nobody else gets the lock while this process lives."""

    def release(self) -> None:
        """Cross out what the file says, unless something is unsettled.

        A word behind it is enough, and takes microseconds; emptying a file takes milliseconds.
        """
        if self._unsettled is None:
            self._file.write(LEFT)
            self._file.flush()

    def _write(self, content: dict[str, Any]) -> None:
        self._file.truncate(0)
        self._file.write(json.dumps(content))
        self._file.flush()


def _noted(ending: tuple[int, float] | None) -> dict[str, Any]:
    return dict(zip(("batch", "ended_s"), ending or (), strict=False))


@contextmanager
def one_at_a_time(
    url: str, purpose: str, words: str, clock: Callable[[], float] = time.time
) -> Iterator[HeldLock]:
    """Hold the lock of a store for a purpose; `StoreBusyError` says who else does, and since when."""
    if is_postgres(url):
        from ipmicra.edge.store.lease_lock import leased

        with leased(url, purpose, words) as leased_lock:
            yield leased_lock
        return
    path = path_of(url)
    if path == ":memory:":
        yield NoLock()
        return
    make_folder(path)
    with _lock_file(f"{path}.{purpose}-lock", path) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise StoreBusyError(path, _holder(file)) from error
        lock = FileLock(file, {"pid": os.getpid(), "since_s": clock(), "words": words[:200]})
        yield lock
        lock.release()  # not after an error: a batch that was ended, but whose command failed, is resumed


def _lock_file(name: str, store: str) -> TextIO:
    """Open the lock file, which stays: a removed one could be locked by one process and created by the next.

    A symbolic link is refused: the file is emptied, and another user may have chosen where the link leads.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        return os.fdopen(os.open(name, flags, 0o666), "a+", encoding="utf-8")
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise StoreError(store, f"its lock file {name} is a symbolic link: remove the link") from error
        raise


def _content(file: TextIO) -> str:
    """Return what the file says; nothing if it is no text."""
    file.seek(0)
    try:
        return file.read()
    except ValueError:
        return ""


def ending_in(text: str) -> tuple[int, float] | None:
    """Return which batch was ended, and when, by a holder that did not leave by itself."""
    try:
        content = json.loads(text)
        return int(content["batch"]), float(content["ended_s"])
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None


def _holder(file: TextIO) -> str:
    """Return who holds the lock, as far as it has written that down."""
    try:
        content = json.loads(_content(file))
        since = datetime.fromtimestamp(float(content["since_s"]), UTC)
        return f"process {int(content['pid'])} ({content['words']}) since {since:%Y-%m-%d %H:%M:%S} UTC"
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError, OSError):
        return "another process"
