"""One description of the tables: both databases have what it says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from ipmicra.edge.store.connection import Connection, ConnectionConfig
from ipmicra.edge.store.migrations import MIGRATIONS, Migration, creates, migrate
from ipmicra.edge.store.places import connect
from ipmicra.edge.store.schema import Index, Table
from ipmicra.edge.store.store import Store
from ipmicra.edge.store.tables import TABLES
from tests.servers.postgres import PostgresServer

KINDS = ("sqlite", "postgresql")


@pytest.fixture(params=KINDS)
def connection(request: pytest.FixtureRequest) -> Iterator[Connection]:
    url = "sqlite://" if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    with closing(connect(url, ConnectionConfig())) as opened:
        yield opened


def tables_of(connection: Connection) -> set[str]:
    sql = {
        "SqliteConnection": "SELECT name FROM sqlite_master WHERE type = 'table'",
        "PostgresConnection": "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'",
    }[type(connection).__name__]
    return {name for (name,) in connection.rows(sql)}


def indexes_of(connection: Connection) -> set[str]:
    sql = {
        "SqliteConnection": "SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL",
        "PostgresConnection": "SELECT indexname::text FROM pg_indexes WHERE schemaname = 'public' "
        "AND indexname NOT LIKE '%\\_pkey'",
    }[type(connection).__name__]
    return {name for (name,) in connection.rows(sql)}


def test_store_has_the_tables_columns_and_indices_that_are_described(connection: Connection) -> None:
    """SQLite comes here by all its migrations, PostgreSQL by the description."""
    migrate(connection)
    assert tables_of(connection) == {table.name for table in TABLES}
    for table in TABLES:
        described = {name: name in table.needed for name in table.columns}
        assert connection.columns_of(table.name) == described, table.name
    assert indexes_of(connection) == {table.index_name(one) for table in TABLES for one in table.indexes}


def test_later_migration_is_taken_by_both_databases_once(connection: Connection) -> None:
    """A table that is created as it is described now already has the column that a later step adds."""
    described = Table(
        "later",
        {"id": int, "host": str, "count": int, "at_s": float | None},
        key=("id",),
        indexes=(Index(columns=("host",)),),
        defaults={"count": 7},
    )
    number = MIGRATIONS[-1].number
    first = Table("later", {"id": int, "host": str}, key=("id",))
    one = Migration(number=number + 1, name="later", apply=creates(first))

    def more(connection: Connection) -> None:
        for name in ("count", "at_s"):
            connection.add_column(described, name)

    two = Migration(number=number + 2, name="more of it", apply=more)
    migrate(connection)
    migrate(connection, (*MIGRATIONS, one))
    connection.execute("INSERT INTO later (host) VALUES (?)", ("a",))
    migrate(connection, (*MIGRATIONS, one, two))
    migrate(connection, (*MIGRATIONS, one, two))
    connection.add_column(described, "count")
    assert connection.row("SELECT id, host, count, at_s FROM later") == (1, "a", 7, None)
    assert connection.columns_of("later") == {"id": True, "host": True, "count": True, "at_s": False}


def test_migration_that_came_after_one_with_a_greater_number_is_taken(connection: Connection) -> None:
    number = MIGRATIONS[-1].number
    taken: list[int] = []
    steps = [
        Migration(number=number + plus, name="x", apply=lambda _, plus=plus: taken.append(plus))  # type: ignore[misc]
        for plus in (1, 2)
    ]
    migrate(connection)
    migrate(connection, (*MIGRATIONS, steps[1]))
    migrate(connection, (*MIGRATIONS, *steps))
    assert taken == [2, 1]


def test_new_database_becomes_a_store_once_even_if_two_begin(postgres: PostgresServer) -> None:
    from concurrent.futures import ThreadPoolExecutor

    url = postgres.new_database()

    def begin(number: int) -> None:
        with Store.open(url) as store:
            store.meta.set(str(number), "here")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(begin, range(8)))
    with Store.open(url) as store:
        assert all(store.meta.get(str(number)) == "here" for number in range(8))
    postgres.drop(url)
