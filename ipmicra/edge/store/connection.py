"""Connect to SQLite: write-ahead log, nested transactions, errors translated once, keys written in one way.

Theory of operation
-------------------
The connection is in autocommit mode (`isolation_level=None`): Python starts no transaction behind our back.
A statement outside `transaction` is one by itself; inside, everything up to the end of the outermost `with`
is committed together or not at all. Inner ones join the outer: a table can be careful on its own and still
be part of a larger step, as when a batch of samples, delegations and results is written together.

A transaction begins with BEGIN IMMEDIATE, which takes the write lock at once. The default would start as a
reader and ask for the lock at the first write, which fails without waiting if another one wrote in between;
with IMMEDIATE the other process waits, up to `busy_s`.

The write-ahead log (WAL) lets readers read the last committed state while one process writes. `synchronous
= FULL` syncs the log at each commit: a reservation of probes must survive a power cut, or the budget would
be spent twice. So a commit costs a sync, and callers write many rows per transaction (`execute_many`).

A file may be damaged: by a disk, by a copy taken during a write. What SQLite notices is a
`StoreError`. What it does not notice is caught in two places: a file of moderate size is checked when it is
opened, and rows are read by `read`, `read_one` and `stream` alone, which check their types (`Shape`) and
turn whatever fails while something is made of them into a `StoreError` that names the table.

A SQLite connection belongs to the thread that opened it; so do a `Store` and its tables.

Sites of a list come in any order. In a B-tree that is sorted by host or by address, the rows of a transaction
fall on pages all over the tree. As soon as the tree has more pages than the transaction has rows, each row
costs a whole page: it is read, copied to the write-ahead log and copied back at the checkpoint. A list of
400,000 sites was written three times as slowly at its end as at its beginning.

So rows are appended in the order in which they come, and found by an index over 32 bits of a hash of their
key. An entry takes about 13 bytes where the row takes 100 to 400: the index of a million rows is 5,000 pages,
which stay in the page cache, and of which one transaction fills each several times. Rows are sorted by the
hash before they are written, so that those of one page follow each other.

Two keys may share a hash. So whoever looks for a key compares the key itself, too, and the index is not
unique: that a key has one row is ensured by looking for it first, in the same transaction.

Addresses are 16 bytes that sort as numbers do.
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import Any, TypeVar, get_args
from urllib.parse import unquote, urlsplit
from zlib import crc32

from ipmicra.errors import InputError, StoreError
from ipmicra.model.address import Address

T = TypeVar("T")
Row = tuple[Any, ...]
LATEST_S = 253_402_300_800.0
"""The end of the year 9999 in seconds since 1970: the last time that can be written as a date."""
GREATEST = 1e100
"""Numbers beyond are no measurements; squares and sums of those below are finite."""
DAMAGED = "restore the file from a copy, or move it away and begin with an empty store"
_OF_DAMAGE = (ValueError, TypeError, KeyError, IndexError, OverflowError, struct.error)
"""What making something of a damaged row raises."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionConfig:
    """Settings of SQLite. [1] SQLite's own documentation of pragmas."""

    busy_s: float = 10.0
    """How long to wait for another process that writes; a batch of samples takes far less."""
    synchronous: str = "FULL"
    """A reservation of probes must survive a power cut, so each commit reaches the disk [1]."""
    cache_kib: int = 49_152
    """Page cache in KiB; the indices of a million results and delegations, and of samples, stay in memory."""
    page_bytes: int = 16_384
    """Size of a page in a new file [1]: long lists change whole indices, and each page costs system calls."""
    log_bytes: int = 64 << 20
    """Size of the write-ahead log before it is copied back: a page that several transactions changed is
    copied once. 1,000 pages, SQLite's own number, may be fewer than one transaction writes."""
    checked_bytes: int = 16 << 20
    """Files up to this size are checked when they are opened; larger ones would delay every command."""


class Shape:
    """The columns of a table that are read together, with their types.

    SQLite enforces no types: a file with a flipped bit may have bytes where a name was, or a time in a year
    that no calendar has, and they are handed over without complaint.
    """

    def __init__(self, table: str, columns: Mapping[str, Any]) -> None:
        """Name columns in the order in which they are read; `float | None` may be NULL.

        Columns that end in `_s` are seconds and must be times that a calendar has.
        """
        self.table = table
        self.names = ", ".join(columns)
        self.select = f"SELECT {self.names} FROM {table}"  # noqa: S608 - our own names
        self._columns = [
            (name, frozenset(get_args(kind) or (kind,)), LATEST_S if name.endswith("_s") else GREATEST)
            for name, kind in columns.items()
        ]

    def check(self, row: Row) -> Row:
        """Return a row whose values are what its columns promise; `ValueError` names the first other."""
        for value, (name, types, most) in zip(row, self._columns, strict=True):
            if type(value) not in types:
                raise ValueError(f"{name} is {type(value).__name__}")
            if type(value) is float and not -most <= value <= most:
                raise ValueError(f"{name} is {value}")
        return row


class Connection:
    """One thread's connection; every statement outside a transaction is one by itself."""

    def __init__(self, path: str, config: ConnectionConfig) -> None:
        """Open a file, made if it is missing, or `:memory:`."""
        self.path = path
        self._depth = 0
        with translated(path):
            self.raw = sqlite3.connect(path, timeout=config.busy_s, isolation_level=None)
            try:
                self.raw.execute(f"PRAGMA page_size = {config.page_bytes}")
                self.raw.execute("PRAGMA journal_mode = WAL")
                self.raw.execute(f"PRAGMA synchronous = {config.synchronous}")
                self.raw.execute(f"PRAGMA cache_size = -{config.cache_kib}")
                (page_bytes,) = self.raw.execute("PRAGMA page_size").fetchone()
                self.raw.execute(f"PRAGMA wal_autocheckpoint = {config.log_bytes // page_bytes}")
                self.raw.execute("PRAGMA foreign_keys = ON")
                self._check(config.checked_bytes)
            except BaseException:
                self.raw.close()
                raise

    def _check(self, most_bytes: int) -> None:
        """Look for damage in a file that is not too large."""
        if self.path == ":memory:" or Path(self.path).stat().st_size > most_bytes:
            return
        (found,) = self.raw.execute("PRAGMA quick_check(1)").fetchone()
        if found != "ok":
            raise StoreError(self.path, f"it is damaged ({found}): {DAMAGED}")

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

    def row(self, sql: str, values: Sequence[Any] = ()) -> Row | None:
        """Query; return the first row as SQLite has it: for counts and sums."""
        with translated(self.path):
            found: Row | None = self.raw.execute(sql, values).fetchone()
            return found

    def stream(
        self, shape: Shape, make: Callable[[Row], T], rest: str = "", values: Sequence[Any] = ()
    ) -> Iterator[T]:
        """Yield what `make` makes of rows as they are read, for answers that may not fit into memory.

        `rest` is what follows the table's name: WHERE, ORDER BY, LIMIT.
        """
        with translated(self.path, shape.table):
            rows = self.raw.execute(f"{shape.select} {rest}", values)
        while True:
            with translated(self.path, shape.table):
                row = next(rows, None)
                if row is None:
                    return
                made = make(shape.check(row))
            yield made

    def read(
        self, shape: Shape, make: Callable[[Row], T], rest: str = "", values: Sequence[Any] = ()
    ) -> list[T]:
        """Return what `make` makes of each row."""
        with translated(self.path, shape.table):
            rows = self.raw.execute(f"{shape.select} {rest}", values)
            return [make(shape.check(row)) for row in rows]

    def read_one(
        self, shape: Shape, make: Callable[[Row], T], rest: str = "", values: Sequence[Any] = ()
    ) -> T | None:
        """Return what `make` makes of the first row; None if there is none."""
        return next(self.stream(shape, make, rest, values), None)

    def close(self) -> None:
        """Close the file."""
        self.raw.close()


@contextmanager
def translated(path: str, table: str | None = None) -> Iterator[None]:
    """Turn errors of SQLite into ours and, while a table is read, those of damaged rows too."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(path, _with_advice(str(error))) from error
    except UnicodeDecodeError as error:  # SQLite quotes a damaged schema in its message, byte by byte
        raise StoreError(path, f"it is damaged ({error}): {DAMAGED}") from error
    except _OF_DAMAGE as error:
        if table is None:
            raise
        raise StoreError(path, f"the table {table} is damaged ({error}): {DAMAGED}") from error


def _with_advice(message: str) -> str:
    """Add what to do, where the user can do something."""
    if "locked" in message or "busy" in message:
        return f"{message}: another process writes to it; try again when that is done"
    if "full" in message or "disk I/O error" in message:
        return f"{message}: make room and run the same command again; nothing that was written is lost"
    if "malformed" in message or "decode" in message:
        return f"{message}: {DAMAGED}"
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


# --- keys

MAPPED = bytes(10) + b"\xff\xff"
"""Prefix of an IPv4 address (RFC 4291, 2.5.5.2)."""
_HALF = 1 << 31
_SIZE = 16


def packed(address: Address) -> bytes:
    """Return 16 bytes: 1.2.3.4 becomes ::ffff:1.2.3.4."""
    return MAPPED + address.packed if address.version == 4 else address.packed  # noqa: PLR2004 - IPv4


def packed_many(addresses: Iterable[Address]) -> list[bytes]:
    """Return 16 bytes of each; the same object is packed once, as where a subnet is a single address."""
    found: list[bytes] = []
    before: Address | None = None
    for address in addresses:
        found.append(found[-1] if address is before else packed(address))
        before = address
    return found


def packed_or_none(address: Address | None) -> bytes | None:
    """Return 16 bytes, or None for None."""
    return None if address is None else packed(address)


def unpacked(value: bytes) -> Address:
    """Read 16 bytes; IPv4-mapped ones are IPv4 addresses."""
    return IPv4Address(value[12:]) if value[:12] == MAPPED else IPv6Address(value)


def unpacked_or_none(value: bytes | None) -> Address | None:
    """Read 16 bytes, or None."""
    return None if value is None else unpacked(value)


def unpacked_all(value: bytes) -> tuple[Address, ...]:
    """Read addresses of 16 bytes each, one after the other."""
    return tuple(unpacked(value[i : i + _SIZE]) for i in range(0, len(value), _SIZE))


def key_hash(*parts: bytes | str) -> int:
    """Return 32 bits of a key as SQLite stores them in four bytes: with a sign."""
    number = 0
    for part in parts:
        number = crc32(part.encode() if isinstance(part, str) else part, number)
    return number - _HALF
