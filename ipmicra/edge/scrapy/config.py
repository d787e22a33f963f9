"""Numbers of a node that exchanges links."""

from __future__ import annotations

from dataclasses import dataclass, field

from ipmicra.partition.exchange.exchange import ExchangeConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeConfig:
    """Numbers of a node."""

    window: int = 1_000
    """Links that were delivered and that it holds at most; more come as these are finished."""
    most_claimed: int = 10_000
    """Links that it claims at most; what it finds beyond that waits at the coordinator."""
    few: int = 32
    """Links held below which a node has little work: two for each of Scrapy's downloads."""
    poll_s: float = 0.2
    """Pause between two messages while there is little work and nothing to say."""
    busy_poll_s: float = 1.0
    """The same while there is work for longer than that."""
    urgent_s: float = 0.1
    """A link that another node may wait for is sent after this, with what else waits."""
    least_work_s: float = 0.2
    """Processor time between two messages of a node that has work and company on its machine: a message takes
    a millisecond or two, on either side."""
    wait_s: float = 2.0
    """How long the coordinator may wait with its answer when there is no work."""
    leave_s: float = 5.0
    """How long to try to say goodbye."""
    exchange: ExchangeConfig = field(
        default_factory=lambda: ExchangeConfig(is_durable=True, retry_after_s=1.0, flush_after_s=0.5)
    )
