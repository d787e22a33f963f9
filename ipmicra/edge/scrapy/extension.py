"""Keeps a node's time: ticks, the end of the crawl, what is saved when it closes."""

from __future__ import annotations

from typing import Self

from scrapy import signals
from scrapy.crawler import Crawler as ScrapyCrawler
from scrapy.exceptions import DontCloseSpider
from scrapy.utils.asyncio import create_looping_call

from ipmicra.edge.log import EventLog
from ipmicra.edge.scrapy.attached import node_of
from ipmicra.edge.scrapy.engine import close_spider
from ipmicra.edge.scrapy.ports import Node
from ipmicra.errors import IpmicraError

TICK_S = 0.1
"""How often the outbox and the answers of the coordinator are looked at."""
events = EventLog("scrapy")


class NodeExtension:
    """Ticks while the spider is open, and keeps it open while anything may still arrive."""

    def __init__(self, crawler: ScrapyCrawler, node: Node) -> None:
        """Keep the time of a node."""
        self._crawler, self._node = crawler, node
        self._loop = create_looping_call(self._tick)

    @classmethod
    def from_crawler(cls, crawler: ScrapyCrawler) -> Self:
        """Keep the time of a Scrapy crawler's node."""
        extension = cls(crawler, node_of(crawler))
        crawler.signals.connect(extension.opened, signals.spider_opened)
        crawler.signals.connect(extension.idle, signals.spider_idle)
        crawler.signals.connect(extension.closed, signals.spider_closed)
        return extension

    def _tick(self) -> None:
        """Let the node do what is due; one that cannot, because its disk is full, must not look alive."""
        try:
            self._node.tick()
        except IpmicraError as error:
            events.warning("node_failed", "{reason}", reason=str(error))
            self._loop.stop()
            close_spider(self._crawler, "ipmicra: failed")

    def opened(self) -> None:
        """Start to tick."""
        self._loop.start(TICK_S, now=True)

    def idle(self) -> None:
        """Keep the spider open while anything may still arrive."""
        if self._node.is_waiting():
            raise DontCloseSpider

    def closed(self) -> None:
        """Save what is not handed over yet."""
        if self._loop.running:
            self._loop.stop()
        self._node.close()
