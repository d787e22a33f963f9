"""A link between pages as it travels between crawlers, and who may follow it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Link(NamedTuple):
    """A URL with its host and its distance from the seeds.

    A tuple and not a frozen dataclass: links come by the ten thousand per second, and a tuple is made in a
    quarter of the time.
    """

    url: str
    host: str
    depth: int = 0
    priority: int = 0
    """Larger ones first, as in Scrapy."""
    key: int = 0
    """64 bits by which two links are the same; 0 for those of the URL."""
    extra: str = ""
    """What else its node needs to follow it, as JSON; nobody else reads it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What one crawler downloads of a site: all of it, or a piece, from one vantage."""

    crawler: str
    slot: str
    """The address block whose sites share polite delays; the host where no block is known."""
    vantage: str = ""
    filters: tuple[str, ...] = ()
    """First-level directories of the piece, as `/news/`; `-/news/` is not part of the rest."""

    def admits(self, directory: str) -> bool:
        """Return whether pages of a first-level directory belong to it."""
        if not self.filters:
            return True
        without = [name for name in self.filters if name.startswith("-")]
        return directory in self.filters or (bool(without) and f"-{directory}" not in without)
