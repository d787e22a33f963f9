"""Keep schedules: when sites, or pieces of them, were crawled and are due."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple
from math import inf
from typing import get_type_hints

from ipmicra.assign.balance.recrawl import due_s
from ipmicra.edge.store.connection import Connection, in_transaction
from ipmicra.edge.store.schema import Index, Row, Table
from ipmicra.model.recrawl import Recrawl

_FIELDS = get_type_hints(Recrawl)
RECRAWLS = Table(
    "recrawls",
    {**_FIELDS, "due_s": float | None},
    key=("host", "vantage", "piece"),
    indexes=(Index(name="recrawls_by_due", columns=("due_s",), where="due_s IS NOT NULL"),),
    defaults={"vantage": ""},
)
"""`due_s` follows from the rest, and is kept so that what is due is found without reading all."""
_RECRAWL = RECRAWLS.shape(*_FIELDS)
_AT_ONCE = 500
"""Hosts in one question to the database."""


class RecrawlTable:
    """Schedules by host, vantage and piece."""

    def __init__(self, connection: Connection) -> None:
        """Use a connection."""
        self._connection = connection

    @in_transaction
    def put_many(self, recrawls: Iterable[Recrawl]) -> None:
        """Keep schedules in place of those their hosts had; all or none."""
        kept = list(recrawls)
        hosts = {(one.host,) for one in kept}
        self._connection.execute_many("DELETE FROM recrawls WHERE host = ?", hosts)
        due = (None if at == inf else at for at in due_s(kept).tolist())
        self._connection.execute_many(
            RECRAWLS.put, [(*astuple(one), at) for one, at in zip(kept, due, strict=True)]
        )

    def all(self) -> list[Recrawl]:
        """Return all, by host, vantage and piece."""
        return self._connection.read(_RECRAWL, _recrawl_of, "ORDER BY host, vantage, piece")

    def of(self, host: str) -> list[Recrawl]:
        """Return those of a host, by vantage and piece."""
        where = "WHERE host = ? ORDER BY vantage, piece"
        return self._connection.read(_RECRAWL, _recrawl_of, where, (host,))

    def of_many(self, hosts: Sequence[str]) -> dict[str, list[Recrawl]]:
        """Return those of hosts, by vantage and piece; hosts without any are left out."""
        found: dict[str, list[Recrawl]] = {}
        for start in range(0, len(hosts), _AT_ONCE):
            part = hosts[start : start + _AT_ONCE]
            where = f"WHERE host IN ({', '.join('?' * len(part))}) ORDER BY host, vantage, piece"
            for one in self._connection.read(_RECRAWL, _recrawl_of, where, part):
                found.setdefault(one.host, []).append(one)
        return found

    def due(self, now_s: float) -> list[Recrawl]:
        """Return those that are due, earliest first."""
        return self._connection.read(
            _RECRAWL, _recrawl_of, "WHERE due_s <= ? ORDER BY due_s, host, vantage, piece", (now_s,)
        )

    @in_transaction
    def forget(self, hosts: Iterable[str]) -> int:
        """Remove those of hosts; return how many."""
        sql = "DELETE FROM recrawls WHERE host = ?"
        return sum(self._connection.execute(sql, (host,)) for host in hosts)


def _recrawl_of(row: Row) -> Recrawl:
    return Recrawl(**dict(zip(_FIELDS, row, strict=True)))
