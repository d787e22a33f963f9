"""Numbers of a node that exchanges links."""

from __future__ import annotations

from dataclasses import dataclass, field

from ipmicra.partition.exchange.exchange import ExchangeConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeConfig:
    """Numbers of a node."""

    window: int = 1_000
    """Links that it holds at most; more are delivered as these are finished."""
    few: int = 32
    """Links held below which a batch is sent before it is full or old: two for each of Scrapy's downloads."""
    poll_s: float = 0.2
    """Pause between two messages while there is work and nothing to say."""
    wait_s: float = 2.0
    """How long the coordinator may wait with its answer when there is no work."""
    leave_s: float = 5.0
    """How long to try to say goodbye."""
    exchange: ExchangeConfig = field(
        default_factory=lambda: ExchangeConfig(is_durable=True, retry_after_s=1.0)
    )
