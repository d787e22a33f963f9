"""Keep every sample, with all its round trips."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from operator import itemgetter

from sqlite_utils import Database

from ipmicra.edge.store.connection import Connection, Row, Shape
from ipmicra.edge.store.keys import packed, unpacked
from ipmicra.edge.store.schema import make_table
from ipmicra.model.address import Address
from ipmicra.model.sample import Loss, Rung, Sample, Timings

_SAMPLE = Shape(
    "samples",
    {
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
    },
)
_ADD = f"INSERT INTO samples ({_SAMPLE.names}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608 - our own names
_PACKERS = {count: struct.Struct(f"<{count}d").pack for count in range(11)}
"""For the usual numbers of round trips."""
_WORDS: dict[Loss | Rung | None, str | None] = {None: None, **{word: word.value for word in (*Loss, *Rung)}}
"""Plain texts: SQLite's module takes a detour for anything else."""
_NOTHING = (None, None, None, None)


def create_samples(database: Database) -> None:
    """Make the table of samples.

    `all_ms` holds the round trips in order, as little-endian doubles.
    """
    columns = {
        "id": int,
        "crawler": str,
        "address": bytes,
        "rtt_ms": float,
        "loss": str,
        "rung": str,
        "all_ms": bytes,
        "dns_ms": float,
        "tcp_ms": float,
        "tls_ms": float,
        "first_byte_ms": float,
        "detail": str,
        "taken_s": float,
    }
    needed = ("crawler", "address", "all_ms", "detail", "taken_s")
    make_table(database, "samples", columns, key="id", needed=needed, index=("address",))


class SampleTable:
    """Samples in the order in which they came."""

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
        self._connection.execute_many(_ADD, rows)

    def of(self, address: Address, crawler: str | None = None, since_s: float = 0.0) -> list[Sample]:
        """Return the samples of an address, oldest first: by one crawler or by all, from a time on."""
        rest, values = "WHERE address = ? AND taken_s >= ?", [packed(address), since_s]
        if crawler is not None:
            rest, values = f"{rest} AND crawler = ?", [*values, crawler]
        return self._connection.read(_SAMPLE, _sample_of, f"{rest} ORDER BY id", values)

    def latest(self, address: Address) -> dict[str, Sample]:
        """Return the last sample of each crawler that probed an address."""
        return {sample.crawler: sample for sample in self.of(address)}

    def newest(self, count: int, since_s: float = 0.0) -> list[Sample]:
        """Return the last samples of all addresses, oldest first: so many at most, from a time on."""
        rest = "WHERE taken_s >= ? ORDER BY id DESC LIMIT ?"
        return self._connection.read(_SAMPLE, _sample_of, rest, (since_s, count))[::-1]

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
    return (
        sample.crawler,
        packed(sample.address),
        sample.rtt_ms,
        _WORDS[sample.loss],
        _WORDS[sample.rung],
        pack(*all_ms),
        *split,
        sample.detail,
        sample.taken_s,
    )


def _sample_of(row: Row) -> Sample:
    crawler, address, rtt_ms, loss, rung, all_ms, *split, detail, taken_s = row
    return Sample(
        crawler=crawler,
        address=unpacked(address),
        rtt_ms=rtt_ms,
        loss=None if loss is None else Loss(loss),
        rung=None if rung is None else Rung(rung),
        all_ms=struct.unpack(f"<{len(all_ms) // 8}d", all_ms),
        timings=_timings_of(split),
        detail=detail,
        taken_s=taken_s,
    )


def _timings_of(split: list[float | None]) -> Timings | None:
    """Read the parts of an exchange; none of them is as good as no exchange."""
    if all(part is None for part in split):
        return None
    dns_ms, tcp_ms, tls_ms, first_byte_ms = split
    return Timings(dns_ms=dns_ms, tcp_ms=tcp_ms, tls_ms=tls_ms, first_byte_ms=first_byte_ms)
