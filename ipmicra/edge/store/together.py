"""Writing in one transaction what several tasks want to write in the same moment.

Each transaction waits for the disk. A thousand agents answer one by one, but many of their answers are there
before the event loop has dealt with the first: these cost one wait together. Nobody waits longer for it,
since the transaction begins as soon as the loop has dealt with what was ready.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Repeating(Protocol):
    """The part of a store that does work in a transaction."""

    def repeated(self, work: Callable[[], T]) -> T:
        """Do work; again if the database undid it for reasons that pass."""


class Together:
    """Does work of several tasks in one transaction. The work must change nothing but the store."""

    def __init__(self, store: Repeating) -> None:
        """Begin with none."""
        self._store = store
        self._waiting: list[tuple[Callable[[], Any], asyncio.Future[Any]]] = []
        self._task: asyncio.Task[None] | None = None

    async def do(self, work: Callable[[], T]) -> T:
        """Do work, return its result; it is on the disk then. Once begun, it is done whoever waits for it."""
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting.append((work, done))
        if self._task is None:
            self._task = asyncio.create_task(self._do_all())
        return await asyncio.shield(done)

    async def _do_all(self) -> None:
        await asyncio.sleep(0)
        waiting, self._waiting, self._task = self._waiting, [], None
        try:
            results = self._store.repeated(lambda: [work() for work, _ in waiting])
        except Exception:  # noqa: BLE001 - each is told of its own error
            for work, done in waiting:
                self._do_alone(work, done)
            return
        for (_, done), result in zip(waiting, results, strict=True):
            done.set_result(result)

    def _do_alone(self, work: Callable[[], T], done: asyncio.Future[T]) -> None:
        try:
            done.set_result(self._store.repeated(work))
        except Exception as error:  # noqa: BLE001 - whoever waits raises it
            done.set_exception(error)

    async def close(self) -> None:
        """Wait until everything is done that was handed over."""
        while self._task is not None:
            await self._task
