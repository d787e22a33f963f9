"""Waiting for what must come, and breaking off what does not come back, however busy the machine."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

T = TypeVar("T")
MOST_ROUNDS = 30
PATIENCE_S = 120.0
"""Far longer than anything takes, however slow the machine; only what fails waits so long."""


def wait_until(is_so: Callable[[], object], what: str) -> None:
    """Wait for a condition; `what` says what did not come."""
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < deadline, f"{what}: waited for {PATIENCE_S:g} s"
        time.sleep(0.005)


def measured_until(measure: Callable[[], T], is_calm: Callable[[T], bool]) -> list[T]:
    """Measure again while a busy machine disturbs; give every measurement, the last of them undisturbed.

    For laws about what a measurement gets down to. What must hold of each, the caller asserts of all.
    """
    taken: list[T] = []
    for _ in range(MOST_ROUNDS):
        taken.append(measure())
        if is_calm(taken[-1]):
            return taken
    raise AssertionError(f"no measurement of {MOST_ROUNDS} is as it must be; the last: {taken[-1]}")


@contextmanager
def loops_broken() -> Iterator[None]:
    """Turn an endless loop into a failure; use it in the main thread, around code that is not compiled."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise AssertionError("it does not come back")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
