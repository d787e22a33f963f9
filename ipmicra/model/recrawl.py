"""Re-crawl schedules: how often a site is crawled, and the state of its current turn."""

from __future__ import annotations

from dataclasses import dataclass

from ipmicra.model.assignment import TaskKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Recrawl:
    """The schedule of a site, or of a piece of one; times in seconds since 1970, UTC."""

    host: str
    vantage: str = ""
    """Of its assignment; a site with several vantages is crawled once for each."""
    piece: int = 1
    """Number of the piece, from 1."""
    of: int = 1
    """Number of pieces of the site; 1 if it is not split."""
    interval_s: float | None = None
    """Seconds between submissions; None if it is crawled once."""
    first_s: float
    """When it was first submitted; all later turns are counted from this time."""
    submitted_s: float
    """When it was last submitted to its crawler."""
    started_s: float | None = None
    """When its last download began; None if unknown."""
    crawled_s: float | None = None
    """When its last download ended; None if none has ended."""
    pages: int | None = None
    """Number of pages of the last download."""
    crawls: int = 0
    """Number of finished downloads."""

    @property
    def key(self) -> TaskKey:
        """What identifies it, as its assignment."""
        return self.host, self.vantage, self.piece, self.of


@dataclass(frozen=True, slots=True, kw_only=True)
class Crawled:
    """What a crawler reports about a site or piece: that it began, or that it finished, with its pages."""

    host: str
    vantage: str = ""
    piece: int | None = None
    """From 1; None for a whole site."""
    pages: int | None = None
    """None while it is being downloaded."""
    started_s: float | None = None
    crawled_s: float | None = None
    """None while it is being downloaded."""
    interval_s: float | None = None
    """New interval between crawls; None keeps the present one."""
