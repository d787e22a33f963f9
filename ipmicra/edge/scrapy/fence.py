"""The second fence: checks what bypasses the scheduler (robots.txt, media pipelines) before it is sent."""

from __future__ import annotations

from typing import Self

from scrapy import Request, Spider
from scrapy.crawler import Crawler as ScrapyCrawler
from scrapy.exceptions import IgnoreRequest

from ipmicra.edge.scrapy.attached import node_of
from ipmicra.edge.scrapy.ports import Node

FENCE_ORDER = 50
"""Before Scrapy's own middlewares: a refused request must not cause one for its robots.txt (100)."""


class OwnSitesFence:
    """Downloader middleware that refuses requests to sites of other crawlers."""

    def __init__(self, node: Node) -> None:
        """Ask a node."""
        self._node = node

    @classmethod
    def from_crawler(cls, crawler: ScrapyCrawler) -> Self:
        """Ask the node of a Scrapy crawler."""
        return cls(node_of(crawler))

    def process_request(self, request: Request, spider: Spider | None = None) -> None:  # noqa: ARG002
        """Let a request pass, or raise `IgnoreRequest`."""
        if not self._node.admits(request):
            raise IgnoreRequest(f"{request.url} belongs to another crawler")

    def process_exception(self, request: Request, exception: Exception, spider: Spider | None = None) -> None:  # noqa: ARG002
        """Note a request that got no answer, however often it was tried."""
        if not isinstance(exception, IgnoreRequest):
            self._node.failed(request)
