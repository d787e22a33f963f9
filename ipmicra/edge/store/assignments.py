"""Keep assignments: who crawls which site, or piece of a site."""

from __future__ import annotations

import json
from collections.abc import Iterable

from sqlite_utils import Database

from ipmicra.edge.store.connection import Connection, Row, Shape
from ipmicra.edge.store.keys import packed, unpacked
from ipmicra.edge.store.schema import make_table
from ipmicra.model.assignment import Assignment

_ASSIGNMENT = Shape(
    "assignments",
    {
        "host": str,
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
    },
)
_PUT = f"INSERT OR REPLACE INTO assignments ({_ASSIGNMENT.names}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608


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


class AssignmentTable:
    """Assignments by host and piece."""

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
        """Return all, by host and piece."""
        return self._connection.read(_ASSIGNMENT, _assignment_of, "ORDER BY host, piece")

    def of(self, host: str) -> list[Assignment]:
        """Return those of a host, by piece."""
        return self._connection.read(_ASSIGNMENT, _assignment_of, "WHERE host = ? ORDER BY piece", (host,))


def _row_of(one: Assignment) -> tuple[object, ...]:
    return (
        one.host,
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
    )


def _assignment_of(row: Row) -> Assignment:
    return Assignment(
        host=row[0],
        piece=row[1],
        of=row[2],
        address=unpacked(row[3]),
        crawler=row[4],
        reason=row[5],
        backend=row[6],
        expected_ms=row[7],
        pages=row[8],
        filters=tuple(map(str, json.loads(row[9]))),
        assigned_s=row[10],
    )
