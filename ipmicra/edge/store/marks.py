"""Keep marks: samples that are physically impossible, and the crawlers that sent them."""

from __future__ import annotations

from collections.abc import Iterable

from sqlite_utils import Database

from ipmicra.edge.store.addresses import packed, unpacked
from ipmicra.edge.store.connection import Connection
from ipmicra.edge.store.ports import MarkRecord
from ipmicra.edge.store.schema import make_table
from ipmicra.model.address import Address


def create_marks(database: Database) -> None:
    """Make the table of marks: one for each crawler and address."""
    make_table(
        database,
        "marks",
        {"crawler": str, "address": bytes, "rtt_ms": float, "least_ms": float, "at_s": float},
        key=("crawler", "address"),
        needed=("rtt_ms", "least_ms", "at_s"),
    )


class MarkTable:
    """Marks in the order in which they came."""

    def __init__(self, connection: Connection) -> None:
        """Use a connection."""
        self._connection = connection

    def add_many(self, marks: Iterable[MarkRecord]) -> None:
        """Keep marks; one per crawler and address."""
        rows = [(one.crawler, packed(one.address), one.rtt_ms, one.least_ms, one.at_s) for one in marks]
        self._connection.execute_many("INSERT OR IGNORE INTO marks VALUES (?, ?, ?, ?, ?)", rows)

    def remove_many(self, pairs: Iterable[tuple[str, Address]]) -> None:
        """Take back marks, by crawler and address."""
        rows = [(crawler, packed(address)) for crawler, address in pairs]
        self._connection.execute_many("DELETE FROM marks WHERE crawler = ? AND address = ?", rows)

    def all(self) -> list[MarkRecord]:
        """Return all marks, oldest first."""
        sql = "SELECT crawler, address, rtt_ms, least_ms, at_s FROM marks ORDER BY rowid"
        return [
            MarkRecord(
                crawler=crawler, address=unpacked(address), rtt_ms=rtt_ms, least_ms=least_ms, at_s=at_s
            )
            for crawler, address, rtt_ms, least_ms, at_s in self._connection.rows(sql)
        ]
