"""Create the tables of SQLite stores as they were first published."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlite_utils import Database
from sqlite_utils.db import Table

SQL_TYPES = {bytes: "BLOB", str: "TEXT", float: "FLOAT", int: "INTEGER"}
FIRST_COLUMNS: dict[str, type] = {
    "first": bytes,
    "last": bytes,
    "crawler": str,
    "evidence": str,
    "rtt_ms": float,
    "probes": int,
    "created_s": float,
    "expires_s": float,
    "address": bytes,
    "latitude": float,
    "longitude": float,
    "radius_km": float,
    "country": str,
    "account": str,
}
"""Columns of delegations that migrations 7 and 16 made."""
ORIGIN_COLUMNS: dict[str, type] = {
    "origin_first": bytes,
    "origin_last": bytes,
    "measured_s": float,
    "checked_s": float,
    "policy": str,
}
"""Columns of delegations that migration 18 added."""
NEEDED = ("crawler", "evidence", "probes", "created_s", "expires_s", "account")
_TAKE = (
    "INSERT INTO recrawls (host, piece, of, first_s, submitted_s, crawls) "
    "SELECT host, piece, of, assigned_s, assigned_s, 0 FROM assignments WHERE crawler IS NOT NULL"
)


def make_table(
    database: Database,
    name: str,
    columns: Mapping[str, type],
    *,
    key: str | tuple[str, ...] | None = None,
    needed: Sequence[str] = (),
    index: Sequence[str] = (),
) -> None:
    """Create a table with its primary key, its NOT NULL columns and, if named, an index over columns."""
    # `database[name]` may be a view, which has no `create`: hence the class itself.
    table = Table(database, name)
    table.create(dict(columns), pk=key, not_null=needed)
    if index:
        table.create_index(index)


def columns_text(needed: Sequence[str]) -> str:
    """Write the first columns of delegations as SQL."""
    return ", ".join(
        f"{name} {SQL_TYPES[kind]}{' NOT NULL' if name in needed else ''}"
        for name, kind in FIRST_COLUMNS.items()
    )


def create_meta(database: Database) -> None:
    """Make the tables of what the store knows of itself."""
    make_table(database, "migrations", {"number": int, "name": str, "applied_s": float}, key="number")
    make_table(database, "meta", {"key": str, "value": str}, key="key", needed=("value",))


def create_crawlers(database: Database) -> None:
    """Make the tables of the fleet."""
    columns = {
        "name": str,
        "address": bytes,
        "agent_url": str,
        "subnet_first": bytes,
        "subnet_last": bytes,
        "latitude": float,
        "longitude": float,
        "radius_km": float,
        "city": str,
        "country": str,
        "labels": str,
        "bandwidth_mbps": float,
        "memory_gb": float,
        "max_pieces": int,
        "connections": int,
        "state": str,
        "joined_s": float,
        "changed_s": float,
    }
    needed = ("address", "labels", "state", "joined_s", "changed_s")
    make_table(database, "crawlers", columns, key="name", needed=needed)
    history = {"crawler": str, "state": str, "at_s": float}
    make_table(database, "crawler_history", history, needed=tuple(history), index=("crawler", "at_s"))


def create_sites(database: Database) -> None:
    """Make the table of sites."""
    columns = {"host": str, "address": bytes, "scheme": str, "port": int, "pinned_s": float}
    needed = ("address", "pinned_s")
    make_table(database, "sites", columns, key="host", needed=needed, index=("address",))


def create_budget(database: Database) -> None:
    """Make the tables of budgets and orders; an order without `answered_s` is unanswered."""
    budgets = {"name": str, "total": int, "spent": int}
    make_table(database, "budgets", budgets, key="name", needed=("spent",))
    orders = {
        "id": str,
        "budget": str,
        "crawler": str,
        "address": bytes,
        "reserved_s": float,
        "answered_s": float,
    }
    needed = ("budget", "crawler", "reserved_s")
    make_table(database, "orders", orders, key="id", needed=needed, index=("budget", "answered_s"))


def create_samples(database: Database) -> None:
    """Make the table of samples.

    `all_ms` holds the round trips in order, as little-endian doubles.
    """
    columns = {
        "id": int,
        "crawler": str,
        "address": bytes,
        "rtt_ms": float,
        "loss": str,
        "rung": str,
        "all_ms": bytes,
        "dns_ms": float,
        "tcp_ms": float,
        "tls_ms": float,
        "first_byte_ms": float,
        "detail": str,
        "taken_s": float,
    }
    needed = ("crawler", "address", "all_ms", "detail", "taken_s")
    make_table(database, "samples", columns, key="id", needed=needed, index=("address",))


def create_marks(database: Database) -> None:
    """Make the table of implausible samples: one for each crawler and address."""
    make_table(
        database,
        "marks",
        {"crawler": str, "address": bytes, "rtt_ms": float, "least_ms": float, "at_s": float},
        key=("crawler", "address"),
        needed=("rtt_ms", "least_ms", "at_s"),
    )


def create_names(database: Database) -> None:
    """Make the table of names; `addresses` has 16 bytes each, in the order of preference."""
    columns = {"name": str, "status": str, "addresses": bytes, "expires_s": float}
    needed = ("status", "addresses", "expires_s")
    make_table(database, "names", columns, key="name", needed=needed, index=("expires_s",))


def create_delegations(database: Database) -> None:
    """Make the tables of delegations and of their history, which a replaced delegation enters by itself."""
    text = columns_text(NEEDED)
    # One tree instead of two: a row is found by its bounds alone, and writing costs half.
    database.execute(f"CREATE TABLE delegations ({text}, PRIMARY KEY (first, last)) WITHOUT ROWID")
    columns = {"id": int, **FIRST_COLUMNS, "ended_s": float, "reason": str}
    needed = ("first", "last", *NEEDED, "ended_s", "reason")
    make_table(database, "delegation_history", columns, key="id", needed=needed, index=("first", "last"))
    create_trigger(database, FIRST_COLUMNS)


def create_trigger(database: Database, columns: Iterable[str]) -> None:
    """Let a delegation that is replaced enter the history by itself."""
    names, old = ", ".join(columns), ", ".join(f"OLD.{name}" for name in columns)
    database.execute(
        "CREATE TRIGGER delegations_replaced BEFORE UPDATE ON delegations "  # noqa: S608 - our own names
        "WHEN OLD.created_s <> NEW.created_s OR OLD.crawler <> NEW.crawler BEGIN "
        f"INSERT INTO delegation_history ({names}, ended_s, reason) "
        f"VALUES ({old}, NEW.created_s, 'decided anew'); END"
    )


def create_batches(database: Database) -> None:
    """Make the tables of batches and results; a batch without `ended_s` is to be resumed."""
    columns = {"id": int, "key": str, "words": str, "started_s": float, "ended_s": float}
    make_table(database, "batches", columns, key="id", needed=("key", "words", "started_s"), index=("key",))
    make_table(
        database,
        "results",
        {
            "batch": int,
            "host": str,
            "address": bytes,
            "first": bytes,
            "last": bytes,
            "crawler": str,
            "evidence": str,
            "rtt_ms": float,
            "probes": int,
        },
        key=("batch", "host"),
        needed=("address", "first", "last", "crawler", "evidence", "probes"),
        index=("host",),
    )


def create_grafts(database: Database) -> None:
    """Make the table of grafts; one without a handle or name says that the range is not registered."""
    make_table(
        database,
        "grafts",
        {
            "first": bytes,
            "last": bytes,
            "handle": str,
            "name": str,
            "country": str,
            "asked_s": float,
        },
        key=("first", "last"),
        needed=("asked_s",),
    )


def create_assignments(database: Database) -> None:
    """Make the table of assignments; `filters` is a JSON list."""
    columns = {
        "host": str,
        "piece": int,
        "of": int,
        "address": bytes,
        "crawler": str,
        "reason": str,
        "backend": str,
        "expected_ms": float,
        "pages": int,
        "filters": str,
        "assigned_s": float,
    }
    needed = ("of", "address", "reason", "backend", "filters", "assigned_s")
    make_table(database, "assignments", columns, key=("host", "piece"), needed=needed)


def create_states(database: Database) -> None:
    """Make the table of saved states."""
    columns = {"name": str, "data": bytes, "at_s": float}
    make_table(database, "states", columns, key="name", needed=("data", "at_s"))


def create_recrawls(database: Database) -> None:
    """Make the table of schedules; what was assigned before counts as submitted then."""
    columns = {
        "host": str,
        "piece": int,
        "of": int,
        "interval_s": float,
        "first_s": float,
        "submitted_s": float,
        "started_s": float,
        "crawled_s": float,
        "pages": int,
        "crawls": int,
    }
    needed = ("of", "first_s", "submitted_s", "crawls")
    make_table(database, "recrawls", columns, key=("host", "piece"), needed=needed)
    database.execute(_TAKE)


def create_subnet_trips(database: Database) -> None:
    """Make the table of subnets' round trips; `last_ms` holds them in order, as little-endian doubles."""
    columns = {"first": bytes, "last": bytes, "crawler": str, "last_ms": bytes, "taken_s": float}
    key, needed = ("first", "last", "crawler"), ("last_ms", "taken_s")
    make_table(database, "subnet_trips", columns, key=key, needed=needed)


def create_views(database: Database) -> None:
    """Make both tables; `addresses` has 16 bytes each."""
    views = {
        "host": str,
        "crawler": str,
        "status": str,
        "addresses": bytes,
        "asked_s": float,
        "expires_s": float,
    }
    needed = ("status", "addresses", "asked_s", "expires_s")
    make_table(database, "views", views, key=("host", "crawler"), needed=needed)
    answers = {
        "host": str,
        "address": bytes,
        "crawler": str,
        "evidence": str,
        "rtt_ms": float,
        "probes": int,
        "created_s": float,
        "expires_s": float,
        "account": str,
    }
    always = ("address", "crawler", "evidence", "probes", "created_s", "expires_s", "account")
    make_table(database, "site_answers", answers, key="host", needed=always)
