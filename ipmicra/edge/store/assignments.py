"""Keep assignments: who crawls which site, or piece of a site."""

from __future__ import annotations

import json
from collections.abc import Iterable

from sqlite_utils import Database

from ipmicra.edge.store.connection import Connection, Row, Shape, packed, unpacked
from ipmicra.edge.store.schema import make_table
from ipmicra.model.assignment import Assignment

_ASSIGNMENT = Shape(
    "assignments",
    {
        "host": str,
        "vantage": str,
        "piece": int,
        "of": int,
        "address": bytes,
        "crawler": str | None,
        "reason": str,
        "backend": str,
        "expected_ms": float | None,
        "pages": int | None,
        "filters": str,
        "assigned_s": float,
        "rule": str,
    },
)
_PUT = (
    f"INSERT OR REPLACE INTO assignments ({_ASSIGNMENT.names}) "  # noqa: S608
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
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


def add_vantages(database: Database) -> None:
    """Let a site have an assignment for each vantage; earlier ones have none."""
    columns = "host, piece, of, address, crawler, reason, backend, expected_ms, pages, filters, assigned_s"
    database.execute(
        "CREATE TABLE seen (host TEXT NOT NULL, vantage TEXT NOT NULL DEFAULT '', piece INTEGER NOT NULL, "
        "of INTEGER NOT NULL, address BLOB NOT NULL, crawler TEXT, reason TEXT NOT NULL, "
        "backend TEXT NOT NULL, expected_ms FLOAT, pages INTEGER, filters TEXT NOT NULL, "
        "assigned_s FLOAT NOT NULL, rule TEXT NOT NULL DEFAULT '', PRIMARY KEY (host, vantage, piece))"
    )
    database.execute(f"INSERT INTO seen ({columns}) SELECT {columns} FROM assignments")  # noqa: S608
    database.execute("DROP TABLE assignments")
    database.execute("ALTER TABLE seen RENAME TO assignments")


class AssignmentTable:
    """Assignments by host, vantage and piece."""

    def __init__(self, connection: Connection) -> None:
        """Use a connection."""
        self._connection = connection

    def put_many(self, assignments: Iterable[Assignment]) -> None:
        """Keep assignments in place of those their hosts had; all or none."""
        kept = list(assignments)
        with self._connection.transaction():
            hosts = {(one.host,) for one in kept}
            self._connection.execute_many("DELETE FROM assignments WHERE host = ?", hosts)
            self._connection.execute_many(_PUT, (_row_of(one) for one in kept))

    def all(self) -> list[Assignment]:
        """Return all, by host, vantage and piece."""
        return self._connection.read(_ASSIGNMENT, _assignment_of, "ORDER BY host, vantage, piece")

    def of(self, host: str) -> list[Assignment]:
        """Return those of a host, by vantage and piece."""
        where = "WHERE host = ? ORDER BY vantage, piece"
        return self._connection.read(_ASSIGNMENT, _assignment_of, where, (host,))

    def forget(self, hosts: Iterable[str]) -> int:
        """Remove those of hosts; return how many."""
        sql = "DELETE FROM assignments WHERE host = ?"
        with self._connection.transaction():
            return sum(self._connection.execute(sql, (host,)) for host in hosts)


def _row_of(one: Assignment) -> tuple[object, ...]:
    return (
        one.host,
        one.vantage,
        one.piece,
        one.of,
        packed(one.address),
        one.crawler,
        one.reason,
        one.backend,
        one.expected_ms,
        one.pages,
        json.dumps(one.filters),
        one.assigned_s,
        one.rule,
    )


def _assignment_of(row: Row) -> Assignment:
    return Assignment(
        host=row[0],
        vantage=row[1],
        piece=row[2],
        of=row[3],
        address=unpacked(row[4]),
        crawler=row[5],
        reason=row[6],
        backend=row[7],
        expected_ms=row[8],
        pages=row[9],
        filters=tuple(map(str, json.loads(row[10]))),
        assigned_s=row[11],
        rule=row[12],
    )
