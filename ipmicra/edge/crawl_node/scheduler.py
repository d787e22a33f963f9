"""Scrapy's scheduler on the frontier.

How it works
------------
`enqueue_request` is where start URLs, links, retries and redirects arrive; each becomes a row of the frontier
unless its fingerprint is known. `next_request` hands out requests slot by slot in turn, as many at a time as
the crawler has connections and a slot allows, and no sooner than its polite delay: Scrapy itself would take
requests whose slot is not ready, and they would count as downloads while they only wait.

Scrapy gives no signal when everything that came of a request has been processed. It removes the request
from the set of those in progress, after the last link and item; `settle` compares that set with our own.
A retry comes back as a request with the same row, so the row waits again instead of being done.

A node of a distributed crawl (`edge.scrapy`) decides before the frontier does: `take` hands over what belongs
to others and calls `push` for the rest.
"""

from __future__ import annotations

import pickle
import time
from collections import Counter, deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Self

from scrapy import Request, Spider
from scrapy.crawler import Crawler as ScrapyCrawler
from scrapy.utils.asyncio import call_later
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.request import request_from_dict

from ipmicra.edge.crawl_node.frontier import Waiting
from ipmicra.edge.crawl_node.parts import parts_of
from ipmicra.edge.scrapy.attached import node_of
from ipmicra.edge.scrapy.ports import Node
from ipmicra.errors import InputError, StoreError

ROW, SLOT = "ipmicra_row", "download_slot"
COMMIT_S = 0.2
"""How often the frontier is committed; a kill repeats what was fetched since."""


@dataclass(slots=True)
class Load:
    """What the scheduler counts."""

    given: int = 0
    """Requests handed out in this turn, earlier runs included."""
    received: int = 0
    """Bytes."""
    duplicates: int = 0
    """Links that were known already."""
    over: int = 0
    """Links that the limit of their site left out."""
    ready_s: dict[str, float] = field(default_factory=dict)
    """When the polite delay of a slot ends."""
    active: Counter[str] = field(default_factory=Counter)
    """Requests in flight, by slot."""


class DurableScheduler:
    """Hands out requests from a frontier that survives `kill -9`."""

    def __init__(self, crawler: ScrapyCrawler) -> None:
        """Serve a Scrapy crawler, with the frontier and the limits of its parts."""
        self.crawler = crawler
        parts = parts_of(crawler)
        self._frontier, self._limits, self._journal = parts.frontier, parts.limits, parts.journal
        self._is_delivered = parts.is_delivered
        self._pushed = 0
        self.load = Load(given=self._frontier.fetched())
        self._waiting: Counter[str] = Counter(self._frontier.waiting())
        self._order = deque(sorted(self._waiting))
        self._hosts: Counter[str] = Counter(self._frontier.hosts())
        self._flying: dict[Request, tuple[int, str]] = {}
        """Requests in flight: row and slot."""
        self._rows: dict[int, bytes] = {}
        """Fingerprints of rows in flight."""
        self._again: dict[int, bytes] = {}
        """Rows that wait again when their request is settled."""
        self._is_woken = False
        self.blocks: dict[str, str] = {}
        """Address blocks of hosts, where they are known."""

    @classmethod
    def from_crawler(cls, crawler: ScrapyCrawler) -> Self:
        """Make the scheduler of a Scrapy crawler."""
        return cls(crawler)

    def open(self, spider: Spider) -> None:
        """Start for a spider."""
        self._spider = spider
        self._node = _node_of(self.crawler)
        if self._node is not None:
            self._node.open(self)

    def close(self, reason: str) -> None:
        """Settle what is finished."""
        del reason
        with suppress(StoreError):  # the last commit meets it, too, and says so
            self.settle()

    def __len__(self) -> int:
        """Count the requests that wait."""
        return self._waiting.total()

    @property
    def in_flight(self) -> int:
        """Number of requests that were handed out and are not finished."""
        return len(self._flying)

    def has_pending_requests(self) -> bool:
        """Return whether anything waits that the limits allow."""
        self.settle()
        return bool(self._waiting) and not self._is_exhausted()

    def enqueue_request(self, request: Request) -> bool:
        """Queue a request unless it was seen before, or is none of ours; return whether it was queued."""
        row = request.meta.pop(ROW, None)
        is_retry = row is not None and self._rows.get(row) == self._key(request)
        if is_retry and not self._is_delivered:
            self._again[row] = self._content(request)
            return True
        if row is not None and not is_retry:  # a redirect: the slot was that of the first host
            request.meta.pop(SLOT, None)
        if self._node is not None:
            return self._node.take(request)
        admits = getattr(self._spider, "admits", None)
        if admits is not None and not admits(request):
            return False
        return self.push(request)

    def push(self, request: Request) -> bool:
        """Queue a request in the frontier."""
        self._pushed += 1
        key = self._key(request) + (self._pushed.to_bytes(8) if self._is_delivered else b"")
        host = urlparse_cached(request).hostname or ""
        if self._limits.site_pages is not None and self._hosts[host] >= self._limits.site_pages:
            self.load.over += 1
            return False
        if self._frontier.knows(key):
            self.load.duplicates += 1
            return False
        if request.errback is None:  # another node may have left it out, and a failure must not go unrecorded
            request = request.replace(errback=getattr(self._spider, "failed", None))
        slot = str(request.meta.get(SLOT) or self.blocks.get(host) or host)
        waiting = Waiting(
            key=key, host=host, slot=slot, rank=-request.priority, content=self._content(request)
        )
        self._frontier.add(waiting)
        self._hosts[host] += 1
        self._wait(slot)
        return True

    def next_request(self) -> Request | None:
        """Return the next request that may be downloaded now; None if none is ready."""
        node = self._node
        while node is None or node.has_room():
            request = self._next()
            if request is None or node is None or node.may_start(request):
                return request
            self.settle()  # its node has taken care of it
        return None

    def _next(self) -> Request | None:
        """Return the next request of the slot whose turn it is."""
        self.settle()
        if not self._waiting or self._is_exhausted() or len(self._flying) >= self._limits.connections:
            return None
        now_s, soonest_s = time.monotonic(), float("inf")
        for _ in range(len(self._order)):
            slot = self._order[0]
            self._order.rotate(-1)
            if self.load.active[slot] >= self._limits.per_slot:
                continue
            ready_s = self.load.ready_s.get(slot, 0.0)
            if ready_s <= now_s:
                return self._take(slot, now_s)
            soonest_s = min(soonest_s, ready_s)
        if soonest_s < float("inf"):
            self._wake_after(soonest_s - now_s)
        return None

    def _take(self, slot: str, now_s: float) -> Request:
        found = self._frontier.take(slot)
        assert found is not None  # noqa: S101 - the counts follow the frontier
        row, content = found
        self._waiting[slot] -= 1
        if not self._waiting[slot]:
            del self._waiting[slot]
            self._order.remove(slot)
        # Written by this class into a folder of the user's own, as Scrapy's queues are.
        request = request_from_dict(pickle.loads(content), spider=self._spider)  # noqa: S301
        request.meta[ROW] = row
        request.meta[SLOT] = slot
        self.load.ready_s[slot] = now_s + self._limits.delay_s
        self.load.active[slot] += 1
        self.load.given += 1
        self._flying[request] = row, slot
        self._rows[row] = self._key(request)
        return request

    def _key(self, request: Request) -> bytes:
        assert self.crawler.request_fingerprinter is not None  # noqa: S101 - made before the spider opens
        return self.crawler.request_fingerprinter.fingerprint(request)

    def _content(self, request: Request) -> bytes:
        """Return a request as bytes, as `Request.to_dict` does.

        That one searches all members of the spider for each method, which takes longer than the rest.
        """
        content = {name: getattr(request, name) for name in request.attributes}
        content["headers"] = dict(request.headers)
        content["meta"] = {name: value for name, value in request.meta.items() if name != SLOT}
        for name in ("callback", "errback"):
            content[name] = getattr(content[name], "__name__", None)
        return pickle.dumps(content, protocol=4)

    def _wait(self, slot: str) -> None:
        if slot not in self._waiting:
            self._order.append(slot)
        self._waiting[slot] += 1

    def _is_exhausted(self) -> bool:
        limits, load = self._limits, self.load
        return (limits.pages is not None and load.given >= limits.pages) or (
            limits.bytes is not None and load.received >= limits.bytes
        )

    def settle(self) -> None:
        """Mark what Scrapy has finished as done, or let it wait again if it is retried."""
        slot = self._engine_slot()
        if slot is None or not self._flying:
            return
        finished = [request for request in self._flying if request not in slot.inprogress]
        done = []
        for request in finished:
            row, name = self._flying.pop(request)
            del self._rows[row]
            self._journal.settle(row)
            self.load.active[name] -= 1
            if row in self._again:
                self._frontier.put_back(row, self._again.pop(row))
                self.load.given -= 1
                self._wait(name)
            else:
                done.append(row)
        self._frontier.finish(done)

    def spare(self, request: Request) -> None:
        """Forget the polite delay after a request for which nothing was sent."""
        _, slot = self._flying.get(request, (0, ""))
        if self.load.ready_s.pop(slot, None) is not None:
            self._wake()

    def _wake_after(self, seconds: float) -> None:
        """Let Scrapy ask again when a polite delay has passed; it would do so only every few seconds."""
        if not self._is_woken:
            self._is_woken = True
            call_later(max(0.001, seconds), self._wake)

    def _wake(self) -> None:
        self._is_woken = False
        slot = self._engine_slot()
        if slot is not None:
            slot.nextcall.schedule()

    def _engine_slot(self) -> Any:  # noqa: ANN401 - Scrapy keeps it private
        """Return what Scrapy knows of requests in progress; None before it starts and after it ends."""
        return getattr(getattr(self.crawler, "engine", None), "_slot", None)


def scheduler_of(crawler: ScrapyCrawler) -> DurableScheduler | None:
    """Return the scheduler of a Scrapy crawler while it runs."""
    found = getattr(getattr(crawler, "engine", None), "scheduler", None)
    return found if isinstance(found, DurableScheduler) else None


def _node_of(crawler: ScrapyCrawler) -> Node | None:
    """Return the node of a distributed crawl; None if this one works alone."""
    try:
        return node_of(crawler)
    except InputError:
        return None
