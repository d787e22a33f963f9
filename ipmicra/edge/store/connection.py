"""Define what tables need from a database, and read rows in one checked way.

Theory of operation
-------------------
Tables speak to a `Connection` and never to a database. There are two, in `sqlite.py` and in `postgres/`, each
with everything that is particular to its database. SQL is written once, in what both understand
(`ON CONFLICT`, placeholders `?`); what they do differently is a method here (`copy`, `create_table`, …).

A statement outside `transaction` is one by itself; inside, everything up to the end of the outermost `with`
is committed together or not at all. Inner ones join the outer: a table can be careful on its own and still
be part of a larger step, as when a batch of samples, delegations and results is written together.

Transactions that write exclude each other, on both databases: a table may read, decide and write inside one
without thinking of others. Readers never wait. Both databases also let the same transaction be repeated
without harm, which matters when a connection breaks (`repeated`, and the theory in `postgres/connection.py`).

Rows may be damaged: by a disk, by a copy taken during a write, by somebody's SQL. They are read by `read`,
`read_one` and `stream` alone, which check their types (`Shape`) and turn whatever fails while something is
made of them into a `StoreError` that names the table.

A connection belongs to the thread that opened it; so do a `Store` and its tables.
"""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any, ClassVar, Concatenate, ParamSpec, Protocol, TypeVar

from ipmicra.edge.store.schema import Row, Shape, Table

T = TypeVar("T")
P = ParamSpec("P")
DAMAGED = "restore the file from a copy, or move it away and begin with an empty store"
OF_DAMAGE = (ValueError, TypeError, KeyError, IndexError, OverflowError, struct.error)
"""What making something of a damaged row raises."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionConfig:
    """Settings of both databases. [1] SQLite on pragmas. [2] PostgreSQL 18, chapter 19."""

    busy_s: float = 30.0
    """How long to wait for another process that writes; a batch of samples takes far less."""
    synchronous: str = "FULL"
    """A reservation of probes must survive a power cut, so each commit reaches the disk [1]; `OFF` is for
    tests, on both databases."""

    cache_kib: int = 49_152
    """SQLite's page cache in KiB; the indices of a million results and delegations, and of samples, stay in
    memory."""
    page_bytes: int = 16_384
    """Size of a page in a new file [1]: long lists change whole indices, and each page costs system calls."""
    log_bytes: int = 64 << 20
    """Size of the write-ahead log before it is copied back: a page that several transactions changed is
    copied once. 1,000 pages, SQLite's own number, may be fewer than one transaction writes."""
    checked_bytes: int = 16 << 20
    """Files up to this size are checked when they are opened; larger ones would delay every command."""

    connect_s: int = 10
    """How long a PostgreSQL server may take to accept a connection."""
    reconnect_s: float = 20.0
    """How long to try again when the server is gone, or undid a write because of another one: a restart takes
    seconds, a failover somewhat more."""
    idle_s: float = 8.0
    """A transaction of a process that does nothing for so long is undone by the server [2]: one that was
    stopped in the middle must not keep others from writing. Several connections of such a process may get
    their turn one after the other, so three of these times are less than `busy_s`; else others give up."""
    fetched_rows: int = 2_000
    """Rows that a streamed answer brings at a time."""


class Connection(ABC):
    """One thread's connection; every statement outside a transaction is one by itself."""

    path: str
    """The store in messages; never with a password."""
    row_lock: ClassVar[str]
    """What follows a SELECT to keep others from changing its rows until the transaction ends."""
    share_lock: ClassVar[str]
    """The same, but others may look at them in the same way."""
    skipping_lock: ClassVar[str]
    """The same as `row_lock`, but rows that somebody else has locked are left out."""
    guards: list[Callable[[], object]]
    """Called first in every transaction that writes; one raises if this process may not write any more."""
    _depth: int
    """How many transactions stand in each other."""

    def __init__(self, path: str) -> None:
        """Name the store."""
        self.path = path
        self.guards = []
        self._depth = 0

    # --- transactions

    @contextmanager
    def transaction(self, *, is_exclusive: bool = True) -> Iterator[None]:
        """Do all or nothing; inside another transaction, be part of that.

        Exclusive ones exclude each other. One that is not must lock the rows that it changes (`row_lock`).
        """
        if self._depth:
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
            return
        with self.translated():
            self._begin(is_exclusive=is_exclusive)
            self._depth = 1
            try:
                for guard in self.guards if is_exclusive else ():
                    guard()
                yield
                self._commit(is_exclusive=is_exclusive)
            except BaseException:
                self._roll_back()
                raise
            finally:
                self._depth = 0

    @abstractmethod
    def _begin(self, *, is_exclusive: bool) -> None:
        """Begin a transaction."""

    @abstractmethod
    def _commit(self, *, is_exclusive: bool) -> None:
        """Commit, or raise because the database undid it."""

    @abstractmethod
    def _roll_back(self) -> None:
        """Undo what is left of a transaction, if there is one."""

    def begin_marking(self) -> None:  # noqa: B027 - SQLite needs none
        """Let transactions leave a mark from now on, if the database needs one: the tables are there."""

    @abstractmethod
    def snapshot(self) -> AbstractContextManager[None]:
        """Read one state of the store, whatever others write meanwhile; nothing may be written inside."""

    @abstractmethod
    def repeated(self, work: Callable[[], T], *, is_exclusive: bool = True) -> T:
        """Do work in a transaction; again if the database undid it for reasons that pass."""

    # --- writing

    @abstractmethod
    def execute(self, sql: str, values: Sequence[Any] = ()) -> int:
        """Run one statement; return the number of rows it changed."""

    @abstractmethod
    def execute_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for many rows, in a transaction."""

    @abstractmethod
    def copy(self, table: Table, rows: Iterable[Row], names: Sequence[str] = ()) -> None:
        """Add many rows as fast as possible: the values of `table.filled`, or of the columns named."""

    @abstractmethod
    def add_absent(self, table: Table, key: Sequence[str], rows: Sequence[Row]) -> None:
        """Add rows, the values of `table.filled`, unless there is one with the same key.

        For tables whose key no index guards (see `keys.py`); the first column of the key is its hash.
        """

    # --- reading

    @abstractmethod
    def row(self, sql: str, values: Sequence[Any] = ()) -> Row | None:
        """Query; return the first row as the database has it: for counts and sums."""

    @abstractmethod
    def rows(self, sql: str, values: Sequence[Any] = ()) -> Iterable[Row]:
        """Query; return rows that are read at once."""

    @abstractmethod
    def _streamed(self, sql: str, values: Sequence[Any]) -> Iterator[Row]:
        """Query; return rows as they are read, for answers that may not fit into memory."""

    @abstractmethod
    def translated(self, table: str | None = None) -> AbstractContextManager[None]:
        """Turn errors of the database into ours and, while a table is read, those of damaged rows too."""

    def stream(
        self, shape: Shape, make: Callable[[Row], T], rest: str = "", values: Sequence[Any] = ()
    ) -> Iterator[T]:
        """Yield what `make` makes of rows as they are read, for answers that may not fit into memory.

        `rest` is what follows the table's name: WHERE, ORDER BY, LIMIT.
        """
        with self.translated(shape.table):
            rows = self._streamed(f"{shape.select} {rest}", values)
        while True:
            with self.translated(shape.table):
                row = next(rows, None)
                if row is None:
                    return
                made = make(shape.check(row))
            yield made

    def read(
        self, shape: Shape, make: Callable[[Row], T], rest: str = "", values: Sequence[Any] = ()
    ) -> list[T]:
        """Return what `make` makes of each row."""
        with self.translated(shape.table):
            rows = self.rows(f"{shape.select} {rest}", values)
            return [make(shape.check(row)) for row in rows]

    def read_one(
        self, shape: Shape, make: Callable[[Row], T], rest: str = "", values: Sequence[Any] = ()
    ) -> T | None:
        """Return what `make` makes of the first row; None if there is none."""
        with self.translated(shape.table):
            row = self.row(f"{shape.select} {rest}", values)
            return None if row is None else make(shape.check(row))

    # --- the schema

    @abstractmethod
    def has_table(self, name: str) -> bool:
        """Return whether a table exists."""

    @abstractmethod
    def create_table(self, table: Table) -> None:
        """Create a table with its key and its indices."""

    @abstractmethod
    def add_column(self, table: Table, name: str) -> None:
        """Add a column of a table's description, unless the table has it."""

    @abstractmethod
    def make_temporary(self, name: str, columns: Mapping[str, type]) -> None:
        """Make an empty table that is seen by this transaction alone; its columns together are its key."""

    @abstractmethod
    def columns_of(self, table: str) -> dict[str, bool]:
        """Return the columns that a table has in the database, and whether each must have a value."""

    @abstractmethod
    def set_next_id(self, table: Table) -> None:
        """Let the next `id` follow the greatest one that the table holds, after rows came with theirs."""

    # --- the rest

    @abstractmethod
    def now_s(self) -> float:
        """Return the time that all who share the store agree on: seconds since 1970."""

    @abstractmethod
    def size_bytes(self) -> int:
        """Return how much room the store takes."""

    @abstractmethod
    def close(self) -> None:
        """Close the connection."""


class Connected(Protocol):
    """A table: it has a connection."""

    _connection: Connection


C = TypeVar("C", bound=Connected)


def in_transaction(method: Callable[Concatenate[C, P], T]) -> Callable[Concatenate[C, P], T]:
    """Let a method of a table be one transaction, which is repeated if the database undoes it.

    So it may read, decide and write; and it must change nothing but the store.
    """

    @wraps(method)
    def whole(table: C, /, *args: P.args, **kwargs: P.kwargs) -> T:
        again = [list(one) if isinstance(one, Iterator) else one for one in args]  # an iterator ends
        return table._connection.repeated(lambda: method(table, *again, **kwargs))  # type: ignore[arg-type]  # noqa: SLF001

    return whole
