"""Copy a SQLite store into a file while others write to it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from ipmicra.edge.durable import settle
from ipmicra.edge.store.connection import ConnectionConfig
from ipmicra.edge.store.sqlite import SqliteConnection
from ipmicra.errors import StoreError

_PAGES = 2_000
"""Pages of a step: others can write in between, and a page that they change is copied again."""
_PAUSE_S = 0.0


def backup_file(source: Path, target: Path, progress: Callable[[int, int], object]) -> None:
    """Copy a store page by page, and check the copy; the target appears when it is whole."""
    part = target.with_name(f".{target.name}.part")
    part.unlink(missing_ok=True)
    connection = SqliteConnection(str(source), ConnectionConfig())
    try:
        with connection.translated(), closing(sqlite3.connect(part)) as into:
            connection.raw.backup(
                into,
                pages=_PAGES,
                sleep=_PAUSE_S,
                progress=lambda _, remaining, total: progress(total - remaining, total),
            )
            into.execute("PRAGMA journal_mode = DELETE")  # one file that can be moved, until it is opened
            (found,) = into.execute("PRAGMA quick_check(1)").fetchone()
        if found != "ok":
            raise StoreError(str(source), f"its copy is damaged ({found}): check the disk")
        settle(part, target)
    finally:
        connection.close()
        part.unlink(missing_ok=True)
