"""The parts of a node that its scheduler and middlewares share; Scrapy makes these itself, by class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from scrapy.crawler import Crawler as ScrapyCrawler

from ipmicra.edge.crawl_node.frontier import Frontier
from ipmicra.edge.crawl_node.limits import Limits

if TYPE_CHECKING:
    from ipmicra.edge.crawl_node.journal import Journal
    from ipmicra.edge.crawl_node.names import Blocks


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What belongs to a node."""

    frontier: Frontier
    limits: Limits
    blocks: Blocks
    source: str | None
    """Address to connect from."""
    journal: Journal
    commit: Callable[[], None]
    """Settles what is finished and commits frontier and files."""
    is_delivered: bool = False
    """Whether a coordinator keeps the queue: what it delivers is fetched, whatever is known of it here."""


_parts: WeakKeyDictionary[ScrapyCrawler, Parts] = WeakKeyDictionary()


def attach_parts(crawler: ScrapyCrawler, parts: Parts) -> None:
    """Attach parts to a Scrapy crawler; settings cannot hold them, because Scrapy copies settings."""
    _parts[crawler] = parts


def parts_of(crawler: ScrapyCrawler) -> Parts:
    """Return the parts of a Scrapy crawler."""
    return _parts[crawler]
