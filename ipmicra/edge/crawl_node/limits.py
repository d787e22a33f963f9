"""How much a node fetches, and how quickly."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much is fetched, and how quickly."""

    connections: int = 16
    per_slot: int = 1
    """Downloads at a time from one address block."""
    delay_s: float = 1.0
    """Between two downloads from one address block."""
    pages: int | None = None
    """Requests in all; robots.txt is not counted."""
    site_pages: int | None = None
    """URLs of one host."""
    bytes: int | None = None
    """Bytes received in all, after which nothing new begins."""
