"""The URLs of a crawl, in SQLite: what waits, what is in flight, what is done, and what pages were like.

Theory of operation
-------------------
Scrapy's own job folder does not survive `kill -9`: the heads of its queues are written when it closes. Here
every step is a statement in one database, and one rule makes a kill harmless:

    A URL is done only when everything that came of it is committed: its links, what is known of its page,
    and the lengths of the files that got its records.

`commit` therefore syncs the files first, notes their lengths, and commits all of it in one transaction.
After a kill, what was in flight waits again, and the files are cut to the lengths that were committed: each
page is in them once, although a few were fetched twice. Commits of the database need no `fsync` for
that: the write-ahead log survives the process, and after a power cut the last pages are fetched again.

A *turn* is one crawl of the sites. `pages` outlives it: validators, digest and links of every page, which the
next turn needs to ask for changes only and to know the links of pages that did not change.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from ipmicra.errors import InputError, StoreError

VERSION = 1
"""Of the tables; another one is refused."""
_WAITING, _IN_FLIGHT, _DONE = 0, 1, 2
_SCHEMA = f"""
CREATE TABLE urls (
    id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, host TEXT NOT NULL, slot TEXT NOT NULL,
    rank INTEGER NOT NULL, state INTEGER NOT NULL, content BLOB
);
CREATE INDEX waiting ON urls(slot, rank, id) WHERE state = {_WAITING};
CREATE TABLE pages (
    key BLOB PRIMARY KEY, url TEXT NOT NULL, etag TEXT NOT NULL, modified TEXT NOT NULL, digest BLOB NOT NULL,
    links BLOB NOT NULL, checked_s REAL NOT NULL, changed_s REAL NOT NULL,
    checks INTEGER NOT NULL, changes INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE files (name TEXT PRIMARY KEY, bytes INTEGER NOT NULL);
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
PRAGMA user_version = {VERSION};
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A URL to fetch."""

    key: bytes
    """Its fingerprint: two URLs with the same key are the same page."""
    host: str
    slot: str
    """Sites that share polite delays have the same slot."""
    rank: int = 0
    """Lower ones first; among equals the oldest."""
    content: bytes
    """The request, in the words of whoever makes requests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownPage:
    """A page as it was when it was last fetched."""

    key: bytes
    url: str
    etag: str = ""
    modified: str = ""
    """Its `Last-Modified`."""
    digest: bytes = b""
    """SHA-1 of the body."""
    links: tuple[str, ...] = ()
    checked_s: float
    """When it was last asked for; seconds since 1970, UTC."""
    changed_s: float
    """When a change was last seen."""
    checks: int = 1
    changes: int = 0


class _Database:
    """A database that does nothing more once anything went wrong.

    SQLite may have rolled back the whole transaction then (a full disk, an error of the disk). Whatever came
    next would be committed without what came before: pages would be done whose links are lost.
    """

    def __init__(self, raw: sqlite3.Connection, path: Path) -> None:
        self._raw, self._path = raw, path
        self._trouble: StoreError | None = None

    def execute(self, sql: str, values: Sequence[object] = ()) -> sqlite3.Cursor:
        return self._done(self._raw.execute, sql, values)

    def executemany(self, sql: str, rows: Iterable[Sequence[object]]) -> sqlite3.Cursor:
        return self._done(self._raw.executemany, sql, rows)

    def _done(self, do: Callable[[str, Any], sqlite3.Cursor], sql: str, values: object) -> sqlite3.Cursor:
        if self._trouble is not None:
            raise self._trouble
        try:
            return do(sql, values)
        except sqlite3.Error as error:
            self._trouble = StoreError(
                str(self._path), f"{error}: see to the disk, then start the node again"
            )
            raise self._trouble from error

    def close(self) -> None:
        self._raw.close()


class Frontier:
    """The database of a node; use as a context."""

    def __init__(self, database: _Database) -> None:
        """Take over an open database; see `open`."""
        self._db = database

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open or create; what was in flight waits again."""
        try:
            database = sqlite3.connect(path, isolation_level=None)
        except sqlite3.Error as error:
            raise StoreError(str(path), str(error)) from error
        try:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = NORMAL")
            (version,) = database.execute("PRAGMA user_version").fetchone()
            if version == 0:
                database.executescript(f"BEGIN;{_SCHEMA}COMMIT;")
            _check_version(version, path)
            database.execute(f"UPDATE urls SET state = {_WAITING} WHERE state = {_IN_FLIGHT}")  # noqa: S608 - numbers
            database.execute("BEGIN")
        except sqlite3.DatabaseError as error:
            database.close()
            raise InputError(f"{path} is no frontier of a crawl: {error}") from error
        except BaseException:
            database.close()
            raise
        return cls(_Database(database, path))

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Close without committing."""
        self._db.close()

    # --- URLs

    def knows(self, key: bytes) -> bool:
        """Return whether a URL was added in this turn."""
        return self._db.execute("SELECT 1 FROM urls WHERE key = ?", (key,)).fetchone() is not None

    def add(self, one: Waiting) -> bool:
        """Let a URL wait; return False if it is known already."""
        done = self._db.execute(
            "INSERT OR IGNORE INTO urls (key, host, slot, rank, state, content) VALUES (?,?,?,?,?,?)",
            (one.key, one.host, one.slot, one.rank, _WAITING, one.content),
        )
        return bool(done.rowcount)

    def take(self, slot: str) -> tuple[int, bytes] | None:
        """Take the next URL of a slot: row and content; it is in flight from now on."""
        found: tuple[int, bytes] | None = self._db.execute(
            f"SELECT id, content FROM urls WHERE slot = ? AND state = {_WAITING} ORDER BY rank, id LIMIT 1",  # noqa: S608
            (slot,),
        ).fetchone()
        if found is not None:
            self._db.execute(f"UPDATE urls SET state = {_IN_FLIGHT} WHERE id = ?", (found[0],))  # noqa: S608
        return found

    def finish(self, rows: Iterable[int]) -> None:
        """Mark URLs as done."""
        self._db.executemany(
            f"UPDATE urls SET state = {_DONE}, content = NULL WHERE id = ?",  # noqa: S608 - a number
            ((row,) for row in rows),
        )

    def put_back(self, row: int, content: bytes) -> None:
        """Let a URL that is in flight wait again, with other content."""
        self._db.execute(f"UPDATE urls SET state = {_WAITING}, content = ? WHERE id = ?", (content, row))  # noqa: S608

    def waiting(self) -> dict[str, int]:
        """Count the URLs that wait, by slot."""
        return dict(
            self._db.execute(f"SELECT slot, COUNT(*) FROM urls WHERE state = {_WAITING} GROUP BY slot")  # noqa: S608
        )

    def hosts(self) -> dict[str, int]:
        """Count all URLs of this turn, by host."""
        return dict(self._db.execute("SELECT host, COUNT(*) FROM urls GROUP BY host"))

    def fetched(self) -> int:
        """Count the URLs that are done."""
        (count,) = self._db.execute(f"SELECT COUNT(*) FROM urls WHERE state = {_DONE}").fetchone()  # noqa: S608
        return int(count)

    def start_turn(self) -> None:
        """Forget the URLs of the last turn; what is known of pages stays."""
        self._db.execute("DELETE FROM urls")

    # --- pages

    def page(self, key: bytes) -> KnownPage | None:
        """Return what is known of a page."""
        row: Sequence[object] | None = self._db.execute(
            "SELECT * FROM pages WHERE key = ?", (key,)
        ).fetchone()
        if row is None:
            return None
        names = ("key", "url", "etag", "modified", "digest", "links", "checked_s", "changed_s", "checks")
        given = dict(zip((*names, "changes"), row, strict=True))
        links = json.loads(zlib.decompress(given.pop("links")))  # type: ignore[arg-type]
        return KnownPage(links=tuple(links), **given)  # type: ignore[arg-type]

    def keep_page(self, one: KnownPage) -> None:
        """Remember a page."""
        links = zlib.compress(json.dumps(one.links).encode(), 1)
        row = (one.key, one.url, one.etag, one.modified, one.digest, links)
        times = (one.checked_s, one.changed_s, one.checks, one.changes)
        self._db.execute("INSERT OR REPLACE INTO pages VALUES (?,?,?,?,?,?,?,?,?,?)", (*row, *times))

    def pages_since(self, when_s: float) -> list[str]:
        """Return the URLs of pages that were asked for at a time or later."""
        return [url for (url,) in self._db.execute("SELECT url FROM pages WHERE checked_s >= ?", (when_s,))]

    # --- facts and commits

    def fact(self, name: str) -> str:
        """Return a fact about the crawl; empty if it is unknown."""
        found = self._db.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return str(found[0]) if found else ""

    def keep_fact(self, name: str, value: str) -> None:
        """Remember a fact about the crawl."""
        self._db.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))

    def lengths(self) -> dict[str, int]:
        """Return how long the growing files were at the last commit, by name."""
        return dict(self._db.execute("SELECT name, bytes FROM files"))

    def commit(self, lengths: Iterable[tuple[str, int]] = (), *, closed: Iterable[str] = ()) -> None:
        """Commit everything so far, with the lengths of flushed files; forget those that are closed."""
        self._db.executemany("INSERT OR REPLACE INTO files VALUES (?, ?)", lengths)
        self._db.executemany("DELETE FROM files WHERE name = ?", ((name,) for name in closed))
        self._db.execute("COMMIT")
        self._db.execute("BEGIN")

    def close(self) -> None:
        """Commit and close."""
        with closing(self._db):
            self._db.execute("COMMIT")


def _check_version(version: int, path: Path) -> None:
    if version not in {0, VERSION}:
        raise InputError(f"{path} was written by another version of ipmicra: use a new folder")
