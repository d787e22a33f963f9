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

An asynchronous client awaits each step of an exchange under these limits (`Meter`, beside the client of
agents). A client that blocks cannot be cancelled; `blocking.py` applies the same limits to its sockets.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf


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
