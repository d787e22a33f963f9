"""Bring the schema up to date, in numbered steps; a published step never changes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from operator import itemgetter

from sqlite_utils import Database

from ipmicra.edge.store import assignments, recrawls
from ipmicra.edge.store.assignments import create_assignments
from ipmicra.edge.store.batches import add_result_origins, append_results, create_batches
from ipmicra.edge.store.connection import Connection, Shape
from ipmicra.edge.store.crawlers import create_crawlers
from ipmicra.edge.store.delegations import add_origins, append_delegations, create_delegations
from ipmicra.edge.store.grafts import create_grafts
from ipmicra.edge.store.meta import create_meta
from ipmicra.edge.store.names import create_names
from ipmicra.edge.store.probes import (
    add_downloads,
    create_budget,
    create_marks,
    create_samples,
    create_track_records,
)
from ipmicra.edge.store.recrawls import create_recrawls
from ipmicra.edge.store.sites import create_sites
from ipmicra.edge.store.states import create_states
from ipmicra.edge.store.subnet_trips import create_subnet_trips
from ipmicra.edge.store.tokens import create_tokens
from ipmicra.edge.store.views import add_answer_origins, create_views
from ipmicra.errors import StoreError

_STEP = Shape("migrations", {"number": int})


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """One step of the schema."""

    number: int
    name: str
    apply: Callable[[Database], None]


MIGRATIONS = (
    Migration(number=1, name="meta", apply=create_meta),
    Migration(number=2, name="crawlers", apply=create_crawlers),
    Migration(number=3, name="sites", apply=create_sites),
    Migration(number=4, name="samples", apply=create_samples),
    Migration(number=5, name="names", apply=create_names),
    Migration(number=6, name="budget", apply=create_budget),
    Migration(number=7, name="delegations", apply=create_delegations),
    Migration(number=8, name="batches", apply=create_batches),
    Migration(number=9, name="marks", apply=create_marks),
    Migration(number=10, name="grafts", apply=create_grafts),
    Migration(number=11, name="assignments", apply=create_assignments),
    Migration(number=12, name="states", apply=create_states),
    Migration(number=13, name="recrawls", apply=create_recrawls),
    Migration(number=14, name="track records", apply=create_track_records),
    Migration(number=15, name="results are appended", apply=append_results),
    Migration(number=16, name="delegations are appended", apply=append_delegations),
    Migration(number=17, name="views", apply=create_views),
    Migration(number=18, name="origins of delegations", apply=add_origins),
    Migration(number=19, name="origins of results", apply=add_result_origins),
    Migration(number=20, name="assignments by vantage", apply=assignments.add_vantages),
    Migration(number=21, name="schedules by vantage", apply=recrawls.add_vantages),
    Migration(number=22, name="subnet trips", apply=create_subnet_trips),
    Migration(number=23, name="origins of site answers", apply=add_answer_origins),
    Migration(number=24, name="downloads of samples", apply=add_downloads),
    Migration(number=25, name="tokens and agents", apply=create_tokens),
    Migration(number=26, name="changes of assignments", apply=assignments.number_changes),
)


def migrate(connection: Connection, migrations: tuple[Migration, ...] = MIGRATIONS) -> None:
    """Bring a store to the newest schema; two processes that start together do it once."""
    if _version(connection) == migrations[-1].number:
        return
    with connection.transaction():
        done = _version(connection)
        if done > migrations[-1].number:
            raise StoreError(connection.path, f"made by a newer ipmicra (schema {done}): update ipmicra")
        for migration in migrations:
            if migration.number > done:
                migration.apply(Database(connection.raw, recursive_triggers=False))
                connection.execute(
                    "INSERT INTO migrations VALUES (?, ?, ?)", (migration.number, migration.name, time.time())
                )


def _version(connection: Connection) -> int:
    """Return the number of the last step that was taken."""
    if not connection.row("SELECT 1 FROM sqlite_master WHERE name = 'migrations'"):
        return 0
    return max(connection.read(_STEP, itemgetter(0)), default=0)
