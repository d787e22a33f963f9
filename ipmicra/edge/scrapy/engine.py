"""What a node asks of Scrapy's engine; some of it has no public name, so it is all in one place."""

from __future__ import annotations

from scrapy import Request
from scrapy.core.engine import ExecutionEngine
from scrapy.crawler import Crawler as ScrapyCrawler
from scrapy.utils.defer import deferred_from_coro


def in_progress(crawler: ScrapyCrawler) -> set[Request]:
    """Return the requests that are worked on: downloaded, or in the hands of the spider."""
    slot = getattr(crawler.engine, "_slot", None)
    return set() if slot is None else slot.inprogress


def is_idle(crawler: ScrapyCrawler) -> bool:
    """Return whether all start URLs are read, and nothing is queued or in progress."""
    engine: ExecutionEngine | None = crawler.engine
    return engine is not None and getattr(engine, "_slot", None) is not None and engine.spider_is_idle()


def look_again(crawler: ScrapyCrawler) -> None:
    """Have the engine look into its queue: what kept requests back may be over."""
    slot = getattr(crawler.engine, "_slot", None)
    if slot is not None:
        slot.nextcall.schedule()


def close_spider(crawler: ScrapyCrawler, reason: str) -> None:
    """Close the spider, if it is open."""
    engine: ExecutionEngine | None = crawler.engine
    if engine is not None and engine.spider is not None:
        deferred_from_coro(engine.close_spider_async(reason=reason))
