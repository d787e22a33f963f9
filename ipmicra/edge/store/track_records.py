"""How far each crawler can be believed: counters of its checked samples, and those that cannot be true."""

from __future__ import annotations

from collections.abc import Iterable

from sqlite_utils import Database

from ipmicra.edge.store.connection import Connection, Row, Shape
from ipmicra.edge.store.keys import packed, unpacked
from ipmicra.edge.store.schema import make_table
from ipmicra.model.crawler import TrackRecord
from ipmicra.model.sample import ImplausibleSample

_RECORD = Shape("track_records", {"crawler": str, "since_s": float, "checked": int, "implausible": int})
_MARK = Shape("marks", {"crawler": str, "address": bytes, "rtt_ms": float, "least_ms": float, "at_s": float})


def create_marks(database: Database) -> None:
    """Make the table of implausible samples: one for each crawler and address."""
    make_table(
        database,
        "marks",
        {"crawler": str, "address": bytes, "rtt_ms": float, "least_ms": float, "at_s": float},
        key=("crawler", "address"),
        needed=("rtt_ms", "least_ms", "at_s"),
    )


def create_track_records(database: Database) -> None:
    """Make the table of counters.

    Version 0.1.0 kept implausible samples but not how many were checked. Those of a crawler since it joined
    are taken as half of its checks: it is believed for now, and one more implausible sample tips the balance.
    """
    columns = {"crawler": str, "since_s": float, "checked": int, "implausible": int}
    needed = ("since_s", "checked", "implausible")
    make_table(database, "track_records", columns, key="crawler", needed=needed)
    database.execute(
        "INSERT INTO track_records SELECT name, joined_s, 2 * count(*), count(*) FROM marks "
        "JOIN crawlers ON name = crawler WHERE at_s >= joined_s GROUP BY name"
    )


class TrackRecordTable:
    """Track records by crawler, and the samples that were rejected."""

    def __init__(self, connection: Connection) -> None:
        """Use a connection."""
        self._connection = connection

    def put_many(self, records: Iterable[tuple[str, TrackRecord]]) -> None:
        """Keep records in place of those before."""
        rows = [(crawler, one.since_s, one.checked, one.implausible) for crawler, one in records]
        self._connection.execute_many("INSERT OR REPLACE INTO track_records VALUES (?, ?, ?, ?)", rows)

    def all(self) -> dict[str, TrackRecord]:
        """Return the record of each crawler that has one."""
        return dict(self._connection.read(_RECORD, _record_of))

    def reject_many(self, samples: Iterable[ImplausibleSample]) -> None:
        """Keep implausible samples, the first of each crawler and address."""
        rows = [(one.crawler, packed(one.address), one.rtt_ms, one.least_ms, one.at_s) for one in samples]
        self._connection.execute_many("INSERT OR IGNORE INTO marks VALUES (?, ?, ?, ?, ?)", rows)

    def rejected(self) -> list[ImplausibleSample]:
        """Return all implausible samples, oldest first."""
        return self._connection.read(_MARK, _implausible_of, "ORDER BY rowid")


def _record_of(row: Row) -> tuple[str, TrackRecord]:
    return row[0], TrackRecord(since_s=row[1], checked=row[2], implausible=row[3])


def _implausible_of(row: Row) -> ImplausibleSample:
    return ImplausibleSample(
        crawler=row[0], address=unpacked(row[1]), rtt_ms=row[2], least_ms=row[3], at_s=row[4]
    )
