"""How often a site is crawled, and how far the present turn is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Recrawl:
    """The schedule of a site, or of a piece of one; times in seconds since 1970, UTC."""

    host: str
    piece: int = 1
    """From 1."""
    of: int = 1
    """Pieces of the site; 1 for a whole one."""
    interval_s: float | None = None
    """Seconds from one submission to the next; None if it is crawled once."""
    first_s: float
    """When it was first submitted; all later turns are counted from here."""
    submitted_s: float
    """When it was last given to its crawler."""
    started_s: float | None = None
    """When its last download began; None if nobody said."""
    crawled_s: float | None = None
    """When its last download ended; None if none has."""
    pages: int | None = None
    """Pages of the last download."""
    crawls: int = 0
    """Downloads that ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crawled:
    """What a crawler says of a site or piece: that it began, or that it is done, with so many pages."""

    host: str
    piece: int | None = None
    """From 1; None for a whole site."""
    pages: int | None = None
    """None while it is being downloaded."""
    started_s: float | None = None
    crawled_s: float | None = None
    """None while it is being downloaded."""
    interval_s: float | None = None
    """How often it shall be crawled from now on; None leaves that as it is."""
