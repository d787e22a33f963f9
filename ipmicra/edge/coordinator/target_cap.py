"""Cap the probes of one target block over the whole fleet: many agents must not become one scanner.

Each agent spaces what it sends to an address and its block; a fleet of fifty agents may still send fifty
times as much. So the coordinator counts orders per block (/24 of IPv4, /48 of IPv6), whoever carries them
out, by the same rule as agents (`edge.pace.limiter`): `per_hour` in the long run, and as many at once after a
pause.

What was ordered before a restart is in the store, since every order is written before it is sent: the count
is made again from there. An order whose time lies ahead, because the clock was set back, counts as ordered
now. So a restart or a clock that jumps back cannot be used to order more; one that jumps ahead while the
coordinator is down forgets what was ordered before.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from ipmicra.edge.pace.limiter import PolitenessConfig, RateLimiter
from ipmicra.edge.store.ports import StorePort
from ipmicra.model.address import Address

HOUR_S = 3_600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetCapConfig:
    """How much a block may be probed."""

    per_hour: int = 3_600
    """Orders per block and hour, by the whole fleet; 0 for no cap. Ten crawlers that all probe every address
    of a /24 need 2,560."""


class TargetCap:
    """Counts orders per block."""

    def __init__(
        self,
        store: StorePort,
        config: TargetCapConfig,
        *,
        clock: Callable[[], float] = time.time,
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        """Count what the store knows of the last hour; `clock` is the time of day, `ticks` never jumps."""
        self._limiter: RateLimiter | None = None
        if not config.per_hour:
            return
        spacing = PolitenessConfig(interval_s=HOUR_S / config.per_hour, burst=config.per_hour)
        self._limiter = RateLimiter(spacing, ticks)
        now_s, now_tick = clock(), ticks()
        for order in store.budget.recent(now_s - HOUR_S):
            if order.address is not None:
                age_s = max(0.0, now_s - order.reserved_s)
                self._limiter.reserve_at(now_tick - age_s, order.address, HOUR_S)

    def admits(self, address: Address | None) -> bool:
        """Count an order; return whether its block may be probed once more."""
        if self._limiter is None or address is None:
            return True
        return self._limiter.reserve(address, 0.0) is not None
