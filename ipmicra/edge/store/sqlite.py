"""Connect to SQLite: write-ahead log, nested transactions, errors translated once.

Theory of operation
-------------------
The connection is in autocommit mode (`isolation_level=None`): Python starts no transaction behind our back.

A transaction begins with BEGIN IMMEDIATE, which takes the write lock at once. The default would start as a
reader and ask for the lock at the first write, which fails without waiting if another one wrote in between;
with IMMEDIATE the other process waits, up to `busy_s`.

The write-ahead log (WAL) lets readers read the last committed state while one process writes. `synchronous
= FULL` syncs the log at each commit: a reservation of probes must survive a power cut, or the budget would
be spent twice. So a commit costs a sync, and callers write many rows per transaction (`execute_many`).

A file may be damaged. What SQLite notices is a `StoreError`; a file of moderate size is checked when it is
opened.
"""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from sqlite_utils import Database
from sqlite_utils.db import Table as UtilsTable

from ipmicra.edge.store.connection import DAMAGED, OF_DAMAGE, Connection, ConnectionConfig
from ipmicra.edge.store.schema import Row, Table, literal
from ipmicra.errors import StoreError

T = TypeVar("T")
MEMORY = ":memory:"
_TYPES = {bytes: "BLOB", str: "TEXT", float: "FLOAT", int: "INTEGER"}
_FAILED = re.compile(r"error code=(\d+)")
"""In what the look for damage found."""
_NO_DAMAGE = {sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_IOERR}
"""Why a page could not be had, though it may be sound."""


class SqliteConnection(Connection):
    """One thread's connection to a file."""

    row_lock = share_lock = skipping_lock = ""  # a transaction has the whole file for itself

    def __init__(self, path: str, config: ConnectionConfig) -> None:
        """Open a file, made if it is missing, or `:memory:`."""
        super().__init__(path)
        with self.translated():
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
        if self.path == MEMORY or Path(self.path).stat().st_size > most_bytes:
            return
        (found,) = self.raw.execute("PRAGMA quick_check(1)").fetchone()
        failed = _FAILED.search(found)
        if failed and int(failed[1]) & 0xFF in _NO_DAMAGE:
            error = sqlite3.OperationalError(f"it could not be looked through ({found})")
            error.sqlite_errorcode = int(failed[1])
            raise error
        if found != "ok":
            raise StoreError(self.path, f"it is damaged ({found}): {DAMAGED}")

    # --- transactions

    def _begin(self, *, is_exclusive: bool) -> None:  # noqa: ARG002 - all of them are
        self.raw.execute("BEGIN IMMEDIATE")

    def _commit(self, *, is_exclusive: bool) -> None:  # noqa: ARG002
        self.raw.execute("COMMIT")

    def _roll_back(self) -> None:
        if self.raw.in_transaction:
            self.raw.execute("ROLLBACK")

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read one state of the file; the write-ahead log keeps it as long as this lasts."""
        with self.translated():
            self.raw.execute("BEGIN")
        try:
            yield
        finally:
            self.raw.execute("ROLLBACK")

    def repeated(self, work: Callable[[], T], *, is_exclusive: bool = True) -> T:
        """Do work in a transaction; SQLite undoes none for reasons that pass."""
        with self.transaction(is_exclusive=is_exclusive):
            return work()

    # --- writing

    def execute(self, sql: str, values: Sequence[Any] = ()) -> int:
        """Run one statement; return the number of rows it changed."""
        with self.translated():
            return self.raw.execute(sql, values).rowcount

    def execute_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for many rows, in a transaction."""
        with self.transaction():
            self.raw.executemany(sql, rows)

    def copy(self, table: Table, rows: Iterable[Row], names: Sequence[str] = ()) -> None:
        """Add many rows: the values of `table.filled`, or of the columns named."""
        chosen = names or table.filled
        marks = ", ".join("?" * len(chosen))
        sql = f"INSERT INTO {table.name} ({', '.join(chosen)}) VALUES ({marks})"  # noqa: S608 - our own names
        self.execute_many(sql, rows)

    def add_absent(self, table: Table, key: Sequence[str], rows: Sequence[Row]) -> None:
        """Add rows unless there is one with the same key; the statement itself looks for it."""
        numbers = {name: f"?{number}" for number, name in enumerate(table.filled, 1)}
        same = " AND ".join(f"{name} = {numbers[name]}" for name in key)
        self.execute_many(
            # FAIL, as ABORT would keep a journal of each statement: the transaction undoes it all anyway
            f"INSERT OR FAIL INTO {table.name} ({', '.join(numbers)}) "  # noqa: S608 - our own names
            f"SELECT {', '.join(numbers.values())} "
            f"WHERE NOT EXISTS (SELECT 1 FROM {table.name} WHERE {same})",
            rows,
        )

    # --- reading

    def row(self, sql: str, values: Sequence[Any] = ()) -> Row | None:
        """Query; return the first row as SQLite has it."""
        with self.translated():
            found: Row | None = self.raw.execute(sql, values).fetchone()
            return found

    def rows(self, sql: str, values: Sequence[Any] = ()) -> Iterable[Row]:
        """Query; return rows that are read at once."""
        return self.raw.execute(sql, values)

    def _streamed(self, sql: str, values: Sequence[Any]) -> Iterator[Row]:
        return self.raw.execute(sql, values)

    # --- the schema

    def has_table(self, name: str) -> bool:
        """Return whether a table exists."""
        return self.row("SELECT 1 FROM sqlite_master WHERE name = ?", (name,)) is not None

    def create_table(self, table: Table) -> None:
        """Create a table with its key and its indices."""
        columns = {name: table.kind(name) for name in table.columns}
        key = table.key[0] if len(table.key) == 1 else table.key or None
        needed = [name for name in table.needed if name not in table.key]
        # `database[name]` may be a view, which has no `create`: hence the class itself.
        made = UtilsTable(Database(self.raw, recursive_triggers=False), table.name)
        made.create(columns, pk=key, not_null=needed, defaults=dict(table.defaults))
        for index in table.indexes:
            where = f" WHERE {index.where}" if index.where else ""
            self.execute(
                f"CREATE INDEX {table.index_name(index)} ON {table.name} ({', '.join(index.columns)}){where}"
            )

    def add_column(self, table: Table, name: str) -> None:
        """Add a column of a table's description, unless the table has it."""
        if name in self.columns_of(table.name):
            return
        needed = "" if table.may_be_null(name) else f" NOT NULL DEFAULT {literal(table.defaults[name])}"
        self.execute(f"ALTER TABLE {table.name} ADD COLUMN {name} {_TYPES[table.kind(name)]}{needed}")

    def make_temporary(self, name: str, columns: Mapping[str, type]) -> None:
        """Make an empty table of this connection; its columns together are its key."""
        kinds = ", ".join(f"{column} {_TYPES[kind]}" for column, kind in columns.items())
        self.execute(f"CREATE TEMP TABLE IF NOT EXISTS {name} ({kinds}, PRIMARY KEY ({', '.join(columns)}))")
        self.execute(f"DELETE FROM {name}")  # noqa: S608 - our own name

    def columns_of(self, table: str) -> dict[str, bool]:
        """Return the columns of a table, and whether each must have a value; a key must."""
        with self.translated():
            found = self.raw.execute(f"PRAGMA table_info({table})").fetchall()
        return {name: bool(must or key) for _, name, _, must, _, key in found}

    def set_next_id(self, table: Table) -> None:
        """Do nothing: SQLite goes on from the greatest `id` by itself."""

    # --- the rest

    def now_s(self) -> float:
        """Return this machine's time: a file is shared by one machine."""
        return time.time()

    def size_bytes(self) -> int:
        """Return how many bytes the pages of the file take."""
        found = self.row("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()")
        return int(found[0]) if found else 0

    def close(self) -> None:
        """Close the file."""
        self.raw.close()

    @contextmanager
    def translated(self, table: str | None = None) -> Iterator[None]:
        """Turn errors of SQLite into ours and, while a table is read, those of damaged rows too."""
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(self.path, _with_advice(str(error))) from error
        except UnicodeDecodeError as error:  # SQLite quotes a damaged schema in its message, byte by byte
            raise StoreError(self.path, f"it is damaged ({error}): {DAMAGED}") from error
        except OF_DAMAGE as error:
            if table is None:
                raise
            raise StoreError(self.path, f"the table {table} is damaged ({error}): {DAMAGED}") from error


def _with_advice(message: str) -> str:
    """Add what to do, where the user can do something."""
    if "locked" in message or "busy" in message:
        return f"{message}: another process writes to it; try again when that is done"
    if "full" in message or "disk I/O error" in message:
        return f"{message}: make room and run the same command again; nothing that was written is lost"
    if "malformed" in message or "decode" in message:
        return f"{message}: {DAMAGED}"
    return message
