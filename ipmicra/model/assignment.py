"""The answer for one site: who crawls it, and why."""

from __future__ import annotations

from dataclasses import dataclass

from ipmicra.model.address import Address


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """A site, or a piece of one, with its crawler."""

    host: str
    piece: int = 1
    """From 1."""
    of: int = 1
    """Pieces of the site; 1 for a whole one."""
    address: Address
    crawler: str | None
    """None if nobody can take it; the reason says why."""
    reason: str
    """`nearest`, `forwarded from X: load`, `kept: X is nearer`; of a piece `piece 2/3, nearest`."""
    backend: str
    expected_ms: float | None = None
    """Round trip that is expected; None if nothing is known."""
    pages: int | None = None
    """As counted by the last crawl; None if unknown."""
    filters: tuple[str, ...] = ()
    """First-level directories of the piece, as `/news/`; `-/news/` is not part of the rest."""
    assigned_s: float = 0.0
    """Seconds since 1970, UTC."""
