"""Look into a store quickly, without creating or migrating it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from urllib.parse import quote

from ipmicra.edge.store.connection import ConnectionConfig
from ipmicra.edge.store.places import connect, is_postgres, path_of
from ipmicra.errors import IpmicraError

PATIENCE_S = 0.2
"""How long to wait for another process that writes: a user waits for a completion."""
_NAMES = "SELECT name FROM crawlers WHERE state <> 'left' ORDER BY name"
_QUICK = ConnectionConfig(connect_s=2)
"""The shortest time that libpq knows."""


def crawler_names(url: str) -> list[str]:
    """List the crawlers of a store that have not left; none if it cannot be read."""
    try:
        if is_postgres(url):
            with closing(connect(url, _QUICK)) as database:
                return [str(name) for (name,) in database.rows(_NAMES)]
        place = f"file:{quote(path_of(url))}?mode=ro"
        with closing(sqlite3.connect(place, uri=True, timeout=PATIENCE_S)) as connection:
            rows = connection.execute(_NAMES)
            return [str(name) for (name,) in rows]
    except (IpmicraError, sqlite3.Error):
        return []
