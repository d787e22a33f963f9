"""Limits on everything that comes from outside."""

from __future__ import annotations

from dataclasses import dataclass

from ipmicra.edge.web.request_pace import PaceConfig

_AGENT_PACE = PaceConfig(bytes_per_s=1e6, burst_bytes=2e6, request_bytes=3_000)
_UNAUTHENTICATED_PACE = PaceConfig(bytes_per_s=1e6, burst_bytes=2e6, request_bytes=10_000)
_CRAWLER_PACE = PaceConfig(bytes_per_s=4e6, burst_bytes=32e6)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiLimits:
    """The most that a request may ask for."""

    body_bytes: int = 16 << 20
    """Of a list of hosts: 200,000 names of 80 characters."""
    json_bytes: int = 64 << 10
    """Of any other body."""
    body_s: float = 30.0
    """Seconds within which a body must arrive."""
    line: int = 4_096
    """Characters of a host, URL or target in a list."""
    parameter: int = 2_048
    """Characters of a parameter."""
    hosts: int = 200_000
    """In one list of hosts."""
    targets: int = 10_000
    """Looked up or located in one request."""
    page: int = 1_000
    """Rows of a page, if the request does not say."""
    longest_page: int = 10_000
    streams: int = 8
    """Lists and exports of one token at a time."""
    connections: int = 1_000
    """Open connections of one token; nodes of a crawler may share one. The oldest makes room."""
    agent_connections: int = 16
    """The same of an agent, which needs two."""
    agent_pace: PaceConfig = _AGENT_PACE
    """Of polls and results of one agent: 330 requests per second, or 3,000 answers."""
    crawler_pace: PaceConfig = _CRAWLER_PACE
    """Of bodies of one crawler's token: 25,000 links per second, about what mailboxes can take."""
    unauthenticated_pace: PaceConfig = _UNAUTHENTICATED_PACE
    """Of bodies of all clients without a valid token: 100 requests per second, which are refused anyway."""
    refusal_s: float = 1.0
    """How long the refusal of what is too much is held, so that asking again at once gains nothing."""
    head_bytes: int = 16_384
    """Of a request's first line and headers."""
