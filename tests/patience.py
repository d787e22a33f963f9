"""Wait for conditions and interrupt endless loops, however busy the machine."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

T = TypeVar("T")
MOST_ROUNDS = 30
PATIENCE_S = 120.0
"""Far longer than anything takes on the slowest machine; only failing tests wait this long."""


def wait_until(is_so: Callable[[], object], what: str) -> None:
    """Wait for a condition; `what` names it in the failure message."""
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < deadline, f"{what}: waited for {PATIENCE_S:g} s"
        time.sleep(0.005)


def run(scenario: Callable[[], Awaitable[None]]) -> None:
    """Run a scenario in a loop of its own; one that never ends fails."""

    async def bounded() -> None:
        async with asyncio.timeout(PATIENCE_S):
            await scenario()

    asyncio.run(bounded())


async def until(is_so: Callable[[], object]) -> None:
    """Wait for a condition, in a loop."""
    while not is_so():  # noqa: ASYNC110 - conditions of many kinds
        await asyncio.sleep(0.01)


def measured_until(measure: Callable[[], T], is_calm: Callable[[T], bool]) -> list[T]:
    """Repeat a measurement until a busy machine no longer disturbs it; return all, the last one undisturbed.

    For laws about a minimum. The caller asserts on all of them what must hold for each.
    """
    taken: list[T] = []
    for _ in range(MOST_ROUNDS):
        taken.append(measure())
        if is_calm(taken[-1]):
            return taken
    raise AssertionError(f"none of {MOST_ROUNDS} measurements was undisturbed; the last: {taken[-1]}")


@contextmanager
def loops_broken() -> Iterator[None]:
    """Turn an endless loop into a failure; only in the main thread, around code that is not compiled."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise AssertionError("it does not return")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
