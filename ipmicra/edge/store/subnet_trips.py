"""Keep the round trips of subnets: what the coordinates of their sites are computed from."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

from ipmicra.edge.store.connection import Connection
from ipmicra.edge.store.keys import packed, unpacked
from ipmicra.edge.store.ports import Bounds, SubnetTrips
from ipmicra.edge.store.schema import Row, Table

SUBNET_TRIPS = Table(
    "subnet_trips",
    {"first": bytes, "last": bytes, "crawler": str, "last_ms": bytes, "taken_s": float},
    key=("first", "last", "crawler"),
    is_ordered=True,
)
"""`last_ms` holds round trips in order, as little-endian doubles."""
_TRIPS = SUBNET_TRIPS.shape()


class SubnetTripsTable:
    """The last round trips of each subnet and crawler."""

    def __init__(self, connection: Connection) -> None:
        """Use a connection."""
        self._connection = connection

    def put_many(self, trips: Iterable[SubnetTrips]) -> None:
        """Keep round trips in place of those their subnets and crawlers had."""
        self._connection.execute_many(SUBNET_TRIPS.put, (_row_of(one) for one in trips))

    def of(self, subnets: Sequence[Bounds]) -> list[SubnetTrips]:
        """Return the round trips of subnets."""
        found: list[SubnetTrips] = []
        for first, last in subnets:
            values = (packed(first), packed(last))
            found += self._connection.read(_TRIPS, _trips_of, "WHERE first = ? AND last = ?", values)
        return found

    def newest(self, count: int) -> list[SubnetTrips]:
        """Return the round trips that were taken last, newest first: so many at most."""
        return self._connection.read(_TRIPS, _trips_of, "ORDER BY taken_s DESC, rowid LIMIT ?", (count,))

    def clear(self) -> None:
        """Drop all: they are learnt again from the samples."""
        self._connection.execute("DELETE FROM subnet_trips")


def _row_of(one: SubnetTrips) -> Row:
    last_ms = struct.pack(f"<{len(one.last_ms)}d", *one.last_ms)
    return packed(one.first), packed(one.last), one.crawler, last_ms, one.taken_s


def _trips_of(row: Row) -> SubnetTrips:
    first, last, crawler, last_ms, taken_s = row
    return SubnetTrips(
        first=unpacked(first),
        last=unpacked(last),
        crawler=crawler,
        last_ms=struct.unpack(f"<{len(last_ms) // 8}d", last_ms),
        taken_s=taken_s,
    )
