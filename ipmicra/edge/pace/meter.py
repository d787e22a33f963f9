"""Limit how slow the other side of an exchange may be: one rule for every client.

Theory of operation
-------------------
A socket timeout restarts with every byte, so a peer sending one byte per second holds an exchange
open for ever; so does a peer repeating an interim answer (status 103). `Pace` therefore sets limits that no
byte extends:

1. `head_s`: from the request to the end of the answer's headers, interim answers included.
2. `total_s`: from the request to the end of the answer.
3. A minimum speed while a message is unfinished. The other side has a credit of at most `grace_s`; time uses
   it up, and each byte earns `1 / bytes_per_s` of it back. A credit, and not the average since the start,
   because the average of a download that was quick would let it trickle for days.

Between two messages nothing is owed, and only `total_s` counts: an agent that waits for its turn to probe is
silent for good reason.

`Meter` follows one exchange of an asynchronous client, which awaits each step through `within`. A client that
blocks cannot be cancelled; `blocking.py` applies the same limits to its sockets.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from dataclasses import dataclass
from math import inf
from typing import TypeVar

T = TypeVar("T")


class TooSlowError(TimeoutError):
    """The other side is slower than an exchange may be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How slow the other side may be."""

    head_s: float
    """From the request, connecting included, to the end of the answer's headers."""
    total_s: float = inf
    """From the request to the end of the answer."""
    bytes_per_s: float = 1_000.0
    """Slowest speed of an unfinished message: a fortieth of what an old modem reaches."""
    grace_s: float = 5.0
    """How long an unfinished message may be slower than that: a lost packet is sent again within 3 s."""

    def seconds_for(self, count: int) -> float:
        """Return how long a number of bytes of one message may take."""
        return self.grace_s + count / self.bytes_per_s


class Meter:
    """Follows one exchange; every step of it is awaited through `within`."""

    def __init__(self, pace: Pace) -> None:
        """Start the clock: a request is about to be sent."""
        self._pace = pace
        self._start_s = time.monotonic()
        self._due_s = self._start_s + pace.head_s
        """Until when the next bytes must be there; infinite while nothing is owed."""

    async def within(self, step: Awaitable[T]) -> T:
        """Await a step, but no longer than the pace allows."""
        limit_s = min(self._due_s, self._start_s + self._pace.total_s)
        limit = asyncio.timeout(limit_s - time.monotonic())
        try:
            async with limit:
                return await step
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise TooSlowError(self._complaint(limit_s)) from error

    def between_messages(self) -> None:
        """Note that nothing is owed until the next byte."""
        self._due_s = inf

    def received(self, count: int) -> None:
        """Note bytes of a message that is not finished."""
        latest_s = time.monotonic() + self._pace.grace_s
        earned_s = count / self._pace.bytes_per_s
        self._due_s = latest_s if self._due_s == inf else min(self._due_s + earned_s, latest_s)

    def _complaint(self, limit_s: float) -> str:
        pace = self._pace
        if limit_s == self._start_s + pace.head_s:
            return f"no complete headers within {pace.head_s:.3g} s"
        if limit_s == self._start_s + pace.total_s:
            return f"not finished within {pace.total_s:.3g} s"
        return f"slower than {pace.bytes_per_s:g} bytes per second"
