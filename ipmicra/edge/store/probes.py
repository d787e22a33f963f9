"""Keep probes: orders paid from a budget, the samples that came back, and how far crawlers can be believed.

The life of a probe in the store
--------------------------------
1. It is reserved as an order, before it is sent, so that a crash never spends it twice (`BudgetTable`).
2. Its sample is kept, with all round trips, in the transaction that marks the order as answered
   (`SampleTable`).
3. A sample that could be checked counts for or against its crawler, in the transaction that keeps what it
   helped to decide; those that cannot be true are kept apart (`TrackRecordTable`).
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from operator import itemgetter

from ipmicra.edge.store.connection import Connection, in_transaction
from ipmicra.edge.store.keys import packed, packed_or_none, unpacked, unpacked_or_none
from ipmicra.edge.store.ports import Bounds, BudgetState, OrderRecord
from ipmicra.edge.store.schema import Index, Row, Table
from ipmicra.errors import InputError
from ipmicra.model.address import Address
from ipmicra.model.crawler import TrackRecord
from ipmicra.model.sample import ImplausibleSample, Loss, Rung, Sample, SideRung, Timings

BUDGETS = Table("budgets", {"name": str, "total": int | None, "spent": int}, key=("name",))
ORDERS = Table(
    "orders",
    {
        "id": str,
        "budget": str,
        "crawler": str,
        "address": bytes | None,
        "reserved_s": float,
        "answered_s": float | None,
    },
    key=("id",),
    indexes=(Index(columns=("budget", "answered_s")),),
    is_ordered=True,
)
"""An order without `answered_s` is unanswered."""
SAMPLES = Table(
    "samples",
    {
        "id": int,
        "crawler": str,
        "address": bytes,
        "rtt_ms": float | None,
        "loss": str | None,
        "rung": str | None,
        "all_ms": bytes,
        "dns_ms": float | None,
        "tcp_ms": float | None,
        "tls_ms": float | None,
        "first_byte_ms": float | None,
        "detail": str,
        "taken_s": float,
        "download_ms": float | None,
    },
    key=("id",),
    indexes=(Index(columns=("address",)),),
)
"""`all_ms` holds the round trips in order, as little-endian doubles."""
MARKS = Table(
    "marks",
    {"crawler": str, "address": bytes, "rtt_ms": float, "least_ms": float, "at_s": float},
    key=("crawler", "address"),
    is_ordered=True,
)
"""Implausible samples: one for each crawler and address."""
TRACK_RECORDS = Table(
    "track_records",
    {"crawler": str, "since_s": float, "checked": int, "implausible": int},
    key=("crawler",),
)
_BUDGET = BUDGETS.shape("total", "spent")
_ORDER = ORDERS.shape("id", "crawler", "address", "reserved_s")
_SAMPLE = SAMPLES.shape(without=("id",))
_NUMBERED = SAMPLES.shape()
_RECORD = TRACK_RECORDS.shape()
_MARK = MARKS.shape()
_PACKERS = {count: struct.Struct(f"<{count}d").pack for count in range(11)}
"""For the usual numbers of round trips."""
_WORDS: dict[Loss | Rung | SideRung | None, str | None] = {
    None: None,
    **{word: word.value for word in (*Loss, *Rung, *SideRung)},
}
"""Plain texts: SQLite's module takes a detour for anything else."""
_NOTHING = (None, None, None, None)
_PROBED = f"(rung IS NULL OR rung <> '{SideRung.CRAWL.value}')"
"""All samples but those that only raise doubts."""


# --- budgets and orders


def budget_name(batch: int) -> str:
    """Return the name of the budget that a batch is charged to."""
    return f"delegate {batch}"


_AT_ONCE = 500
"""Orders in one question to SQLite, which takes 999 variables in its oldest form."""


class BudgetTable:
    """Budgets by name, and the orders that were paid from them."""

    def __init__(self, connection: Connection) -> None:
        """Use a connection."""
        self._connection = connection

    @in_transaction
    def open(self, name: str, total: int | None) -> BudgetState:
        """Open a budget; what was spent stays spent, the total is the new one."""
        if total is not None and total < 0:
            raise InputError(f"a probe budget of {total} is below zero")
        self._connection.execute(BUDGETS.insert_new, (name, total, 0))
        self._connection.execute("UPDATE budgets SET total = ? WHERE name = ?", (total, name))
        return self.state(name)

    @in_transaction
    def reserve(self, name: str, orders: Sequence[OrderRecord], at_s: float) -> int:
        """Reserve budget for as many of the orders as it allows, from the first on; return how many."""
        now = self.state(name)
        granted = orders if now.total is None else orders[: max(0, now.total - now.spent)]
        self._connection.execute_many(
            ORDERS.insert,
            [(order.id, name, order.crawler, packed_or_none(order.address), at_s, None) for order in granted],
        )
        self._spend(name, len(granted))
        return len(granted)

    def answer(self, ids: Iterable[str], at_s: float) -> None:
        """Note that orders were answered, or that their answers are lost for good."""
        self._connection.execute_many(
            "UPDATE orders SET answered_s = ? WHERE id = ?", [(at_s, one) for one in ids]
        )

    @in_transaction
    def release(self, name: str, ids: Iterable[str]) -> int:
        """Release what was reserved for orders that were certainly never sent; return how many."""
        sql = "DELETE FROM orders WHERE id = ? AND budget = ? AND answered_s IS NULL"
        gone = sum(self._connection.execute(sql, (one, name)) for one in ids)
        self._spend(name, -gone)
        return gone

    def unanswered(self, name: str) -> list[OrderRecord]:
        """Return the orders whose answers are missing, oldest first."""
        return self._orders(name, "IS NULL")

    def answered(self, name: str) -> list[OrderRecord]:
        """Return the orders that were answered, or whose answers are lost for good, oldest first."""
        return self._orders(name, "IS NOT NULL")

    def answered_among(self, ids: Sequence[str]) -> set[str]:
        """Return those of some orders that were answered, or whose answers are lost for good."""
        found: set[str] = set()
        for start in range(0, len(ids), _AT_ONCE):
            part = ids[start : start + _AT_ONCE]
            marks = ", ".join("?" * len(part))
            sql = f"SELECT id FROM orders WHERE answered_s IS NOT NULL AND id IN ({marks})"  # noqa: S608
            found.update(one for (one,) in self._connection.rows(sql, part))
        return found

    def recent(self, since_s: float) -> list[OrderRecord]:
        """Return the orders of all budgets that were reserved from a time on, oldest first."""
        return self._connection.read(_ORDER, _order_of, "WHERE reserved_s >= ? ORDER BY rowid", (since_s,))

    def _orders(self, name: str, condition: str) -> list[OrderRecord]:
        rest = f"WHERE budget = ? AND answered_s {condition} ORDER BY rowid"
        return self._connection.read(_ORDER, _order_of, rest, (name,))

    def state(self, name: str) -> BudgetState:
        """Return how much of a budget is used."""
        found = self._connection.read_one(_BUDGET, _budget_of, "WHERE name = ?", (name,))
        if found is None:
            raise InputError(f"there is no probe budget named {name!r}")
        return found

    def _spend(self, name: str, probes: int) -> None:
        self._connection.execute("UPDATE budgets SET spent = spent + ? WHERE name = ?", (probes, name))


def _budget_of(row: Row) -> BudgetState:
    return BudgetState(total=row[0], spent=row[1])


def _order_of(row: Row) -> OrderRecord:
    return OrderRecord(id=row[0], crawler=row[1], address=unpacked_or_none(row[2]), reserved_s=row[3])


# --- samples


class SampleTable:
    """Samples in the order in which they came; those of a `SideRung` are returned by `crawled` alone."""

    def __init__(self, connection: Connection) -> None:
        """Use a connection."""
        self._connection = connection

    def add_many(self, samples: Iterable[Sample]) -> None:
        """Keep samples; all of them or, if one cannot be kept, none.

        Rows go in by address, which fills the index in its own order and halves the time of a large batch;
        those of one address stay in the order given.
        """
        rows = [_row_of(sample) for sample in samples]
        rows.sort(key=itemgetter(1))
        self._connection.copy(SAMPLES, rows)

    def of(self, address: Address, crawler: str | None = None, since_s: float = 0.0) -> list[Sample]:
        """Return the samples of an address, oldest first: by one crawler or by all, from a time on."""
        rest, values = f"WHERE address = ? AND taken_s >= ? AND {_PROBED}", [packed(address), since_s]
        if crawler is not None:
            rest, values = f"{rest} AND crawler = ?", [*values, crawler]
        return self._connection.read(_SAMPLE, _sample_of, f"{rest} ORDER BY id", values)

    def latest(self, address: Address) -> dict[str, Sample]:
        """Return the last sample of each crawler that probed an address.

        That an agent did not answer says nothing of the address: what it said before counts.
        """
        found: dict[str, Sample] = {}
        for sample in self.of(address):
            if sample.loss is not Loss.AGENT or sample.crawler not in found:
                found[sample.crawler] = sample
        return found

    def crawled(self, address: Address, count: int = 20) -> list[Sample]:
        """Return what nodes observed of an address while they downloaded, oldest first: the last so many."""
        rest = "WHERE address = ? AND rung = ? ORDER BY id DESC LIMIT ?"
        values = (packed(address), SideRung.CRAWL.value, count)
        return self._connection.read(_SAMPLE, _sample_of, rest, values)[::-1]

    def newest(self, count: int, since_s: float = 0.0) -> list[Sample]:
        """Return the last samples of all addresses, oldest first: so many at most, from a time on."""
        rest = f"WHERE taken_s >= ? AND {_PROBED} ORDER BY id DESC LIMIT ?"
        return self._connection.read(_SAMPLE, _sample_of, rest, (since_s, count))[::-1]

    def after(self, mark: int, count: int) -> tuple[int, list[Sample]]:
        """Return the samples that came after a mark, oldest first, so many at most; and the next mark."""
        rest = f"WHERE id > ? AND {_PROBED} ORDER BY id LIMIT ?"
        rows = self._connection.read(
            _NUMBERED, lambda row: (row[0], _sample_of(row[1:])), rest, (mark, count)
        )
        return (rows[-1][0] if rows else mark), [sample for _, sample in rows]

    def last_mark(self) -> int:
        """Return the mark after which nothing has come yet."""
        found = self._connection.row("SELECT coalesce(max(id), 0) FROM samples")
        return int(found[0]) if found else 0

    def in_range(self, bounds: Bounds, count: int) -> list[Sample]:
        """Return samples of addresses in a range, by address, so many at most."""
        rest = f"WHERE address BETWEEN ? AND ? AND {_PROBED} ORDER BY address, id LIMIT ?"
        values = (packed(bounds[0]), packed(bounds[1]), count)
        return self._connection.read(_SAMPLE, _sample_of, rest, values)

    def within(self, bounds: Bounds) -> int:
        """Count the samples of addresses in a range."""
        sql = "SELECT count(*) FROM samples WHERE address BETWEEN ? AND ?"
        found = self._connection.row(sql, tuple(map(packed, bounds)))
        return int(found[0]) if found else 0

    def forget(self, bounds: Bounds) -> int:
        """Remove the samples of addresses in a range; return how many."""
        sql = "DELETE FROM samples WHERE address BETWEEN ? AND ?"
        return self._connection.execute(sql, tuple(map(packed, bounds)))

    def count(self) -> int:
        """Count all samples."""
        found = self._connection.row("SELECT count(*) FROM samples")
        return int(found[0]) if found else 0


def _row_of(sample: Sample) -> Row:
    timings, all_ms = sample.timings, sample.all_ms
    pack = _PACKERS.get(len(all_ms)) or struct.Struct(f"<{len(all_ms)}d").pack
    split: Row = _NOTHING
    if timings is not None:
        split = (timings.dns_ms, timings.tcp_ms, timings.tls_ms, timings.first_byte_ms)
    download_ms = None if timings is None else timings.download_ms
    return (
        sample.crawler,
        packed(sample.address),
        sample.rtt_ms,
        _WORDS[sample.loss],
        _WORDS[sample.rung],
        pack(*all_ms),
        *split,
        sample.detail.replace("\0", "␀"),  # no text of PostgreSQL's holds a NUL
        sample.taken_s,
        download_ms,
    )


def _sample_of(row: Row) -> Sample:
    crawler, address, rtt_ms, loss, rung, all_ms, *split, detail, taken_s, download_ms = row
    return Sample(
        crawler=crawler,
        address=unpacked(address),
        rtt_ms=rtt_ms,
        loss=None if loss is None else Loss(loss),
        rung=None if rung is None else _rung_of(rung),
        all_ms=struct.unpack(f"<{len(all_ms) // 8}d", all_ms),
        timings=_timings_of([*split, download_ms]),
        detail=detail,
        taken_s=taken_s,
    )


def _rung_of(word: str) -> Rung | SideRung:
    return SideRung.CRAWL if word == SideRung.CRAWL else Rung(word)


def _timings_of(split: list[float | None]) -> Timings | None:
    """Read the parts of an exchange; none of them is as good as no exchange."""
    if all(part is None for part in split):
        return None
    dns_ms, tcp_ms, tls_ms, first_byte_ms, download_ms = split
    return Timings(
        dns_ms=dns_ms, tcp_ms=tcp_ms, tls_ms=tls_ms, first_byte_ms=first_byte_ms, download_ms=download_ms
    )


# --- track records


class TrackRecordTable:
    """Track records by crawler, and the samples that were rejected."""

    def __init__(self, connection: Connection) -> None:
        """Use a connection."""
        self._connection = connection

    def put_many(self, records: Iterable[tuple[str, TrackRecord]]) -> None:
        """Keep records in place of those before."""
        rows = [(crawler, one.since_s, one.checked, one.implausible) for crawler, one in records]
        self._connection.execute_many(TRACK_RECORDS.put, rows)

    def all(self) -> dict[str, TrackRecord]:
        """Return the record of each crawler that has one."""
        return dict(self._connection.read(_RECORD, _record_of))

    def reject_many(self, samples: Iterable[ImplausibleSample]) -> None:
        """Keep implausible samples, the first of each crawler and address."""
        rows = [(one.crawler, packed(one.address), one.rtt_ms, one.least_ms, one.at_s) for one in samples]
        self._connection.execute_many(MARKS.insert_new, rows)

    def rejected(self) -> list[ImplausibleSample]:
        """Return all implausible samples, oldest first."""
        return self._connection.read(_MARK, _implausible_of, "ORDER BY rowid")


def _record_of(row: Row) -> tuple[str, TrackRecord]:
    return row[0], TrackRecord(since_s=row[1], checked=row[2], implausible=row[3])


def _implausible_of(row: Row) -> ImplausibleSample:
    return ImplausibleSample(
        crawler=row[0], address=unpacked(row[1]), rtt_ms=row[2], least_ms=row[3], at_s=row[4]
    )
