"""Lock a store for one process at a time; the system frees the lock however its holder ends.

A delegation keeps in memory what it knows of the store, and after a crash it resumes what was begun. Two at
once would undo each other's work and take each other's orders for lost. Readers need no lock.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TextIO

from ipmicra.edge.store.connection import make_folder, path_of
from ipmicra.errors import StoreBusyError, StoreError


@contextmanager
def one_at_a_time(
    url: str, purpose: str, words: str, clock: Callable[[], float] = time.time
) -> Iterator[None]:
    """Hold the lock of a store for a purpose; `StoreBusyError` says who else does, and since when."""
    path = path_of(url)
    if path == ":memory:":
        yield
        return
    make_folder(path)
    with _lock_file(f"{path}.{purpose}-lock", path) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise StoreBusyError(path, _holder(file)) from error
        _write(file, {"pid": os.getpid(), "since_s": clock(), "words": words[:200]})
        try:
            yield
        finally:
            file.truncate(0)


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


def _write(file: TextIO, content: dict[str, object]) -> None:
    file.truncate(0)
    file.write(json.dumps(content))
    file.flush()


def _holder(file: TextIO) -> str:
    """Return who holds the lock, as far as it has written that down."""
    file.seek(0)
    try:
        content = json.loads(file.read())
        since = datetime.fromtimestamp(float(content["since_s"]), UTC)
        return f"process {int(content['pid'])} ({content['words']}) since {since:%Y-%m-%d %H:%M:%S} UTC"
    except (ValueError, TypeError, KeyError, OverflowError, OSError):
        return "another process"
