"""A connection to SQLite: write-ahead log, transactions that nest, errors translated once."""

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
    """How to deal with SQLite. [1] SQLite's own documentation of pragmas."""

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
        """Run one statement; give the number of rows it changed."""
        with translated(self.path):
            return self.raw.execute(sql, values).rowcount

    def execute_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for many rows, in a transaction."""
        with self.transaction():
            self.raw.executemany(sql, rows)

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        """Ask; give all rows."""
        with translated(self.path):
            return self.raw.execute(sql, values).fetchall()

    def stream(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        """Ask; give rows as they are read, for answers that need not be in memory as a whole."""
        with translated(self.path):
            yield from self.raw.execute(sql, values)

    def row(self, sql: str, values: Sequence[Any] = ()) -> Row | None:
        """Ask; give the first row."""
        with translated(self.path):
            found: Row | None = self.raw.execute(sql, values).fetchone()
            return found

    def close(self) -> None:
        """Let go of the file."""
        self.raw.close()


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Turn errors of SQLite into ours."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(path, _told(str(error))) from error


def _told(message: str) -> str:
    """Add what to do about what can be helped."""
    if "locked" in message or "busy" in message:
        return f"{message}: another process writes to it; try again when that is done"
    if "full" in message or "disk I/O error" in message:
        return f"{message}: make room and run the same command again; nothing that was written is lost"
    return message


def path_of(url: str) -> str:
    """Give the file that a store's URL names: `sqlite:///a.db` is ./a.db, `sqlite:////a.db` is /a.db.

    A text without a scheme is a path; `sqlite://` alone is a store in memory.
    """
    if "://" not in url:
        return url
    parts = urlsplit(url)
    if parts.scheme in {"postgresql", "postgres"}:
        raise InputError("stores in PostgreSQL are not there yet: use sqlite:///FILE")
    if parts.scheme != "sqlite" or parts.netloc:
        raise InputError(f"{url!r} is no store: use sqlite:///FILE (relative) or sqlite:////FILE (absolute)")
    return unquote(parts.path[1:]) or ":memory:"


def is_there(url: str) -> bool:
    """Tell whether a store was ever made: opening one makes it."""
    return Path(path_of(url)).is_file()


def make_folder(path: str) -> None:
    """Make the folder of a store's file."""
    if path != ":memory:":
        Path(path).parent.mkdir(parents=True, exist_ok=True)
