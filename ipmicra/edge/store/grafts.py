"""Keep grafts: registrations asked for one by one, because the dumps lack them."""

from __future__ import annotations

from ipmicra.edge.store.connection import Connection
from ipmicra.edge.store.keys import packed, unpacked
from ipmicra.edge.store.ports import Graft
from ipmicra.edge.store.schema import Row, Table

GRAFTS = Table(
    "grafts",
    {
        "first": bytes,
        "last": bytes,
        "handle": str | None,
        "name": str | None,
        "country": str | None,
        "asked_s": float,
    },
    key=("first", "last"),
)
"""One without a handle or name says that the range is not registered."""
_GRAFT = GRAFTS.shape()


class GraftTable:
    """Grafts by their bounds."""

    def __init__(self, connection: Connection) -> None:
        """Use a connection."""
        self._connection = connection

    def put(self, graft: Graft) -> None:
        """Keep an answer in place of the one before."""
        self._connection.execute(
            GRAFTS.put,
            (
                packed(graft.first),
                packed(graft.last),
                graft.handle,
                graft.name,
                graft.country,
                graft.asked_s,
            ),
        )

    def all(self) -> list[Graft]:
        """Return all grafts, the wider before the narrower."""
        return self._connection.read(_GRAFT, _graft_of, "ORDER BY first, last DESC")


def _graft_of(row: Row) -> Graft:
    return Graft(
        first=unpacked(row[0]),
        last=unpacked(row[1]),
        handle=row[2],
        name=row[3],
        country=row[4],
        asked_s=row[5],
    )
