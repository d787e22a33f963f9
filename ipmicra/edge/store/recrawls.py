"""Keep schedules: when sites, or pieces of them, were crawled and are due."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple
from typing import get_type_hints

from ipmicra.edge.store.connection import Connection, in_transaction
from ipmicra.edge.store.schema import Row, Table
from ipmicra.model.recrawl import Recrawl

_FIELDS = get_type_hints(Recrawl)
RECRAWLS = Table("recrawls", _FIELDS, key=("host", "vantage", "piece"), defaults={"vantage": ""})
_RECRAWL = RECRAWLS.shape()


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
        self._connection.execute_many(RECRAWLS.put, (astuple(one) for one in kept))

    def all(self) -> list[Recrawl]:
        """Return all, by host, vantage and piece."""
        return self._connection.read(_RECRAWL, _recrawl_of, "ORDER BY host, vantage, piece")

    def of(self, host: str) -> list[Recrawl]:
        """Return those of a host, by vantage and piece."""
        where = "WHERE host = ? ORDER BY vantage, piece"
        return self._connection.read(_RECRAWL, _recrawl_of, where, (host,))

    @in_transaction
    def forget(self, hosts: Iterable[str]) -> int:
        """Remove those of hosts; return how many."""
        sql = "DELETE FROM recrawls WHERE host = ?"
        return sum(self._connection.execute(sql, (host,)) for host in hosts)


def _recrawl_of(row: Row) -> Recrawl:
    return Recrawl(**dict(zip(_FIELDS, row, strict=True)))
