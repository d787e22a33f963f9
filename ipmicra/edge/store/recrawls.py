"""Keep schedules: when sites, or pieces of them, were crawled and are due."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple
from typing import get_type_hints

from sqlite_utils import Database

from ipmicra.edge.store.connection import Connection, Row, Shape
from ipmicra.edge.store.schema import make_table
from ipmicra.model.recrawl import Recrawl

_FIELDS = get_type_hints(Recrawl)
_RECRAWL = Shape("recrawls", _FIELDS)
_PUT = f"INSERT OR REPLACE INTO recrawls ({_RECRAWL.names}) VALUES ({', '.join('?' * len(_FIELDS))})"  # noqa: S608
_TAKE = (
    "INSERT INTO recrawls (host, piece, of, first_s, submitted_s, crawls) "
    "SELECT host, piece, of, assigned_s, assigned_s, 0 FROM assignments WHERE crawler IS NOT NULL"
)


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


def add_vantages(database: Database) -> None:
    """Let a site have a schedule for each vantage; earlier ones have none."""
    columns = "host, piece, of, interval_s, first_s, submitted_s, started_s, crawled_s, pages, crawls"
    database.execute(
        "CREATE TABLE seen (host TEXT NOT NULL, vantage TEXT NOT NULL DEFAULT '', piece INTEGER NOT NULL, "
        "of INTEGER NOT NULL, interval_s FLOAT, first_s FLOAT NOT NULL, submitted_s FLOAT NOT NULL, "
        "started_s FLOAT, crawled_s FLOAT, pages INTEGER, crawls INTEGER NOT NULL, "
        "PRIMARY KEY (host, vantage, piece))"
    )
    database.execute(f"INSERT INTO seen ({columns}) SELECT {columns} FROM recrawls")  # noqa: S608
    database.execute("DROP TABLE recrawls")
    database.execute("ALTER TABLE seen RENAME TO recrawls")


class RecrawlTable:
    """Schedules by host, vantage and piece."""

    def __init__(self, connection: Connection) -> None:
        """Use a connection."""
        self._connection = connection

    def put_many(self, recrawls: Iterable[Recrawl]) -> None:
        """Keep schedules in place of those their hosts had; all or none."""
        kept = list(recrawls)
        with self._connection.transaction():
            hosts = {(one.host,) for one in kept}
            self._connection.execute_many("DELETE FROM recrawls WHERE host = ?", hosts)
            self._connection.execute_many(_PUT, (astuple(one) for one in kept))

    def all(self) -> list[Recrawl]:
        """Return all, by host, vantage and piece."""
        return self._connection.read(_RECRAWL, _recrawl_of, "ORDER BY host, vantage, piece")

    def of(self, host: str) -> list[Recrawl]:
        """Return those of a host, by vantage and piece."""
        where = "WHERE host = ? ORDER BY vantage, piece"
        return self._connection.read(_RECRAWL, _recrawl_of, where, (host,))

    def forget(self, hosts: Iterable[str]) -> int:
        """Remove those of hosts; return how many."""
        sql = "DELETE FROM recrawls WHERE host = ?"
        with self._connection.transaction():
            return sum(self._connection.execute(sql, (host,)) for host in hosts)


def _recrawl_of(row: Row) -> Recrawl:
    return Recrawl(**dict(zip(_FIELDS, row, strict=True)))
