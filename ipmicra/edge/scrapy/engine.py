"""What a node asks of Scrapy's engine; some of it has no public name, so it is all in one place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from scrapy import Request, Spider
from scrapy.core.engine import ExecutionEngine
from scrapy.crawler import Crawler as ScrapyCrawler
from scrapy.utils.defer import deferred_from_coro

from ipmicra.edge.scrapy.requests import key_of


def spider_of(crawler: ScrapyCrawler) -> Spider:
    """Return the spider, which is open."""
    assert crawler.spider is not None  # noqa: S101 - its parts work while it is open
    return crawler.spider


def key_for(request: Request, crawler: ScrapyCrawler) -> int:
    """Return the key of a request, by the fingerprints that the crawler has chosen."""
    assert crawler.request_fingerprinter is not None  # noqa: S101 - made before the spider opens
    return key_of(request, crawler.request_fingerprinter)


def in_progress(crawler: ScrapyCrawler) -> set[Request]:
    """Return the requests that are worked on: downloaded, or in the hands of the spider."""
    slot = getattr(crawler.engine, "_slot", None)
    return set() if slot is None else slot.inprogress


def waits_at_downloader(crawler: ScrapyCrawler, request: Request, taken: int) -> float:
    """Return how long a request would wait for its turn, behind what was taken of its slot; in seconds."""
    assert crawler.engine is not None  # noqa: S101 - it asks for requests
    downloader = crawler.engine.downloader
    slot = downloader.slots.get(downloader.get_slot_key(request))
    if slot is None or not slot.delay:
        return 0.0
    return (taken - len(slot.transferring)) * slot.delay * (1 + slot.jitter)


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


def tell_counts(crawler: ScrapyCrawler, counts: Counter[str], values: Mapping[str, float]) -> None:
    """Move counts to Scrapy's statistics: now and then, for doing so at every link costs pages per second."""
    if crawler.stats is not None:
        for what, count in counts.items():
            crawler.stats.inc_value(f"ipmicra/{what}", count)
        for what, value in values.items():
            crawler.stats.set_value(f"ipmicra/{what}", value)
    counts.clear()
