"""Keep batches: the commands that were begun, and the result of each site.

Theory of operation
-------------------
A batch belongs to the words of its command (`key`). One of a key is open at a time, so the same command
resumes it instead of beginning another: that is how a budget is spent once.

A result is written once per batch and host. Lists come in any order, and a tree keyed by host would touch
another page for every row, so results are appended (`id` ascends) and found by a 32-bit hash of their host
(decision 0125). Hashes collide, so whoever looks one up compares the host as well; and as no key of the
database guards the pair any more, `add_absent` looks for it in the same transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from operator import itemgetter

from ipmicra.delegate.actions import AnsweredMany
from ipmicra.edge.store.connection import DAMAGED, Connection, in_transaction
from ipmicra.edge.store.counters import add_count, counted
from ipmicra.edge.store.delegations import origin_of, origin_row
from ipmicra.edge.store.keys import key_hash, packed, packed_many, unpacked
from ipmicra.edge.store.ports import BatchRecord, Bounds
from ipmicra.edge.store.schema import Index, Row, Table
from ipmicra.errors import StoreError
from ipmicra.model.delegation import Decision, Evidence

BATCHES = Table(
    "batches",
    {"id": int, "key": str, "words": str, "started_s": float, "ended_s": float | None},
    key=("id",),
    indexes=(Index(columns=("key",)),),
)
"""A batch without `ended_s` is to be resumed."""
RESULTS = Table(
    "results",
    {
        "id": int,
        "key_hash": int,
        "batch": int,
        "host": str,
        "address": bytes,
        "first": bytes,
        "last": bytes,
        "crawler": str,
        "evidence": str,
        "rtt_ms": float | None,
        "probes": int,
        "origin_first": bytes | None,
        "origin_last": bytes | None,
        "measured_s": float | None,
    },
    key=("id",),
    indexes=(
        Index(name="results_by_hash", columns=("key_hash", "batch")),
        Index(name="results_by_batch", columns=("batch",)),
    ),
)
_BATCH = BATCHES.shape()
_RESULT = RESULTS.shape(without=("id", "key_hash", "batch"))
_NUMBERED = RESULTS.shape(without=("key_hash", "batch"))
_NOTED = "EXISTS (SELECT 1 FROM noted WHERE noted.first = results.first AND noted.last = results.last)"
_FORGOTTEN = "forgotten results"
_AT_ONCE = 500
"""Hosts in one question to SQLite, which takes 999 variables in its oldest form."""


class BatchTable:
    """Batches by number; one of a key is open at a time."""

    def __init__(self, connection: Connection) -> None:
        """Use a connection."""
        self._connection = connection

    @in_transaction
    def begin(self, key: str, words: str, at_s: float) -> BatchRecord:
        """Resume the unfinished batch of a key, or begin one."""
        found = self._open(key)
        if found is not None:
            return found
        self._connection.execute(
            "INSERT INTO batches (key, words, started_s) VALUES (?, ?, ?)", (key, words, at_s)
        )
        made = self._open(key)
        assert made is not None  # noqa: S101 - inserted above
        return made

    def _open(self, key: str) -> BatchRecord | None:
        return self._connection.read_one(_BATCH, _batch_of, "WHERE key = ? AND ended_s IS NULL", (key,))

    def end(self, number: int, at_s: float) -> None:
        """Mark a batch as finished."""
        self._connection.execute("UPDATE batches SET ended_s = ? WHERE id = ?", (at_s, number))

    def reopen(self, number: int, ended_s: float) -> None:
        """Take back that a batch was ended at a time; one ended at another time stays ended."""
        self._connection.execute(
            "UPDATE batches SET ended_s = NULL WHERE id = ? AND ended_s = ?", (number, ended_s)
        )

    def all(self) -> list[BatchRecord]:
        """Return all batches, oldest first."""
        return self._connection.read(_BATCH, _batch_of, "ORDER BY id")


class ResultTable:
    """The result of each site of a batch."""

    def __init__(self, connection: Connection) -> None:
        """Use a connection."""
        self._connection = connection

    def add_many(self, batch: int, results: Iterable[Decision]) -> None:
        """Keep results; a host that has one in the batch keeps it.

        Rows go in by hash, which fills the index in its own order (`key_hash`).
        """
        rows = [
            (
                key_hash(one.host),
                batch,
                one.host,
                *packed_many((one.address, one.first, one.last)),
                one.crawler,
                one.evidence.value,
                one.rtt_ms,
                one.probes,
                *origin_row(one.inherited_from),
            )
            for one in results
        ]
        self._add(rows)

    def add_answered(self, batch: int, tables: Iterable[AnsweredMany]) -> None:
        """Keep the results of tables as `add_many` does."""
        self._add([row for table in tables for row in _rows_of(batch, table)])

    def _add(self, rows: list[Row]) -> None:
        rows.sort(key=itemgetter(0))
        self._connection.add_absent(RESULTS, ("key_hash", "batch", "host"), rows)

    def of(self, batch: int, hosts: Sequence[str]) -> dict[str, Decision]:
        """Return the results of some hosts, those that exist."""
        return self._of(hosts, "batch = ? AND", "", batch)

    def _of(self, hosts: Sequence[str], first: str, order: str, *values: int) -> dict[str, Decision]:
        found: dict[str, Decision] = {}
        for start in range(0, len(hosts), _AT_ONCE):
            part = hosts[start : start + _AT_ONCE]
            rest = f"WHERE {first} key_hash IN ({', '.join('?' * len(part))}) {order}"
            results = self._connection.read(_RESULT, _result_of, rest, [*values, *map(key_hash, part)])
            wanted = set(part)
            found.update((one.host, one) for one in results if one.host in wanted)
        return found

    def all(self, batch: int) -> Iterator[Decision]:
        """Return all results of a batch, by host."""
        before: str | None = None
        for one in self._connection.stream(_RESULT, _result_of, "WHERE batch = ? ORDER BY host", (batch,)):
            if before is not None and one.host <= before:
                raise StoreError(
                    self._connection.path, f"results has {one.host} twice: it is damaged; {DAMAGED}"
                )
            before = one.host
            yield one

    def after(self, batch: int, mark: int, count: int) -> tuple[int, list[Decision]]:
        """Return the results that a batch got after a mark, so many at most; and the next mark."""
        rest = "WHERE batch = ? AND id > ? ORDER BY id LIMIT ?"
        rows = self._connection.read(
            _NUMBERED, lambda row: (row[0], _result_of(row[1:])), rest, (batch, mark, count)
        )
        return (rows[-1][0] if rows else mark), [result for _, result in rows]

    def latest(self, host: str) -> Decision | None:
        """Return the last result of a host."""
        rest = "WHERE key_hash = ? AND host = ? ORDER BY batch DESC LIMIT 1"
        return self._connection.read_one(_RESULT, _result_of, rest, (key_hash(host), host))

    def latest_many(self, hosts: Sequence[str]) -> dict[str, Decision]:
        """Return the last results of some hosts, those that have any."""
        return self._of(hosts, "", "ORDER BY batch")

    def mark(self) -> tuple[int, int, int]:
        """Return numbers of which one changes when any result is added, forgotten or pruned."""
        ends = self._connection.row("SELECT min(id), max(id) FROM results")
        first, last = ends or (None, None)
        return int(first or 0), int(last or 0), counted(self._connection, _FORGOTTEN)

    @in_transaction
    def resting_on(self, bounds: Iterable[Bounds]) -> list[Decision]:
        """Return the results that were answered from delegations, oldest first."""
        self._note_bounds(bounds)
        return self._connection.read(_RESULT, _result_of, f"WHERE {_NOTED} ORDER BY id")

    @in_transaction
    def forget(self, hosts: Iterable[str], bounds: Iterable[Bounds]) -> int:
        """Remove all results of hosts, and those that were answered from delegations; return how many."""
        self._note_bounds(bounds)
        gone = self._connection.execute(f"DELETE FROM results WHERE {_NOTED}")  # noqa: S608 - our own
        one = "DELETE FROM results WHERE key_hash = ? AND host = ?"
        gone += sum(self._connection.execute(one, (key_hash(host), host)) for host in hosts)
        if gone:
            add_count(self._connection, _FORGOTTEN, gone)
        return gone

    def _note_bounds(self, bounds: Iterable[Bounds]) -> None:
        """Keep bounds in a table of this connection: there may be more than fit into a question."""
        self._connection.make_temporary("noted", {"first": bytes, "last": bytes})
        self._connection.execute_many(
            "INSERT INTO noted VALUES (?, ?) ON CONFLICT DO NOTHING",
            [tuple(packed_many(one)) for one in bounds],
        )

    def count(self, batch: int) -> int:
        """Count the results of a batch."""
        found = self._connection.row("SELECT count(*) FROM results WHERE batch = ?", (batch,))
        return int(found[0]) if found else 0


def _batch_of(row: Row) -> BatchRecord:
    return BatchRecord(id=row[0], key=row[1], words=row[2], started_s=row[3], ended_s=row[4])


def _rows_of(batch: int, table: AnsweredMany) -> Iterator[Row]:
    """Return the rows of sites that hold their own addresses, column by column."""
    addresses = [packed(site.address) for site in table.sites]
    hosts = [site.host for site in table.sites]
    return zip(
        map(key_hash, hosts),
        repeat(batch),
        hosts,
        addresses,
        addresses,
        addresses,
        table.crawlers,
        [settle.evidence.value for settle in table.settles],
        [settle.rtt_ms for settle in table.settles],
        repeat(0),
        *[repeat(None)] * 3,
        strict=False,
    )


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
        inherited_from=origin_of(*row[8:11]),
    )
