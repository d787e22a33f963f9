"""The spider of `ipmicra crawl`: follows links and sitemaps, and keeps pages, links and changes.

Theory of operation
-------------------
Scrapy calls `parse` with each answer. There are three kinds of them:

    200                 a page: its links are found and it is compared with the last time
    304                 the page is as it was: the links of the last time are followed again
    anything else       a row in the table of pages, without links

What was found goes to the `Journal`, in one transaction with the row of the frontier that it answers: a page
counts as fetched only with its links. So nothing here is written twice or lost when the node is killed.

Links are not filtered here. Each becomes a request, and the scheduler decides what becomes of it: known ones
are dropped there, those of others are handed over. Two caches only save work: `_followed` keeps a link of
every page, such as a menu, from being looked up again and again, and `_canonical` remembers how URLs are
written. Neither decides anything.

Whatever a site says is bounded: links of a page, URLs of a sitemap, length of a URL, and a sitemap may only
name pages of its own host.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fnmatch import fnmatch
from functools import lru_cache
from typing import Any
from urllib.parse import urljoin, urlsplit

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler as ScrapyCrawler
from scrapy.exceptions import IgnoreRequest, StopDownload
from scrapy.http import HtmlResponse, Response, XmlResponse
from scrapy.utils.response import get_base_url
from scrapy.utils.sitemap import Sitemap
from twisted.python.failure import Failure
from w3lib.url import canonicalize_url, safe_url_string

from ipmicra.app.crawl.request import CrawlRequest
from ipmicra.edge.crawl_node.frontier import Frontier, KnownPage
from ipmicra.edge.crawl_node.journal import Journal
from ipmicra.edge.crawl_node.middlewares import FIRST_BYTE
from ipmicra.edge.crawl_node.scheduler import ROW, scheduler_of
from ipmicra.edge.crawl_node.tables import Change, PageRow
from ipmicra.edge.scrapy.address_guard import RefusedAddressError
from ipmicra.edge.scrapy.ports import OwnerSource

NOT_MODIFIED, OK = 304, 200
MOST_LINKS = 10_000
"""Links of one page, and URLs of one sitemap, that are followed."""
LONGEST_URL = 2_083
MOST_FOLLOWED = 100_000
"""Links that are remembered in memory; the frontier knows all."""


@dataclass(slots=True)
class Counts:
    """What a spider has done in this run."""

    pages: int = 0
    changes: dict[Change, int] = field(default_factory=lambda: dict.fromkeys(Change, 0))
    problems: int = 0
    forbidden: int = 0
    refused: int = 0
    first_byte_s: float = 0.0
    timed: int = 0
    repeated: int = 0
    """Links that were followed a short while before."""
    foreign: set[int] = field(default_factory=set)
    """Hashes of different links to other sites."""


class SiteSpider(Spider):
    """Crawls sites from their seeds."""

    name = "ipmicra"

    def __init__(
        self, asked: CrawlRequest, frontier: Frontier, journal: Journal, owners: OwnerSource | None = None
    ) -> None:
        """Crawl what was asked for, with a frontier and a journal; without owners it works alone."""
        super().__init__()
        self.asked, self._frontier, self._journal, self._owners = asked, frontier, journal, owners
        self.counts = Counts()
        self._followed: set[str] = set()
        self._fetched: set[str] = set()
        """Hosts of pages; in a crawl with a coordinator, others count as foreign."""
        self.own_hosts = {urlsplit(seed).hostname or "" for seed in asked.seeds}

    @classmethod
    def from_crawler(cls, crawler: ScrapyCrawler, *args: Any, **kwargs: Any) -> SiteSpider:  # noqa: ANN401 - Scrapy's
        """Make the spider of a Scrapy crawler."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.headers_received, signals.headers_received)
        return spider

    async def start(self) -> AsyncIterator[Request]:
        """Start at the seeds; those that are known from an interrupted run are passed over."""
        for seed in self.asked.seeds:
            yield self._request(seed)

    def admits(self, request: Request) -> bool:
        """Return whether a node that works alone may fetch this."""
        return not self.is_foreign(request.url)

    def is_foreign(self, url: str) -> bool:
        """Return whether a URL is of a site that this node leaves to others."""
        host = urlsplit(url).hostname or ""
        if self.asked.coordinator is not None:
            return host not in self._fetched
        if self._owners is None:
            return self.asked.stays and host not in self.own_hosts
        shares = self._owners.shares_of(host) or ()
        return not any(share.crawler == self.asked.crawler for share in shares)

    def robots_read(self, request: Request, sitemaps: list[str]) -> None:
        """Follow the sitemaps that a robots.txt names."""
        if not self.asked.follows_sitemaps or self.crawler.engine is None:
            return
        for place in sitemaps[:MOST_LINKS]:
            url = _whole(request.url, place)
            if url is not None:
                self.crawler.engine.crawl(
                    Request(url, callback=self.parse_sitemap, errback=self.failed, priority=10)
                )

    def headers_received(self, headers: Any, request: Request) -> None:  # noqa: ANN401 - Scrapy's
        """End downloads of types that are not wanted."""
        if urlsplit(request.url).path == "/robots.txt":
            return
        kind = _kind(headers)
        if kind and not any(fnmatch(kind, wanted) for wanted in self.asked.content_types):
            raise StopDownload(fail=False)

    def parse(self, response: Response, **_arguments: object) -> Iterator[Request]:
        """Keep a page and follow its links."""
        assert response.request is not None  # noqa: S101 - it answers one
        self._fetched.add(urlsplit(response.url).hostname or "")
        is_stopped = "download_stopped" in response.flags
        known = self._known(response)
        change, page = Change.NONE, None
        links: tuple[str, ...] = ()
        if response.status == NOT_MODIFIED and known is not None:
            change, links = Change.UNCHANGED, known.links
            page = replace(known, checked_s=time.time(), checks=known.checks + 1)
        elif response.status == OK and not is_stopped:
            links = tuple(dict.fromkeys(_links_of(response)))[:MOST_LINKS]
            change, page = self._compare(response, known, links)
        self._count(response, change)
        row = response.request.meta[ROW]
        problem = "not wanted" if is_stopped else ""
        self._journal.add_page(row, _row(response, change, len(links), problem), page)
        foreign = [self.is_foreign(link) for link in links]
        self._journal.add_links(row, response.url, zip(links, foreign, strict=True))
        self.counts.foreign.update(
            hash(link) for link, is_other in zip(links, foreign, strict=True) if is_other
        )
        depth = response.meta.get("depth", 0)
        for link in links:
            if self._is_fresh(link):
                yield self._request(link, priority=-depth - 1)

    def parse_sitemap(self, response: Response) -> Iterator[Request]:
        """Follow what a sitemap lists; other hosts than its own have no say here."""
        if response.status != OK:
            return
        found = Sitemap(response.body)
        is_index = found.type == "sitemapindex"
        host = urlsplit(response.url).hostname
        for number, entry in enumerate(found):
            url = _whole(response.url, entry["loc"])
            if number >= MOST_LINKS or url is None or urlsplit(url).hostname != host:
                continue
            if is_index:
                yield Request(url, callback=self.parse_sitemap, errback=self.failed, priority=10)
            else:
                yield self._request(url, priority=-1)

    def failed(self, failure: Failure) -> None:
        """Record why there was no response."""
        request: Request = failure.request  # type: ignore[attr-defined]  # Scrapy adds it
        if isinstance(failure.value, RefusedAddressError):
            self.counts.refused += 1
            problem = f"refused: {failure.value}"
            scheduler = scheduler_of(self.crawler)
            if scheduler is not None:
                scheduler.spare(request)
        elif isinstance(failure.value, IgnoreRequest):
            self.counts.forbidden += 1
            problem = "forbidden by robots.txt"
        else:
            self.counts.problems += 1
            problem = f"{failure.type.__name__ if failure.type else ''}: {failure.getErrorMessage()}"[:200]
        self._journal.add_page(
            request.meta[ROW],
            PageRow(
                url=request.url,
                status=0,
                depth=request.meta.get("depth", 0),
                content_type="",
                bytes=0,
                change="",
                links=0,
                first_byte_ms=None,
                fetched=_moment(),
                warc="",
                problem=problem,
            ),
        )

    def _is_fresh(self, link: str) -> bool:
        """Return whether a link was not followed a short while ago; the frontier need not be asked then."""
        if link in self._followed:
            self.counts.repeated += 1
            return False
        if len(self._followed) >= MOST_FOLLOWED:
            self._followed.clear()
        self._followed.add(link)
        return True

    def _request(self, url: str, priority: int = 0) -> Request:
        return Request(url, callback=self.parse, errback=self.failed, priority=priority)

    def _known(self, response: Response) -> KnownPage | None:
        return self._frontier.page(self._key(response))

    def _key(self, response: Response) -> bytes:
        assert self.crawler.request_fingerprinter is not None  # noqa: S101 - made before the spider opens
        assert response.request is not None  # noqa: S101 - it answers one
        return self.crawler.request_fingerprinter.fingerprint(response.request)

    def _compare(
        self, response: Response, known: KnownPage | None, links: tuple[str, ...]
    ) -> tuple[Change, KnownPage]:
        """Compare a page with the last time; return how it changed, and what is known from now on."""
        digest, now_s = hashlib.sha1(response.body, usedforsecurity=False).digest(), time.time()
        is_same = known is not None and known.digest == digest
        page = KnownPage(
            key=self._key(response),
            url=response.url,
            etag=_header(response, "ETag"),
            modified=_header(response, "Last-Modified"),
            digest=digest,
            links=links,
            checked_s=now_s,
            changed_s=known.changed_s if known is not None and is_same else now_s,
            checks=known.checks + 1 if known else 1,
            changes=(known.changes if known else 0) + (known is not None and not is_same),
        )
        if known is None:
            return Change.NEW, page
        return (Change.UNCHANGED if is_same else Change.CHANGED), page

    def _count(self, response: Response, change: Change) -> None:
        counts = self.counts
        counts.pages += 1
        counts.changes[change] += 1
        counts.problems += response.status >= 400  # noqa: PLR2004 - errors of client and server
        seconds = response.meta.get(FIRST_BYTE)
        if seconds is not None:
            counts.first_byte_s += seconds
            counts.timed += 1


def _links_of(response: Response) -> Iterator[str]:
    """Find the links of a page; one that says `nofollow` has none."""
    if not isinstance(response, HtmlResponse) or isinstance(response, XmlResponse):
        return
    if "nofollow" in " ".join(response.xpath("//meta[@name='robots']/@content").getall()).lower():
        return
    base = get_base_url(response)
    for href in response.xpath("//a[not(contains(@rel, 'nofollow'))]/@href | //area/@href").getall():
        url = _whole(base, href)
        if url is not None:
            yield url


def _whole(base: str, href: str) -> str | None:
    """Return a link as a whole URL without fragment; None if it leads to no web page."""
    try:
        return _canonical(urljoin(base, href.strip()))
    except ValueError:
        return None


@lru_cache(1 << 16)
def _canonical(text: str) -> str | None:
    """Return a URL in the form in which equal ones are equal; pages repeat the same links again and again."""
    try:
        url = canonicalize_url(safe_url_string(text))
        parts = urlsplit(url)
        is_web = parts.scheme in {"http", "https"} and bool(parts.hostname) and len(url) <= LONGEST_URL
        _ = parts.port
    except ValueError:
        return None
    return url if is_web else None


def _header(response: Response, name: str) -> str:
    value = response.headers.get(name)
    return value.decode("latin-1")[:500] if value else ""


def _kind(headers: Any) -> str:  # noqa: ANN401 - Scrapy's mapping of bytes
    value: bytes = headers.get("Content-Type") or b""
    return value.decode("latin-1").partition(";")[0].strip().lower()


def _moment() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _row(response: Response, change: Change, links: int, problem: str) -> PageRow:
    seconds = response.meta.get(FIRST_BYTE)
    return PageRow(
        url=response.url,
        status=response.status,
        depth=response.meta.get("depth", 0),
        content_type=_kind(response.headers),
        bytes=len(response.body),
        change=change.value,
        links=links,
        first_byte_ms=None if seconds is None else round(seconds * 1e3, 1),
        fetched=_moment(),
        warc="",
        problem=problem,
    )
