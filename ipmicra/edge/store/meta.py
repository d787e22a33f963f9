"""Keep words by key: which edition, which settings."""

from __future__ import annotations

from operator import itemgetter

from sqlite_utils import Database

from ipmicra.edge.store.connection import Connection, Shape
from ipmicra.edge.store.schema import make_table

_META = Shape("meta", {"value": str})


def create_meta(database: Database) -> None:
    """Make the tables of what the store knows of itself."""
    make_table(database, "migrations", {"number": int, "name": str, "applied_s": float}, key="number")
    make_table(database, "meta", {"key": str, "value": str}, key="key", needed=("value",))


class MetaTable:
    """Words by key."""

    def __init__(self, connection: Connection) -> None:
        """Use a connection."""
        self._connection = connection

    def get(self, key: str) -> str | None:
        """Return a word; None if there is none."""
        return self._connection.read_one(_META, itemgetter(0), "WHERE key = ?", (key,))

    def set(self, key: str, value: str) -> None:
        """Keep a word in place of the one before."""
        self._connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))
