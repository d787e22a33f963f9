"""Connect to SQLite: write-ahead log, nested transactions, errors translated once.

Theory of operation
-------------------
The connection is in autocommit mode (`isolation_level=None`): Python starts no transaction behind our back.
A statement outside `transaction` is one by itself; inside, everything up to the end of the outermost `with`
is committed together or not at all. Inner ones join the outer: a table can be careful on its own and still
be part of a larger step, as when a batch of samples, delegations and results is written together.

A transaction begins with BEGIN IMMEDIATE, which takes the write lock at once. The default would start as a
reader and ask for the lock at the first write, which fails without waiting if somebody wrote in between;
with IMMEDIATE the other process waits, up to `busy_s`.

The write-ahead log (WAL) lets readers read the last committed state while one process writes. `synchronous
= FULL` syncs the log at each commit: a reservation of probes must survive a power cut, or the budget would
be spent twice. So a commit costs a sync, and callers write many rows per transaction (`execute_many`).

A SQLite connection belongs to the thread that opened it; so do a `Store` and its tables.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from ipmicra.errors import InputError, StoreError

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionConfig:
    """Settings of SQLite. [1] SQLite's own documentation of pragmas."""

    busy_s: float = 10.0
    """How long to wait for another process that writes; a batch of samples takes far less."""
    synchronous: str = "FULL"
    """A reservation of probes must survive a power cut, so each commit reaches the disk [1]."""
    cache_kib: int = 16_384
    """Page cache in KiB; pages of the indices of samples stay in memory."""


class Connection:
    """One thread's connection; every statement outside a transaction is one by itself."""

    def __init__(self, path: str, config: ConnectionConfig) -> None:
        """Open a file, made if it is missing, or `:memory:`."""
        self.path = path
        self._depth = 0
        with translated(path):
            self.raw = sqlite3.connect(path, timeout=config.busy_s, isolation_level=None)
            try:
                self.raw.execute("PRAGMA journal_mode = WAL")
                self.raw.execute(f"PRAGMA synchronous = {config.synchronous}")
                self.raw.execute(f"PRAGMA cache_size = -{config.cache_kib}")
                self.raw.execute("PRAGMA foreign_keys = ON")
            except sqlite3.Error:
                self.raw.close()
                raise

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Do all or nothing; inside another transaction, be part of that."""
        if self._depth:
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
            return
        with translated(self.path):
            self.raw.execute("BEGIN IMMEDIATE")
            self._depth = 1
            try:
                yield
                self.raw.execute("COMMIT")
            except BaseException:
                if self.raw.in_transaction:
                    self.raw.execute("ROLLBACK")
                raise
            finally:
                self._depth = 0

    def execute(self, sql: str, values: Sequence[Any] = ()) -> int:
        """Run one statement; return the number of rows it changed."""
        with translated(self.path):
            return self.raw.execute(sql, values).rowcount

    def execute_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for many rows, in a transaction."""
        with self.transaction():
            self.raw.executemany(sql, rows)

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        """Query; return all rows."""
        with translated(self.path):
            return self.raw.execute(sql, values).fetchall()

    def stream(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        """Query; yield rows as they are read, for answers that may not fit into memory."""
        with translated(self.path):
            yield from self.raw.execute(sql, values)

    def row(self, sql: str, values: Sequence[Any] = ()) -> Row | None:
        """Query; return the first row."""
        with translated(self.path):
            found: Row | None = self.raw.execute(sql, values).fetchone()
            return found

    def close(self) -> None:
        """Close the file."""
        self.raw.close()


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Turn errors of SQLite into ours."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(path, _with_advice(str(error))) from error


def _with_advice(message: str) -> str:
    """Add what to do, where the user can do something."""
    if "locked" in message or "busy" in message:
        return f"{message}: another process writes to it; try again when that is done"
    if "full" in message or "disk I/O error" in message:
        return f"{message}: make room and run the same command again; nothing that was written is lost"
    return message


def path_of(url: str) -> str:
    """Return the file that a store's URL names: `sqlite:///a.db` is ./a.db, `sqlite:////a.db` is /a.db.

    A text without a scheme is a path; `sqlite://` alone is a store in memory.
    """
    if "://" not in url:
        return url
    parts = urlsplit(url)
    if parts.scheme in {"postgresql", "postgres"}:
        raise InputError("stores in PostgreSQL are not supported yet: use sqlite:///FILE")
    if parts.scheme != "sqlite" or parts.netloc:
        raise InputError(f"{url!r} is no store: use sqlite:///FILE (relative) or sqlite:////FILE (absolute)")
    return unquote(parts.path[1:]) or ":memory:"


def is_there(url: str) -> bool:
    """Return whether a store exists; opening one would create it."""
    return Path(path_of(url)).is_file()


def make_folder(path: str) -> None:
    """Create the folder of a store's file."""
    if path != ":memory:":
        Path(path).parent.mkdir(parents=True, exist_ok=True)
