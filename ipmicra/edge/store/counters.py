"""Keep counters: numbers that only grow, by which readers see that something changed."""

from __future__ import annotations

from ipmicra.edge.store.connection import Connection
from ipmicra.edge.store.schema import Table

COUNTERS = Table("counters", {"name": str, "value": int}, key=("name",))
_COUNT = f"{COUNTERS.insert} ON CONFLICT (name) DO UPDATE SET value = counters.value + excluded.value"


def add_count(connection: Connection, name: str, count: int) -> None:
    """Let a counter grow."""
    connection.execute(_COUNT, (name, count))


def counted(connection: Connection, name: str) -> int:
    """Return the value of a counter; 0 before it first grew."""
    found = connection.row("SELECT value FROM counters WHERE name = ?", (name,))
    return int(found[0]) if found else 0
