"""Bring the schema up to date, in numbered steps; a published step never changes.

How to add a table
------------------
1. Describe it beside the class that uses it: `TOKENS = Table("tokens", {"name": str, "hash": bytes, …},
   key=("name",))`. Columns are `float | None` where they may be NULL. Names that end in `_s` are seconds.
2. Add it to `TABLES` in `tables.py`.
3. Add `Migration(number=…, name="tokens", apply=creates(TOKENS))` below.

To add a column: put it into the description (with a default in `defaults` unless it may be NULL), and add
`Migration(…, apply=adds(TOKENS, "crawler"))`. Anything else is a function of a `Connection` that runs SQL
which both databases understand.

Theory of operation
-------------------
A new store in SQLite runs all steps: some are its own history (`published/`), the later ones are written
for both databases. A new store in PostgreSQL begins with all tables as they are described now,
and counts every step as taken. So a step that creates a table creates it as it is described *now*, and a
later step that adds a column does nothing where the column is there already. A test sees that both ways lead
to the same tables, columns and indices.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from operator import itemgetter

from sqlite_utils import Database

from ipmicra.edge.store import counting
from ipmicra.edge.store.connection import Connection
from ipmicra.edge.store.delegations import create_archiving
from ipmicra.edge.store.leases import LEASES
from ipmicra.edge.store.meta import MIGRATION_TABLE
from ipmicra.edge.store.published import changes, tables
from ipmicra.edge.store.schema import Table
from ipmicra.edge.store.sqlite import SqliteConnection
from ipmicra.edge.store.tables import TABLES
from ipmicra.edge.store.tokens import AGENTS, TOKENS
from ipmicra.errors import StoreError

_STEP = MIGRATION_TABLE.shape("number")


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """One step of the schema."""

    number: int
    name: str
    apply: Callable[[Connection], object]


def creates(*described: Table) -> Callable[[Connection], None]:
    """Return a step that creates tables."""

    def apply(connection: Connection) -> None:
        for table in described:
            connection.create_table(table)

    return apply


def _in_sqlite(change: Callable[[Database], None]) -> Callable[[Connection], None]:
    """Return a published step, which no other database ever takes."""

    def apply(connection: Connection) -> None:
        assert isinstance(connection, SqliteConnection)  # noqa: S101 - PostgreSQL begins after these
        change(Database(connection.raw, recursive_triggers=False))

    return apply


_PUBLISHED = (
    ("meta", tables.create_meta),
    ("crawlers", tables.create_crawlers),
    ("sites", tables.create_sites),
    ("samples", tables.create_samples),
    ("names", tables.create_names),
    ("budget", tables.create_budget),
    ("delegations", tables.create_delegations),
    ("batches", tables.create_batches),
    ("marks", tables.create_marks),
    ("grafts", tables.create_grafts),
    ("assignments", tables.create_assignments),
    ("states", tables.create_states),
    ("recrawls", tables.create_recrawls),
    ("track records", changes.create_track_records),
    ("results are appended", changes.append_results),
    ("delegations are appended", changes.append_delegations),
    ("views", tables.create_views),
    ("origins of delegations", changes.add_origins),
    ("origins of results", changes.add_result_origins),
    ("assignments by vantage", changes.add_vantages_to_assignments),
    ("schedules by vantage", changes.add_vantages_to_recrawls),
    ("subnet trips", tables.create_subnet_trips),
    ("origins of site answers", changes.add_answer_origins),
    ("downloads of samples", changes.add_downloads),
)
MIGRATIONS = (
    *(
        Migration(number=number, name=name, apply=_in_sqlite(change))
        for number, (name, change) in enumerate(_PUBLISHED, 1)
    ),
    Migration(number=25, name="tokens and agents", apply=creates(TOKENS, AGENTS)),
    Migration(number=26, name="changes of assignments", apply=_in_sqlite(changes.number_changes)),
    Migration(number=30, name="leases", apply=creates(LEASES)),
    Migration(number=31, name="loads of crawlers", apply=counting.count_loads),
    Migration(number=32, name="due times", apply=counting.keep_due_times),
    Migration(number=33, name="sites of wide delegations", apply=counting.index_sites),
)


def migrate(connection: Connection, migrations: tuple[Migration, ...] = MIGRATIONS) -> None:
    """Bring a store to the newest schema; two processes that start together do it once."""
    known = {one.number for one in migrations}
    if _taken(connection) == known:
        return
    with connection.transaction():
        done = _taken(connection)
        if done - known:
            raise StoreError(connection.path, f"made by a newer ipmicra (schema {max(done)}): update ipmicra")
        missing = [one for one in migrations if one.number not in done]
        if not done and not isinstance(connection, SqliteConnection):
            creates(*TABLES)(connection)
            create_archiving(connection)
        else:
            for migration in missing:
                migration.apply(connection)
        rows = [(migration.number, migration.name, time.time()) for migration in missing]
        connection.execute_many(MIGRATION_TABLE.insert, rows)


def _taken(connection: Connection) -> set[int]:
    """Return the numbers of the steps that were taken."""
    if not connection.has_table(MIGRATION_TABLE.name):
        return set()
    return set(connection.read(_STEP, itemgetter(0)))
