"""The choke point: start URLs, links and redirects all pass the scheduler on their way to the queue."""

from __future__ import annotations

from scrapy import Request, Spider
from scrapy.core.scheduler import Scheduler as ScrapyScheduler
from twisted.internet.defer import Deferred

from ipmicra.edge.scrapy.attached import node_of


class Scheduler(ScrapyScheduler):
    """Scrapy's scheduler, with a node that decides what is queued here."""

    def open(self, spider: Spider) -> Deferred[None] | None:
        """Open the queues, then let the node start with them."""
        assert self.crawler is not None  # noqa: S101 - Scrapy makes it from a crawler
        self._node = node_of(self.crawler)
        opened = super().open(spider)
        self._node.open(self)
        return opened

    def enqueue_request(self, request: Request) -> bool:
        """Let the node decide; return whether it kept the request."""
        return self._node.take(request)

    def push(self, request: Request) -> bool:
        """Queue a request as Scrapy does, unless it was seen before."""
        return super().enqueue_request(request)

    def next_request(self) -> Request | None:
        """Return the next request that may still be downloaded here."""
        while self._node.has_room():
            request = self._pop()
            if request is None or self._node.may_start(request):
                return request
        return None

    def _pop(self) -> Request | None:
        """Take the next request out of Scrapy's queue."""
        return super().next_request()


class DeliveredScheduler(Scheduler):
    """The same where the coordinator keeps the queue: what it delivered is kept in memory only.

    A queue on disk would come back after a restart beside the same links, delivered again.

    The downloader gets a request only when it can start soon. Once there it is started whatever happens, and
    by then its site may be another node's. Scrapy picks the slot with the fewest requests at the downloader,
    so while the picked one has too many, all others have enough to do.
    """

    _early: Request | None = None
    """Taken out of the queue too early: the next one."""

    def open(self, spider: Spider) -> Deferred[None] | None:
        """Open queues in memory."""
        self.dqdir = None
        return super().open(spider)

    def __len__(self) -> int:
        """Count the queued requests."""
        return super().__len__() + (self._early is not None)

    def _pop(self) -> Request | None:
        request, self._early = self._early or super()._pop(), None
        if request is not None and self._node.must_wait(request):
            request, self._early = None, request
        return request
