"""Connect to PostgreSQL: what a file does by itself, with a server that others use and that may go away.

Theory of operation
-------------------
**Writers exclude each other**, as they do in SQLite. A transaction takes one advisory lock of the database,
which ends with the transaction. So tables may read, decide and write without thinking of others, nothing has
to be serializable, and rows become visible in the order of their `id`: who reads `id > n` misses none. Locks
of a session would not survive a pooler such as pgbouncer, and neither would settings of a session: all of
them are part of a transaction (`SET LOCAL`), which begins in one round trip.

A process that is stopped inside a transaction would block all others. The server undoes it after `idle_s`.
Leases (`leases.py`) do without the lock and lock their own rows, so that renewing one never waits for a long
write.

**Bulk writes** use binary COPY.

**Streamed answers** come through a second connection and a cursor of the server's, in a read-only transaction
of its own: one connection can do one thing at a time, and callers write while they read. Inside a
transaction, where its own writes must be seen, an answer is read at once.

**A connection that breaks** is made again by the next transaction or question, which waits up to
`reconnect_s` for the server. What was under way then?
1. A question is asked again.
2. A transaction that was not committed was undone by the server. Inside `repeated` the work is done again,
   which statements by themselves are; elsewhere a `StoreError` says so, and the same command resumes.
3. A COMMIT whose answer was lost may have happened or not. So each transaction leaves its number in a row of
   its connection's own (in `meta`), and a new connection looks whether that is there: if so, it is as if the
   answer had come; if not, this is case 2. (The server's own `pg_xact_status` is no answer after a crash:
   numbers of transactions that were lost are given again, to others.) If the server stays away, the error
   says that the outcome is unknown. Repeating the command is safe even so: results are added only if absent,
   samples and the answers to their orders are one transaction, delegations replace equal ones, orders have
   ids that exist once, and whoever holds a lease is fenced by its number.

Text cannot contain NUL in PostgreSQL; tables that keep texts of others replace it (`SampleTable`).
Texts are compared byte by byte (`COLLATE "C"`), as in SQLite.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar
from uuid import uuid4

import psycopg
from psycopg import errors

from ipmicra.edge.store.connection import OF_DAMAGE, Connection, ConnectionConfig
from ipmicra.edge.store.meta import WRITER
from ipmicra.edge.store.postgres.advice import advice
from ipmicra.edge.store.postgres.creating import TYPES, column_kind, creating
from ipmicra.edge.store.postgres.link import Link, Raw
from ipmicra.edge.store.postgres.place import PostgresPlace
from ipmicra.edge.store.postgres.words import MARK, UNKNOWN, translate
from ipmicra.edge.store.schema import ROWID, Row, Table
from ipmicra.errors import StoreError

T = TypeVar("T")
_COPIED = {bytes: "bytea", str: "text", float: "float8", int: "int8"}
_LOCK = 0x69706D69
"""The advisory lock of writers: "ipmi"."""
_UNDONE = (errors.SerializationFailure, errors.DeadlockDetected)
"""The transaction was undone because of another one: it may be done again."""


class _LostError(StoreError):
    """The transaction was undone because the connection broke."""


class PostgresConnection(Connection):
    """One thread's connection to a database."""

    row_lock, share_lock, skipping_lock = "FOR UPDATE", "FOR SHARE", "FOR UPDATE SKIP LOCKED"

    def __init__(self, place: PostgresPlace, config: ConnectionConfig) -> None:
        """Connect; a server that is away is an error at once."""
        super().__init__(place.shown)
        self._place = place
        self._config = config
        self._writer = f"{WRITER}{uuid4().hex}"
        self._number = 0
        self._is_marking = self._is_snapshot = False
        self._readers: list[Raw] = []
        with self.translated():
            self._link = Link(place, config)

    @property
    def raw(self) -> Raw:
        """The connection as it is, which may be broken."""
        return self._link.raw

    # --- transactions

    def _begin(self, *, is_exclusive: bool) -> None:
        """Begin in one round trip; a connection that broke meanwhile is made again."""
        words = self._first_words(is_exclusive=is_exclusive)
        if is_exclusive and self._is_marking:
            self._number += 1
            words += f"; {MARK.format(writer=self._writer, number=self._number, at_s=int(time.time()))}"
        for is_last in (False, True):
            raw = self._link.renewed()
            try:
                raw.execute(words.encode())
            except psycopg.Error:
                self._roll_back()
                if is_last or not raw.closed:
                    raise
            else:
                return

    def _first_words(self, *, is_exclusive: bool) -> str:
        synchronous = "off" if self._config.synchronous == "OFF" else "on"
        lock = f"; SELECT pg_advisory_xact_lock({_LOCK})" if is_exclusive else ""
        return (
            f"BEGIN; SET LOCAL lock_timeout = {int(self._config.busy_s * 1000)}; "
            f"SET LOCAL idle_in_transaction_session_timeout = {int(self._config.idle_s * 1000)}; "
            f"SET LOCAL synchronous_commit = {synchronous}{lock}"
        )

    def _commit(self, *, is_exclusive: bool) -> None:
        try:
            ended = self.raw.execute(b"COMMIT").statusmessage
        except psycopg.Error as error:
            if not self.raw.closed:
                raise
            if not (is_exclusive and self._is_marking and self._is_committed()):
                raise _LostError(self.path, advice(error)) from error
            return
        if ended != "COMMIT":  # something failed inside, and somebody went on as if it had not
            raise StoreError(self.path, "a statement failed, so the transaction was undone")

    def _is_committed(self) -> bool:
        """Return whether the mark of the transaction is there whose COMMIT was not answered.

        Writers' lock comes first: an old connection that still works on it must end.
        """
        look = f"SELECT value FROM meta WHERE key = '{self._writer}'"  # noqa: S608 - our own name
        sql = f"{self._first_words(is_exclusive=True)}; {look}"
        until_s = time.monotonic() + self._config.reconnect_s
        while True:
            try:
                cursor = self._link.renewed().execute(sql.encode())
                while cursor.nextset():
                    pass
                found = cursor.fetchone()
                return found is not None and found[0].split()[0] == str(self._number)
            except psycopg.Error as error:
                if time.monotonic() > until_s:
                    raise StoreError(self.path, UNKNOWN) from error
            finally:
                self._roll_back()

    def _roll_back(self) -> None:
        with suppress(psycopg.Error):
            if not self.raw.closed:
                self.raw.rollback()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read one state of the database, through cursors of the server's on this connection."""
        with self.translated():
            self._link.renewed().execute(b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        self._depth, self._is_snapshot = 1, True
        try:
            yield
        finally:
            self._depth, self._is_snapshot = 0, False
            self._roll_back()

    def begin_marking(self) -> None:
        """Mark transactions from now on: the tables are there."""
        self._is_marking = True

    def repeated(self, work: Callable[[], T], *, is_exclusive: bool = True) -> T:
        """Do work in a transaction; again if it was undone because of another one or a broken connection."""
        if self._depth:
            return work()
        until_s = time.monotonic() + self._config.reconnect_s
        while True:
            try:
                with self.transaction(is_exclusive=is_exclusive):
                    return work()
            except StoreError as error:
                is_passing = isinstance(error, _LostError) or isinstance(error.__cause__, _UNDONE)
                if not is_passing or time.monotonic() > until_s:
                    raise

    # --- writing

    def execute(self, sql: str, values: Sequence[Any] = ()) -> int:
        """Run one statement; return the number of rows it changed."""

        def run() -> int:
            with self.translated():
                return self.raw.execute(translate(sql), values).rowcount

        return self.repeated(run)

    def execute_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for many rows, in a transaction."""
        kept = list(rows)

        def run() -> None:
            with self.translated():
                self.raw.cursor().executemany(translate(sql), kept)

        if kept:
            self.repeated(run)

    def copy(self, table: Table, rows: Iterable[Row], names: Sequence[str] = ()) -> None:
        """Add many rows by COPY: the values of `table.filled`, or of the columns named."""
        kept = rows if isinstance(rows, Sequence) or self._depth else list(rows)
        chosen = names or table.filled
        sql = f"COPY {table.name} ({', '.join(chosen)}) FROM STDIN (FORMAT BINARY)"
        kinds = [_COPIED[table.kind(name)] for name in chosen]

        def run() -> None:
            with self.translated(), self.raw.cursor().copy(sql.encode()) as copy:
                copy.set_types(kinds)
                write = copy.write_row
                for row in kept:
                    write(row)

        self.repeated(run)

    def add_absent(self, table: Table, key: Sequence[str], rows: Sequence[Row]) -> None:
        """Add rows unless there is one with the same key; those that are there are looked up first."""
        places = [table.filled.index(name) for name in key]
        sql = f"SELECT {', '.join(key)} FROM {table.name} WHERE {key[0]} = ANY($1::bigint[])"  # noqa: S608

        def run() -> None:
            with self.translated():
                found = self.raw.execute(sql.encode(), [[row[places[0]] for row in rows]])
                known: set[Row] = set(found)
            new = []
            for row in rows:
                mine = tuple(row[place] for place in places)
                if mine not in known:
                    known.add(mine)
                    new.append(row)
            self.copy(table, new)

        self.repeated(run)

    # --- reading

    def _asked(self, sql: str, values: Sequence[Any]) -> psycopg.RawCursor[Row]:
        """Ask; once more if the connection broke outside a transaction."""
        raw = self.raw if self._depth else self._link.renewed()
        try:
            cursor = psycopg.RawCursor(raw)
            return cursor.execute(translate(sql), values, binary=True)
        except psycopg.OperationalError:
            if self._depth or not raw.closed:
                raise
        return psycopg.RawCursor(self._link.renewed()).execute(translate(sql), values, binary=True)

    def row(self, sql: str, values: Sequence[Any] = ()) -> Row | None:
        """Query; return the first row."""
        with self.translated():
            return self._asked(sql, values).fetchone()

    def rows(self, sql: str, values: Sequence[Any] = ()) -> Iterable[Row]:
        """Query; return rows that are read at once."""
        return self._asked(sql, values)

    def _streamed(self, sql: str, values: Sequence[Any]) -> Iterator[Row]:
        if self._is_snapshot:
            return self._cursor_rows(self.raw, sql, values)
        return iter(self.rows(sql, values)) if self._depth else self._fetched(sql, values)

    def _fetched(self, sql: str, values: Sequence[Any]) -> Iterator[Row]:
        """Read through a connection of its own, a part at a time.

        If that breaks before the first row, because the server was restarted since it was last used, another
        one is made; after that somebody has used rows, and whoever reads must begin again.
        """
        for is_last in (False, True):
            reader = self._readers.pop() if self._readers else self._link.another()
            is_begun = is_done = False
            try:
                with reader.transaction():
                    rows = self._cursor_rows(reader, sql, values)
                    first = next(rows, None)
                    if first is not None:
                        is_begun = True
                        yield first
                        yield from rows
                is_done = True
            except psycopg.OperationalError:
                if is_begun or is_last or not reader.closed:
                    raise
                while self._readers:  # they broke with it
                    self._readers.pop().close()
            finally:
                if is_done:
                    self._readers.append(reader)
                else:
                    reader.close()
            if is_done:
                return

    def _cursor_rows(self, raw: Raw, sql: str, values: Sequence[Any]) -> Iterator[Row]:
        with psycopg.RawServerCursor(raw, "rows") as cursor:
            cursor.itersize = self._config.fetched_rows
            cursor.execute(translate(sql), values, binary=True)
            yield from cursor

    # --- the schema

    def has_table(self, name: str) -> bool:
        """Return whether a table exists."""
        found = self.row("SELECT to_regclass(?) IS NOT NULL", (name,))
        return bool(found and found[0])

    def create_table(self, table: Table) -> None:
        """Create a table with its key and its indices."""
        for statement in creating(table):
            self.execute(statement)

    def add_column(self, table: Table, name: str) -> None:
        """Add a column of a table's description, unless the table has it."""
        self.execute(f"ALTER TABLE {table.name} ADD COLUMN IF NOT EXISTS {name} {column_kind(table, name)}")

    def make_temporary(self, name: str, columns: Mapping[str, type]) -> None:
        """Make an empty table of this transaction; its columns together are its key."""
        kinds = ", ".join(f"{column} {TYPES[kind]}" for column, kind in columns.items())
        self.execute(f"DROP TABLE IF EXISTS pg_temp.{name}")
        self.execute(f"CREATE TEMP TABLE {name} ({kinds}, PRIMARY KEY ({', '.join(columns)})) ON COMMIT DROP")

    def columns_of(self, table: str) -> dict[str, bool]:
        """Return the columns of a table but `rowid`, and whether each must have a value."""
        with self.translated():
            found = self._asked(
                "SELECT attname::text, attnotnull FROM pg_attribute "
                "WHERE attrelid = to_regclass(?) AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
                (table,),
            ).fetchall()
        return {name: must for name, must in found if name != ROWID}

    def set_next_id(self, table: Table) -> None:
        """Let the next `id` follow the greatest one that the table holds."""
        if table.is_numbered:
            self.row(
                f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), "  # noqa: S608 - our own name
                f"coalesce(max(id), 0) + 1, false) FROM {table.name}"
            )

    # --- the rest

    def now_s(self) -> float:
        """Return the server's time, which all clients share whatever their own clocks say."""
        found = self.row("SELECT extract(epoch FROM clock_timestamp())::float8")
        return float(found[0]) if found else 0.0

    def size_bytes(self) -> int:
        """Return how many bytes the database takes."""
        found = self.row("SELECT pg_database_size(current_database())")
        return int(found[0]) if found else 0

    def close(self) -> None:
        """Close all connections."""
        with suppress(psycopg.Error):
            if self._number and not self.raw.closed:
                self.raw.execute(f"DELETE FROM meta WHERE key = '{self._writer}'".encode())  # noqa: S608
        for raw in (self.raw, *self._readers):
            raw.close()

    @contextmanager
    def translated(self, table: str | None = None) -> Iterator[None]:
        """Turn errors of PostgreSQL into ours and, while a table is read, those of damaged rows too."""
        try:
            yield
        except psycopg.Error as error:
            kind = _LostError if self._depth and self.raw.closed else StoreError
            raise kind(self.path, self._place.without_password(advice(error))) from error
        except OF_DAMAGE as error:
            if table is None:
                raise
            raise StoreError(
                self.path, f"the table {table} is damaged ({error}): restore the database from a backup"
            ) from error
