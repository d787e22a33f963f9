"""Copy a store into another one, of either database.

Theory of operation
-------------------
The source is read as it was at one moment (`snapshot`), so it may be in use. Rows go over table by table, in
the order in which they came, a few thousand per transaction; they keep their numbers.

Until all of it is there and counted, the target has a mark that says from where the copy comes, and nothing
else opens it (`Store.open`). A copy that was interrupted leaves the mark. The next one finds it, empties the
tables and begins again: that costs time and never mixes two states. A target that holds something and has no
mark is a store that somebody uses; it is replaced only if told so.

What belongs to a place and not to its content stays behind: the list of migrations, leases, and the marks
that connections leave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from ipmicra.edge.store.connection import Connection
from ipmicra.edge.store.counters import COUNTERS
from ipmicra.edge.store.leases import LEASES
from ipmicra.edge.store.meta import COPY_MARK, META, MIGRATION_TABLE, WRITER, MetaTable
from ipmicra.edge.store.schema import ROWID, Row, Table
from ipmicra.edge.store.store import Store
from ipmicra.edge.store.tables import TABLES
from ipmicra.errors import InputError, StoreError

COPIED = tuple(table for table in TABLES if table.name not in {MIGRATION_TABLE.name, LEASES.name})
AT_ONCE = 5_000
"""Rows of a transaction: enough that its cost does not matter."""
_OWN = f"WHERE key NOT LIKE '{WRITER}%' AND key <> '{COPY_MARK}'"
"""Words that are content."""
Progress = Callable[[str, int, int], object]
"""Called with a table, how many of its rows are copied, and how many there are."""


def copy_rows(source: Store, target: Store, progress: Progress, *, replaces: bool) -> dict[str, int]:
    """Copy everything; return the number of rows by table.

    Raises:
        InputError: The target holds something, and is not to be replaced.
        StoreError: The target does not have what the source had.
    """
    into, marks = target.connection, MetaTable(target.connection)
    if marks.get(COPY_MARK) is None and not replaces:
        held = next((one.name for one in COPIED if one is not COUNTERS and _count(into, one)), None)
        if held is not None:
            raise InputError(f"{into.path} is not empty ({held}): use --replace to overwrite what it holds")
    marks.set(COPY_MARK, source.connection.path)
    for table in COPIED:
        into.execute(f"DELETE FROM {table.name} {_which(table)}")  # noqa: S608 - our own names
    with source.connection.snapshot():
        counts = {table.name: _count(source.connection, table) for table in COPIED}
        for table in COPIED:
            for done in _copy_table(source.connection, into, table):
                progress(table.name, done, counts[table.name])
    for table in COPIED:
        found, wanted = _count(into, table), counts[table.name]
        if found != wanted:
            raise StoreError(into.path, f"{table.name} has {found:,} of {wanted:,} rows: copy again")
    into.execute("DELETE FROM meta WHERE key = ?", (COPY_MARK,))
    return counts


def _copy_table(source: Connection, target: Connection, table: Table) -> Iterator[int]:
    """Copy the rows of a table in their order; yield how many are copied."""
    order = ", ".join((ROWID,) if table.is_ordered else table.key)
    rest = f"{_which(table)} ORDER BY {order}"
    rows = source.stream(table.shape(), _plain, rest)
    copied = 0
    while part := list(islice(rows, AT_ONCE)):
        target.copy(table, part, tuple(table.columns))
        copied += len(part)
        yield copied
    target.set_next_id(table)


def _plain(row: Row) -> Row:
    """Return a row as any database takes it: SQLite may hold a NUL in a text."""
    if any(type(value) is str and "\0" in value for value in row):
        return tuple(value.replace("\0", "␀") if type(value) is str else value for value in row)
    return row


def _which(table: Table) -> str:
    return _OWN if table is META else ""


def _count(connection: Connection, table: Table) -> int:
    found = connection.row(f"SELECT count(*) FROM {table.name} {_which(table)}")  # noqa: S608 - our own names
    return int(found[0]) if found else 0


def count_rows(connection: Connection) -> Iterator[tuple[str, int]]:
    """Yield the tables with the number of their rows."""
    for table in TABLES:
        yield table.name, _count(connection, table)
