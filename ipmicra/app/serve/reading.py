"""Questions to the store that may take long, in threads of their own.

The event loop's connection decides and must not be held up by somebody who reads a million rows. Each thread
has a connection of its own, because one belongs to the thread that opened it; it sees what was committed.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from ipmicra.app.home import Home
from ipmicra.edge.store.ports import StorePort

T = TypeVar("T")
THREADS = 2


class Reader:
    """Runs functions that read the store, or that block for other reasons, beside the event loop."""

    def __init__(self, home: Home) -> None:
        """Open nothing yet."""
        self._home = home
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="ipmicra-reader")
        self._local = threading.local()

    async def read(self, function: Callable[[StorePort], T]) -> T:
        """Return what a function makes of the store."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._with_store, function)

    async def run(self, function: Callable[[], T]) -> T:
        """Return what a function returns that needs no store."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, function)

    def _with_store(self, function: Callable[[StorePort], T]) -> T:
        store: StorePort | None = getattr(self._local, "store", None)
        if store is None:
            store = self._local.store = self._home.open_store()
        return function(store)

    def close(self) -> None:
        """Wait for what is under way, and close the connections of all threads."""

        def close_own(barrier: threading.Barrier) -> None:
            barrier.wait()
            store: StorePort | None = getattr(self._local, "store", None)
            if store is not None:
                store.close()

        barrier = threading.Barrier(THREADS)
        for done in [self._pool.submit(close_own, barrier) for _ in range(THREADS)]:
            done.result()
        self._pool.shutdown()
