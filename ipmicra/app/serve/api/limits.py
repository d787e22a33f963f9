"""Limits on everything that comes from outside."""

from __future__ import annotations

from dataclasses import dataclass


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
    head_bytes: int = 16_384
    """Of a request's first line and headers."""
