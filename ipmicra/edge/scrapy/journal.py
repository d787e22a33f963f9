"""What a node has to say and could not say yet, on disk; and which run of which crawl it takes part in.

Written in the order in which things happened. A crash can only lose the end of it, and a page is finished
only after its links: so pages whose report was lost are fetched again, and none is missed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from ipmicra.edge.store.connection import ConnectionConfig
from ipmicra.edge.store.sqlite import SqliteConnection
from ipmicra.model.link import Link
from ipmicra.partition.exchange.exchange import Entry

FILE = "ipmicra.db"
"""In the job's folder."""
_TABLES = (
    "CREATE TABLE IF NOT EXISTS entries (number INTEGER PRIMARY KEY, done INTEGER, link TEXT)",
    "CREATE TABLE IF NOT EXISTS job (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
)


class Journal:
    """The file of one node; without a folder it is kept in memory and ends with the process."""

    def __init__(self, folder: Path | None) -> None:
        """Open the journal of a job, made if it is missing."""
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        path = ":memory:" if folder is None else str(folder / FILE)
        # A crash of the process loses nothing that was committed; after a power cut the last pages are
        # fetched again.
        self._connection = SqliteConnection(path, ConnectionConfig(synchronous="NORMAL", cache_kib=2_048))
        with self._connection.transaction():
            for statement in _TABLES:
                self._connection.execute(statement)

    def append(self, entries: Iterable[Entry]) -> None:
        """Write entries behind those that are there."""
        rows = [(one, None) if isinstance(one, int) else (None, _text_of(one)) for one in entries]
        self._connection.execute_many("INSERT INTO entries (done, link) VALUES (?, ?)", rows)

    def drop(self, count: int) -> None:
        """Remove the oldest entries: they have been delivered."""
        sql = "DELETE FROM entries WHERE number IN (SELECT number FROM entries ORDER BY number LIMIT ?)"
        self._connection.execute(sql, (count,))

    def entries(self) -> list[Entry]:
        """Return all entries, the oldest first."""
        rows = self._connection.raw.execute("SELECT done, link FROM entries ORDER BY number")
        return [_link_of(link) if done is None else done for done, link in rows]

    def clear(self) -> None:
        """Forget all entries: they are about another run."""
        self._connection.execute("DELETE FROM entries")

    @property
    def run(self) -> int | None:
        """The run of the crawl that the job takes part in; None if it is new."""
        row = self._connection.row("SELECT value FROM job WHERE name = 'run'")
        return None if row is None else int(row[0])

    @run.setter
    def run(self, run: int) -> None:
        self._connection.execute("INSERT OR REPLACE INTO job VALUES ('run', ?)", (str(run),))

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


def _text_of(link: Link) -> str:
    return json.dumps([link.key, link.url, link.host, link.depth, link.priority, link.extra])


def _link_of(text: str) -> Link:
    key, url, host, depth, priority, extra = json.loads(text)
    return Link(key=key, url=url, host=host, depth=depth, priority=priority, extra=extra)
