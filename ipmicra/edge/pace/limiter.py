"""Space probes of the same address, of the same block, and of all targets together.

Agents keep to it in what they send, and coordinators in what they order from the whole fleet.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ipmicra.model.address import Address


@dataclass(frozen=True, slots=True, kw_only=True)
class PolitenessConfig:
    """Limits that hold across all orders of an agent."""

    interval_s: float = 1.0
    """Time between two probes of one address, and of one block, in the long run."""
    burst: int = 3
    """Probes that may come at once after a pause."""
    connections: int = 3
    """Connections that count as one probe; an order for more round trips counts as several."""
    block_bits4: int = 24
    """Length of a block's prefix, IPv4: the narrowest that is routed on the Internet."""
    block_bits6: int = 48
    """Length of a block's prefix, IPv6: the usual size of one customer site (RFC 6177)."""
    per_second: float = 0.0
    """Probes per second of all targets together, in the long run; 0 for no limit."""
    burst_s: float = 2.0
    """Seconds' worth of those that may come at once after a pause."""
    prune_at: int = 200_000
    """Entries after which those that no longer matter are dropped."""


class RateLimiter:
    """Decides how long each probe has to wait (the generic cell rate algorithm)."""

    def __init__(self, config: PolitenessConfig, clock: Callable[[], float]) -> None:
        """Use a clock that never goes back."""
        self._config = config
        self._clock = clock
        self._due: dict[tuple[int, int], float] = {}
        """By block or address: when the next probe would be due if they came evenly."""
        self._all_due = 0.0
        """The same for all together."""

    def reserve(self, address: Address, patience_s: float, samples: int = 1) -> float | None:
        """Reserve a turn; return the seconds until then, or None (and no turn) if they exceed patience.

        A turn for many samples counts as several probes. It waits until that many may come at once, or as
        many as may ever come at once.
        """
        return self.reserve_at(self._clock(), address, patience_s, samples)

    def reserve_at(self, now: float, address: Address, patience_s: float, samples: int = 1) -> float | None:
        """Reserve a turn as `reserve` would at another time."""
        probes = max(1.0, samples / self._config.connections)
        one, block = self._keys(address)
        due_one, due_block = self._due.get(one, now), self._due.get(block, now)
        room_s = (self._config.burst - min(probes, self._config.burst)) * self._config.interval_s
        wait_s = max(0.0, max(due_one, due_block) - room_s - now, self._wait_for_all(now))
        if wait_s > patience_s:
            return None
        if self._config.per_second:
            self._all_due = max(self._all_due, now + wait_s) + probes / self._config.per_second
        self._due[one] = max(due_one, now + wait_s) + probes * self._config.interval_s
        self._due[block] = max(due_block, now + wait_s) + probes * self._config.interval_s
        if len(self._due) > self._config.prune_at:
            self._due = {key: due for key, due in self._due.items() if due > now}
        return wait_s

    def _wait_for_all(self, now: float) -> float:
        """Return how long the limit on all targets together holds a probe back."""
        return self._all_due - self._config.burst_s - now if self._config.per_second else 0.0

    def _keys(self, address: Address) -> tuple[tuple[int, int], tuple[int, int]]:
        number, bits = int(address), address.max_prefixlen
        block = self._config.block_bits4 if address.version == 4 else self._config.block_bits6  # noqa: PLR2004
        return (bits, number), (bits - block, number >> (bits - block))
