"""Keep words by key: which edition, which settings."""

from __future__ import annotations

from operator import itemgetter

from ipmicra.edge.store.connection import Connection
from ipmicra.edge.store.schema import Table

MIGRATION_TABLE = Table(
    "migrations", {"number": int, "name": str | None, "applied_s": float | None}, key=("number",)
)
META = Table("meta", {"key": str, "value": str}, key=("key",))
COPY_MARK = "copied from"
"""Key of the source of a copy that is not finished."""
WRITER = "writer "
"""Beginning of the keys under which connections to PostgreSQL leave the numbers of their transactions."""
_VALUE = META.shape("value")


class MetaTable:
    """Words by key."""

    def __init__(self, connection: Connection) -> None:
        """Use a connection."""
        self._connection = connection

    def get(self, key: str) -> str | None:
        """Return a word; None if there is none."""
        return self._connection.read_one(_VALUE, itemgetter(0), "WHERE key = ?", (key,))

    def set(self, key: str, value: str) -> None:
        """Keep a word in place of the one before."""
        self._connection.execute(META.put, (key, value))
