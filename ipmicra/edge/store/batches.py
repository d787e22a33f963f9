"""Keep batches: the commands that were begun, and the result of each site."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sqlite_utils import Database

from ipmicra.edge.store.addresses import packed, unpacked
from ipmicra.edge.store.connection import Connection, Row
from ipmicra.edge.store.ports import BatchRecord
from ipmicra.edge.store.schema import make_table
from ipmicra.model.delegation import Decision, Evidence

_BATCH = "id, key, words, started_s, ended_s"
_RESULT = "host, address, first, last, crawler, evidence, rtt_ms, probes"
_GET_RESULT = f"SELECT {_RESULT} FROM results"  # noqa: S608 - our own names
_ADD = f"INSERT OR IGNORE INTO results (batch, {_RESULT}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608 - our own names
_AT_ONCE = 500
"""Hosts in one question to SQLite, which takes 999 variables in its oldest form."""


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


class BatchTable:
    """Batches by number; one of a key is open at a time."""

    def __init__(self, connection: Connection) -> None:
        """Use a connection."""
        self._connection = connection

    def begin(self, key: str, words: str, at_s: float) -> BatchRecord:
        """Resume the unfinished batch of a key, or begin one."""
        sql = f"SELECT {_BATCH} FROM batches WHERE key = ? AND ended_s IS NULL"  # noqa: S608 - our own names
        with self._connection.transaction():
            found = self._connection.row(sql, (key,))
            if found is not None:
                return _batch_of(found)
            self._connection.execute(
                "INSERT INTO batches (key, words, started_s) VALUES (?, ?, ?)", (key, words, at_s)
            )
            made = self._connection.row(sql, (key,))
        assert made is not None  # noqa: S101 - inserted above
        return _batch_of(made)

    def end(self, number: int, at_s: float) -> None:
        """Mark a batch as finished."""
        self._connection.execute("UPDATE batches SET ended_s = ? WHERE id = ?", (at_s, number))

    def all(self) -> list[BatchRecord]:
        """Return all batches, oldest first."""
        rows = self._connection.rows(f"SELECT {_BATCH} FROM batches ORDER BY id")  # noqa: S608 - our own names
        return [_batch_of(row) for row in rows]


class ResultTable:
    """The result of each site of a batch."""

    def __init__(self, connection: Connection) -> None:
        """Use a connection."""
        self._connection = connection

    def add_many(self, batch: int, results: Iterable[Decision]) -> None:
        """Keep results; a host that has one in the batch keeps it."""
        rows = [
            (
                batch,
                one.host,
                packed(one.address),
                packed(one.first),
                packed(one.last),
                one.crawler,
                one.evidence.value,
                one.rtt_ms,
                one.probes,
            )
            for one in results
        ]
        self._connection.execute_many(_ADD, rows)

    def of(self, batch: int, hosts: Sequence[str]) -> dict[str, Decision]:
        """Return the results of some hosts, those that exist."""
        found: dict[str, Decision] = {}
        for start in range(0, len(hosts), _AT_ONCE):
            part = hosts[start : start + _AT_ONCE]
            sql = f"{_GET_RESULT} WHERE batch = ? AND host IN ({', '.join('?' * len(part))})"
            found.update((row[0], _result_of(row)) for row in self._connection.rows(sql, [batch, *part]))
        return found

    def all(self, batch: int) -> Iterator[Decision]:
        """Return all results of a batch, by host."""
        after = ""
        sql = f"{_GET_RESULT} WHERE batch = ? AND host > ? ORDER BY host LIMIT 10000"
        while rows := self._connection.rows(sql, (batch, after)):
            yield from map(_result_of, rows)
            after = rows[-1][0]

    def latest(self, host: str) -> Decision | None:
        """Return the last result of a host."""
        found = self._connection.row(f"{_GET_RESULT} WHERE host = ? ORDER BY batch DESC LIMIT 1", (host,))
        return None if found is None else _result_of(found)

    def count(self, batch: int) -> int:
        """Count the results of a batch."""
        found = self._connection.row("SELECT count(*) FROM results WHERE batch = ?", (batch,))
        return int(found[0]) if found else 0


def _batch_of(row: Row) -> BatchRecord:
    return BatchRecord(id=row[0], key=row[1], words=row[2], started_s=row[3], ended_s=row[4])


def _result_of(row: Row) -> Decision:
    return Decision(
        host=row[0],
        address=unpacked(row[1]),
        first=unpacked(row[2]),
        last=unpacked(row[3]),
        crawler=row[4],
        evidence=Evidence(row[5]),
        rtt_ms=row[6],
        probes=row[7],
    )
