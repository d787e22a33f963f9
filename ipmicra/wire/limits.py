"""How large messages may be."""

from __future__ import annotations

from dataclasses import dataclass

VERSIONS = (1,)
"""Versions of messages that are spoken here, the newest last."""
VERSION = VERSIONS[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class WireLimits:
    """Bounds that both sides keep to; a message beyond them is refused before it is understood."""

    max_request_bytes: int = 1_000_000
    """A thousand orders take about 200 kB."""
    max_orders: int = 1_000
    """Orders in one request."""
    max_line_bytes: int = 8_192
    """One line of an answer; a sample of ten round trips takes about 500 bytes."""
    max_samples: int = 10
    """Round trips of one probe: more would be a burden to the site and no gain to the minimum."""
    max_failures: int = 13
    """Round trips a probe may try in vain: two on each of two ports for TCP, HEAD and GET, and one echo."""
    max_timeout_ms: float = 10_000.0
    """Longest time for one round trip; five times the default."""
    max_wait_ms: float = 60_000.0
    """Longest time an order may wait for its turn."""
    max_detail: int = 300
    """Characters of a sample's detail."""
    max_rtt_ms: float = 60_000.0
    """No probe waits longer, so no honest round trip is."""
    max_names: int = 500
    """Names in one request."""
    max_addresses: int = 16
    """Addresses of one name: a site needs one, and more than a handful are a pool behind one door."""
    max_names_ms: float = 30_000.0
    """Longest time for all names of a request."""
    max_ttl_s: float = 604_800.0
    """No answer is kept for longer than a week (RFC 8767, 4)."""
    max_exchange_bytes: int = 8_000_000
    """What a node says or hears at once; 500 links take about 100 kB."""
    max_links: int = 2_000
    """Links in one message, or what was finished, given up or observed."""
    max_url: int = 8_192
    """Characters of a URL; servers refuse longer ones."""
    max_extra: int = 16_384
    """Characters of what a link carries beside its URL."""


LIMITS = WireLimits()
