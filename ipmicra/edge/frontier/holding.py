"""URLs that wait for a decision, kept on the disk.

A URL whose host is not known yet is held until it is. What is decided within moments never reaches the disk;
the rest is written in groups, by a thread, so that streams do not wait for it. After a restart all that was
held is taken up again.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from ipmicra.errors import StoreError

T = TypeVar("T")


class Holding:
    """A file of messages by number."""

    def __init__(self, path: Path, most: int = 1_000_000) -> None:
        """Open or make the file; `most` messages may be held."""
        self.path, self.most = path, most
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="ipmicra-holding")
        self._connection = self._pool.submit(self._open).result()
        self._new: dict[int, bytes] = {}
        self._gone: list[int] = []
        self._next = 1
        self.count = 0
        """Messages that are held, written or not."""

    def _open(self) -> sqlite3.Connection:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self.path, isolation_level=None)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS held (id INTEGER PRIMARY KEY, message BLOB NOT NULL)"
            )
        except (sqlite3.Error, OSError) as error:
            raise StoreError(str(self.path), f"it cannot hold URLs: {error}") from error
        return connection

    async def load(self) -> list[tuple[int, bytes]]:
        """Return what was held when the proxy last stopped."""
        query = "SELECT id, message FROM held ORDER BY id"
        rows = await self._run(lambda: self._connection.execute(query).fetchall())
        self._next = max((number for number, _ in rows), default=0) + 1
        self.count += len(rows)
        return [(number, bytes(message)) for number, message in rows]

    def hold(self, message: bytes) -> int | None:
        """Hold a message; return its number, or None if there are too many."""
        if self.count >= self.most:
            return None
        number = self._next
        self._next += 1
        self._new[number] = message
        self.count += 1
        return number

    def release(self, number: int) -> None:
        """Let go of a message that was delivered."""
        self.count -= 1
        if self._new.pop(number, None) is None:
            self._gone.append(number)

    async def flush(self) -> None:
        """Write what has to be on the disk."""
        new, self._new = self._new, {}
        gone, self._gone = self._gone, []
        if not new and not gone:
            return

        def write() -> None:
            with self._connection:
                self._connection.execute("BEGIN IMMEDIATE")
                self._connection.executemany("INSERT OR REPLACE INTO held VALUES (?, ?)", new.items())
                self._connection.executemany("DELETE FROM held WHERE id = ?", [(one,) for one in gone])

        try:
            await asyncio.shield(self._run(write))  # whoever stops waiting stops nothing
        except sqlite3.Error as error:
            self._new, self._gone = {**new, **self._new}, [*gone, *self._gone]
            raise StoreError(str(self.path), f"held URLs cannot be written: {error}") from error

    async def run(self, every_s: float) -> None:
        """Write now and then, until cancelled."""
        while True:
            await asyncio.sleep(every_s)
            await self.flush()

    async def close(self) -> None:
        """Write all, and close."""
        await self.flush()
        await self._run(self._connection.close)
        self._pool.shutdown()

    def _run(self, function: Callable[[], T]) -> asyncio.Future[T]:
        return asyncio.get_running_loop().run_in_executor(self._pool, function)
