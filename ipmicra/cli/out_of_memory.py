"""Recognise that memory ran out, whatever raised what: Python, the linker, SQLite or a library."""

from __future__ import annotations

import errno
import sqlite3

from ipmicra.app.memory_limit import is_limited

NO_MEMORY = (
    "there is not enough memory for this, and nothing was left half-written: "
    "end other programs or raise the limit (`ulimit -v`), and run the same command again"
)
_WORDS = (
    "can't start new thread",
    "failed to launch worker thread",
    "failed to map segment",
    "cannot allocate memory",
    "out of memory",
)
"""In messages of errors that have no type of their own; starting a thread needs memory for its stack."""
_OF_SQLITE = {sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_IOERR_NOMEM, sqlite3.SQLITE_IOERR_SHMMAP}
"""It reports a mapping that fails as an error of the disk."""


def lacks_memory(error: BaseException) -> bool:
    """Return whether an error, or what caused it, is that there was no memory."""
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        if isinstance(cause, MemoryError) or getattr(cause, "errno", None) == errno.ENOMEM:
            return True
        if getattr(cause, "sqlite_errorcode", None) in _OF_SQLITE:
            return True
        # Some functions in C forget to say that they got no memory, and the interpreter says only that.
        if isinstance(cause, SystemError) and is_limited():
            return True
        if any(word in str(cause).lower() for word in _WORDS):
            return True
        seen.add(id(cause))
        cause = cause.__cause__ or cause.__context__
    return False
