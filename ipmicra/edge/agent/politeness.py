"""Politeness: how often an address, and a block of addresses, is probed at most."""

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
    block_bits4: int = 24
    """Length of a block's prefix, IPv4: the narrowest that is routed on the Internet."""
    block_bits6: int = 48
    """Length of a block's prefix, IPv6: what one place is usually given (RFC 6177)."""
    prune_at: int = 200_000
    """Entries after which those that no longer matter are dropped."""


class RateLimiter:
    """Gives each probe the time at which it may start (the generic cell rate algorithm)."""

    def __init__(self, config: PolitenessConfig, clock: Callable[[], float]) -> None:
        """Count by a clock that never goes back."""
        self._config = config
        self._clock = clock
        self._due: dict[tuple[int, int], float] = {}
        """By block or address: when the next probe would be due if they came evenly."""

    def reserve(self, address: Address, patience_s: float) -> float | None:
        """Take a turn; give the seconds to wait for it, None (and no turn) if that is over the patience."""
        now = self._clock()
        interval_s = self._config.interval_s
        one, block = self._keys(address)
        due_one, due_block = self._due.get(one, 0.0), self._due.get(block, 0.0)
        wait_s = max(0.0, max(due_one, due_block) - (self._config.burst - 1) * interval_s - now)
        if wait_s > patience_s:
            return None
        self._due[one] = max(due_one, now + wait_s) + interval_s
        self._due[block] = max(due_block, now + wait_s) + interval_s
        if len(self._due) > self._config.prune_at:
            self._due = {key: due for key, due in self._due.items() if due > now}
        return wait_s

    def _keys(self, address: Address) -> tuple[tuple[int, int], tuple[int, int]]:
        number, bits = int(address), address.max_prefixlen
        block = self._config.block_bits4 if address.version == 4 else self._config.block_bits6  # noqa: PLR2004
        return (bits, number), (bits - block, number >> (bits - block))
