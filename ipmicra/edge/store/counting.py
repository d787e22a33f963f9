"""Steps of the schema after which commands read what is new, and not what exists; for both databases."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from ipmicra.assign.balance.config import PageConfig
from ipmicra.edge.store.assignment_loads import CRAWLER_LOADS, PAGE_COUNTS
from ipmicra.edge.store.connection import Connection
from ipmicra.edge.store.delegations import DELEGATIONS
from ipmicra.edge.store.recrawls import RECRAWLS, RecrawlTable
from ipmicra.edge.store.schema import Table

_AT_ONCE = 1000
"""Hosts whose due times are worked out at a time."""


def count_loads(connection: Connection) -> None:
    """Count what crawlers hold of the assignments that exist."""
    connection.create_table(CRAWLER_LOADS)
    connection.create_table(PAGE_COUNTS)
    config = PageConfig()
    known = f"pages BETWEEN 0 AND {int(config.most)}"
    size = f"CASE WHEN pages < {config.least} THEN {config.least} ELSE pages END"
    connection.execute(
        "INSERT INTO crawler_loads (crawler, sites, sized, pages) SELECT crawler, count(*), "  # noqa: S608
        f"sum(CASE WHEN {known} THEN 1 ELSE 0 END), sum(CASE WHEN {known} THEN {size} ELSE 0 END) "
        "FROM assignments WHERE crawler IS NOT NULL GROUP BY crawler"
    )
    connection.execute(
        "INSERT INTO page_counts (pages, sites) "  # noqa: S608 - our own numbers
        f"SELECT pages, count(*) FROM assignments WHERE {known} GROUP BY pages"
    )


def keep_due_times(connection: Connection) -> None:
    """Keep with each schedule when it is due."""
    connection.add_column(RECRAWLS, "due_s")
    create_index(connection, RECRAWLS, "recrawls_by_due")
    table = RecrawlTable(connection)
    for hosts in _hosts(connection):
        table.put_many(chain.from_iterable(table.of_many(hosts).values()))


def _hosts(connection: Connection) -> Iterator[list[str]]:
    """Return the hosts that are crawled repeatedly, in parts."""
    sql = "SELECT DISTINCT host FROM recrawls WHERE interval_s IS NOT NULL AND host > ? ORDER BY host LIMIT ?"
    last = ""
    while part := [str(host) for (host,) in connection.rows(sql, (last, _AT_ONCE))]:
        yield part
        last = part[-1]


def index_sites(connection: Connection) -> None:
    """Find wide delegations by the site that they were decided for."""
    create_index(connection, DELEGATIONS, "wide_delegations_by_site")


def create_index(connection: Connection, table: Table, name: str) -> None:
    """Create an index of a table's description, unless it exists."""
    (index,) = (one for one in table.indexes if table.index_name(one) == name)
    where = f" WHERE {index.where}" if index.where else ""
    connection.execute(
        f"CREATE INDEX IF NOT EXISTS {name} ON {table.name} ({', '.join(index.columns)}){where}"
    )
