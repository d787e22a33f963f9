"""Keep saved states: network coordinates, overlays."""

from __future__ import annotations

from operator import itemgetter

from ipmicra.edge.store.connection import Connection
from ipmicra.edge.store.schema import Table

STATES = Table("states", {"name": str, "data": bytes, "at_s": float}, key=("name",))
_STATE = STATES.shape("data")


class StateTable:
    """Bytes by name; the code that wrote them checks them when they are read."""

    def __init__(self, connection: Connection) -> None:
        """Use a connection."""
        self._connection = connection

    def get(self, name: str) -> bytes | None:
        """Return a saved state; None if there is none."""
        return self._connection.read_one(_STATE, itemgetter(0), "WHERE name = ?", (name,))

    def put(self, name: str, data: bytes, at_s: float) -> None:
        """Save a state in place of the one before."""
        self._connection.execute(STATES.put, (name, data, at_s))

    def forget(self, name: str) -> bool:
        """Drop a saved state; return whether there was one."""
        return self._connection.execute("DELETE FROM states WHERE name = ?", (name,)) > 0
