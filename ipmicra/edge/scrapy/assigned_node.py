"""A node that knows its sites from a file: foreign links are dropped, or crawled when own ones run out."""

from __future__ import annotations

import time
from pathlib import Path

from scrapy import Request
from scrapy.crawler import Crawler as ScrapyCrawler

from ipmicra.assign.balance.pieces import COMMON_PATHS, directory_of, path_of
from ipmicra.edge.log import EventLog
from ipmicra.edge.scrapy.engine import key_for, spider_of
from ipmicra.edge.scrapy.ports import OwnerSource, Queue
from ipmicra.edge.scrapy.requests import SLOT, headers_of, host_of, link_of, request_of
from ipmicra.errors import InputError
from ipmicra.model.link import Share
from ipmicra.partition.exchange.exchange import Crawl, ExchangeConfig, Found, Idle, Mode, UrlExchange

CROSSED = "ipmicra_crossed"
"""Marks a request for a foreign site that is crawled here because own links have run out."""
events = EventLog("scrapy")


class AssignedNode:
    """Fetches what a file assigns to its crawler."""

    def __init__(
        self,
        crawler: ScrapyCrawler,
        name: str,
        owners: OwnerSource,
        mode: Mode,
        unknown_hosts: Path | None = None,
    ) -> None:
        """Crawl for a crawler; hosts that the file does not name go to `unknown_hosts` at the end."""
        self._crawler = crawler
        self._name = name
        self._owners = owners
        self._exchange = UrlExchange(name, lambda _host: "", ExchangeConfig(mode=mode))
        self._is_crossing = False
        self._unknown: set[str] = set()
        self._unknown_hosts = unknown_hosts

    def open(self, queue: Queue) -> None:
        """Start with a queue."""
        self._queue = queue
        self._added = headers_of(self._crawler.settings)

    def take(self, request: Request) -> bool:
        """Queue a request for an own site; put the others where the mode says."""
        host = host_of(request)
        if host is None or self._is_crossing:
            return self._queue.push(request)
        request.meta.pop(CROSSED, None)
        share, owner = self._share_of(host, request)
        if share is not None and owner is None:
            request.meta[SLOT] = share.slot
            self._count("own")
            return self._queue.push(request)
        if share is None:
            self._unknown.add(host)
            self._count("unknown")
            return False
        return self._put_aside(request)

    def must_wait(self, request: Request) -> bool:
        """Return False: sites do not move."""
        del request
        return False

    def may_start(self, request: Request) -> bool:
        """Return True: a file does not change while it is used."""
        del request
        return True

    def has_room(self) -> bool:
        """Return True: nothing waits to be sent."""
        return True

    def admits(self, request: Request) -> bool:
        """Return whether a request goes to an own site, or crosses over; set its slot."""
        host = host_of(request)
        if host is None or request.meta.get(CROSSED):
            return True
        share, owner = self._share_of(host, request)
        if share is None or owner is not None:
            self._count("refused")
            return False
        request.meta[SLOT] = share.slot
        return True

    def failed(self, request: Request) -> None:
        """Do nothing: there is nobody to tell."""

    def tick(self) -> None:
        """Do nothing: there is nobody to exchange with."""

    def is_waiting(self) -> bool:
        """Cross over to foreign links, if the mode allows it; return whether there were any."""
        crossed = [
            link
            for action in self._exchange.handle(Idle(), time.monotonic())
            if isinstance(action, Crawl)
            for link in action.links
        ]
        self._is_crossing = True
        try:
            for link in crossed:
                self._cross(request_of(link, spider_of(self._crawler)))
        finally:
            self._is_crossing = False
        return bool(crossed)

    def close(self) -> None:
        """Write the hosts that nobody is known to own, and say what became of foreign links."""
        if self._unknown_hosts is not None and self._unknown:
            self._unknown_hosts.write_text("".join(f"{host}\n" for host in sorted(self._unknown)))
        tally = self._exchange.tally
        if tally.dropped:
            events.warning(
                "foreign_links_dropped",
                "{links} links belong to other crawlers and were dropped: "
                "set IPMICRA_COORDINATOR to hand them over",
                links=tally.dropped,
            )

    def _share_of(self, host: str, request: Request) -> tuple[Share | None, str | None]:
        """Return an own share and None, or a share of another crawler and its name, or twice None."""
        shares = self._owners.shares_of(host) or ()
        directory = directory_of(request.url) if any(share.filters for share in shares) else "/"
        is_common = len(shares) > 1 and path_of(request.url) in COMMON_PATHS
        admitting = [share for share in shares if is_common or share.admits(directory)]
        for share in admitting:
            if share.crawler == self._name:
                return share, None
        return (admitting[0], admitting[0].crawler) if admitting else (None, None)

    def _put_aside(self, request: Request) -> bool:
        key = key_for(request, self._crawler)
        try:
            link = link_of(request, key, spider_of(self._crawler), self._added)
        except InputError as error:
            self._count("unsendable")
            events.warning("link_unsendable", "{problem}", problem=str(error))
            return False
        before = self._exchange.tally.foreign
        self._exchange.handle(Found(links=[link]), time.monotonic())
        if self._exchange.tally.foreign > before:
            self._count("foreign")
        return False

    def _cross(self, request: Request) -> None:
        host = host_of(request) or ""
        share, _ = self._share_of(host, request)
        if share is not None:
            request.meta[SLOT] = share.slot
        request.meta[CROSSED] = True
        assert self._crawler.engine is not None  # noqa: S101 - the spider is open
        self._crawler.engine.crawl(request)
        self._count("crossed")

    def _count(self, what: str) -> None:
        if self._crawler.stats is not None:
            self._crawler.stats.inc_value(f"ipmicra/{what}")
