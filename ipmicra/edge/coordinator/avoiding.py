"""Avoid agents that failed: each failure costs a deadline, and orders that queue behind it would cost more.

An agent whose health is good may still fail at every order, on purpose or by a fault. After a failure it is
avoided: orders are refused immediately for a time that doubles with each further failure. The cost grows with
the logarithm of the time that a batch takes, not with the number of its orders.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class AvoidingConfig:
    """How long an agent is avoided."""

    first_s: float = 1.0
    """After the first failure; a single broken connection should cost little."""
    longest_s: float = 300.0
    """After many: an agent that was repaired is asked again within five minutes."""


@dataclass(slots=True)
class Avoided:
    """Remembers failures of agents in a row, and until when each is avoided."""

    config: AvoidingConfig = field(default_factory=AvoidingConfig)
    _failures: dict[str, int] = field(default_factory=dict)
    _until_s: dict[str, float] = field(default_factory=dict)

    def note_failure(self, name: str) -> None:
        """Avoid an agent for a while; failures of requests that were under way together count once."""
        if self.left_s(name) > 0.0:
            return
        failures = self._failures.get(name, 0)
        self._failures[name] = failures + 1
        pause_s = min(self.config.first_s * 2.0 ** min(failures, 30), self.config.longest_s)
        self._until_s[name] = time.monotonic() + pause_s

    def note_success(self, name: str) -> None:
        """Forget the failures of an agent that answered all orders of a request."""
        self._failures.pop(name, None)
        self._until_s.pop(name, None)

    def forgive(self, name: str) -> None:
        """Allow an agent to be asked immediately; its next failure still counts as a further one."""
        self._until_s.pop(name, None)

    def left_s(self, name: str) -> float:
        """Return how much longer an agent is avoided; 0 if it may be asked."""
        return max(0.0, self._until_s.get(name, 0.0) - time.monotonic())
