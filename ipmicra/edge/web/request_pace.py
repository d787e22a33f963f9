"""Limit how much somebody who is known may send: so much in the long run, and more at once after a pause.

What comes too early waits for its turn, so that a client in a hurry is slowed down and not refused; what
would have to wait for long is refused.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PaceConfig:
    """How much one name may send."""

    bytes_per_s: float
    """In the long run."""
    burst_bytes: float
    """At once, after a pause."""
    request_bytes: int = 0
    """What a request counts beside its body."""
    longest_s: float = 5.0
    """What would wait for longer is refused."""


class RequestPace:
    """Counts by name; names are those of tokens, so they are few."""

    def __init__(self, config: PaceConfig, ticks: Callable[[], float] = time.monotonic) -> None:
        """Count by a monotonic clock."""
        self._config, self._ticks = config, ticks
        self._due_s: dict[str, float] = {}
        """When all that was counted would have been sent at an even pace, by name."""

    def wait_s(self, name: str, size: int) -> float | None:
        """Count a request with a body of so many bytes; return how long it must wait, None to refuse it.

        1,000 bytes per second, burst 3,000: of four bodies of 1,000 bytes at once the last waits for 1 s.
        """
        config, now_s = self._config, self._ticks()
        counted = min(size + config.request_bytes, config.burst_bytes)
        due_s = max(self._due_s.get(name, now_s), now_s) + counted / config.bytes_per_s
        wait_s = due_s - now_s - config.burst_bytes / config.bytes_per_s
        if wait_s > config.longest_s:
            return None
        self._due_s[name] = due_s
        return max(0.0, wait_s)
