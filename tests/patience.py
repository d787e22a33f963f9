"""Breaking off what does not come back, so that an endless loop fails a test instead of hanging the suite."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

PATIENCE_S = 20.0
"""Far longer than anything inside takes, however slow the machine."""


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
