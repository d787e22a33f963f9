"""What a node adds to Scrapy's downloader: slots, robots.txt, conditional requests, records.

Theory of operation
-------------------
A request passes them in this order, its response in the reverse:

    BlockSlots   all hosts of an address block share one slot: politeness is towards machines, not names
    Conditions   a page that is known is asked for only if it has changed
    Robots       may wait for the robots.txt of the host, which is fetched in the same slot
    Recorder     nearest to the wire: WARC records have the bytes as they came, before anything is decoded

Behind them is the fence of addresses (`edge.scrapy`): what is not public is neither fetched nor recorded.

What they need of the node (frontier, journal, names) comes from `parts.py`, since Scrapy makes them itself.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Self

from scrapy import Request
from scrapy.crawler import Crawler as ScrapyCrawler
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.http import Response
from scrapy.robotstxt import ProtegoRobotParser, RobotParser
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.httpobj import urlparse_cached
from twisted.internet.defer import Deferred

from ipmicra.edge.crawl_node.parts import parts_of
from ipmicra.edge.crawl_node.scheduler import ROW, SLOT, scheduler_of
from ipmicra.edge.crawl_node.warc import Exchanged
from ipmicra.edge.scrapy.address_guard import RefusedAddressError

BLOCKS_ORDER, CONDITIONS_ORDER, ROBOTS_ORDER, RECORDER_ORDER = 60, 70, 100, 950
"""Slots first, because a robots.txt is fetched in the slot of its host; the recorder next to the wire."""
FIRST_BYTE = "ipmicra_first_byte"
ROBOTS_S = 24 * 3600.0
"""How long a robots.txt may be used; RFC 9309, section 2.4."""
ROBOTS_BYTES = 512 * 1024
"""How much of a robots.txt is read; RFC 9309, section 2.5 asks for 500 KiB at least."""
_NOTHING, _EVERYTHING = b"User-agent: *\nDisallow: /\n", b""


class _Middleware:
    """Knows the Scrapy crawler that it serves."""

    def __init__(self, crawler: ScrapyCrawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: ScrapyCrawler) -> Self:
        return cls(crawler)


class BlockSlots(_Middleware):
    """Puts all hosts of an address block into one download slot, and binds to the node's own address."""

    def __init__(self, crawler: ScrapyCrawler) -> None:
        """Use the names that the parts know."""
        super().__init__(crawler)
        self._blocks, self._source = parts_of(crawler).blocks, parts_of(crawler).source

    async def process_request(self, request: Request, spider: Any = None) -> None:  # noqa: ANN401, ARG002 - Scrapy's
        """Set slot and source address of a request."""
        host = urlparse_cached(request).hostname or ""
        if request.meta.get(SLOT, host) == host:
            request.meta[SLOT] = await self._blocks.block(host)
            scheduler = scheduler_of(self.crawler)
            if scheduler is not None:
                scheduler.blocks[host] = request.meta[SLOT]
        if self._source:
            request.meta["bindaddress"] = (self._source, 0)


class Conditions(_Middleware):
    """Asks for pages that are known already only if they have changed."""

    async def process_request(self, request: Request, spider: Any = None) -> None:  # noqa: ANN401, ARG002 - Scrapy's
        """Add validators to a request for a known page."""
        if ROW not in request.meta or request.method != "GET":
            return
        frontier = parts_of(self.crawler).frontier
        assert self.crawler.request_fingerprinter is not None  # noqa: S101 - made before the spider opens
        known = frontier.page(self.crawler.request_fingerprinter.fingerprint(request))
        if known is None:
            return
        for name, value in (("If-None-Match", known.etag), ("If-Modified-Since", known.modified)):
            if value:
                request.headers[name] = value


@dataclass(slots=True)
class _Rules:
    parser: RobotParser
    read_s: float
    refusal: RefusedAddressError | None = None
    """Why the host may not be asked at all."""

    def usable(self) -> RobotParser:
        """Return the parser; a page of a host that may not be asked is refused like its robots.txt."""
        if self.refusal is not None:
            raise RefusedAddressError(self.refusal.host, str(self.refusal))
        return self.parser


class Robots(RobotsTxtMiddleware):
    """Scrapy's middleware with the rules of RFC 9309 that it lacks.

    A robots.txt that cannot be reached (5xx, no answer) forbids everything, one that does not exist (4xx)
    nothing; none is used for longer than a day.
    """

    def __init__(self, crawler: ScrapyCrawler) -> None:
        """Obey for a Scrapy crawler."""
        super().__init__(crawler)
        self._rules: dict[str, _Rules | Deferred[_Rules]] = {}

    async def robot_parser(self, request: Request) -> RobotParser:
        """Return the rules of a request's host, read at most a day ago."""
        url = urlparse_cached(request)
        known = self._rules.get(url.netloc)
        if isinstance(known, Deferred):
            return (await _shared(known)).usable()
        if known is not None and time.monotonic() - known.read_s < ROBOTS_S:
            return known.parser
        waiting: Deferred[_Rules] = Deferred()
        self._rules[url.netloc] = waiting
        place = f"{url.scheme}://{url.netloc}/robots.txt"
        rules = await self._read(place, request)
        if rules.refusal is None:
            self._rules[url.netloc] = rules
        else:
            del self._rules[url.netloc]  # the name may lead elsewhere the next time, and then its rules count
        waiting.callback(rules)
        return rules.usable()

    async def _read(self, place: str, request: Request) -> _Rules:
        asked = Request(
            place, meta={"dont_obey_robotstxt": True, SLOT: request.meta.get(SLOT)}, priority=1000
        )
        assert self.crawler.engine is not None  # noqa: S101 - the spider is open
        refusal = None
        try:
            response = await self.crawler.engine.download_async(asked)
        except RefusedAddressError as error:
            body = _NOTHING
            # One that was redirected to a private address cannot be reached, but its host can.
            refusal = error if error.host == urlparse_cached(request).hostname else None
        except Exception:  # noqa: BLE001 - however it failed, the file could not be reached
            body = _NOTHING
        else:
            ranges = {2: response.body[:ROBOTS_BYTES], 4: _EVERYTHING}
            body = ranges.get(response.status // 100, _NOTHING)
        parser = ProtegoRobotParser.from_crawler(self.crawler, body)
        found = getattr(self.crawler.spider, "robots_read", None)
        if found is not None:
            found(request, list(parser.rp.sitemaps))
        return _Rules(parser, time.monotonic(), refusal)


async def _shared(waiting: Deferred[_Rules]) -> _Rules:
    """Wait for rules that several requests wait for: each passes on what it got."""
    mine: Deferred[_Rules] = Deferred()

    def pass_on(rules: _Rules) -> _Rules:
        mine.callback(rules)
        return rules

    waiting.addCallback(pass_on)
    return await maybe_deferred_to_future(mine)


class Recorder(_Middleware):
    """Writes what goes over the wire into WARC files, before anything is decoded."""

    def __init__(self, crawler: ScrapyCrawler) -> None:
        """Write into the journal of the parts."""
        super().__init__(crawler)
        self._journal = parts_of(crawler).journal

    async def process_response(
        self,
        request: Request,
        response: Response,
        spider: Any = None,  # noqa: ANN401, ARG002 - Scrapy's
    ) -> Response:
        """Record a response and pass it on."""
        scheduler = scheduler_of(self.crawler)
        if scheduler is not None:
            scheduler.load.received += len(response.body)
        if "download_latency" in request.meta:
            request.meta[FIRST_BYTE] = request.meta["download_latency"]
        if "download_stopped" not in response.flags:
            self._journal.add_exchange(request.meta.get(ROW), _exchanged(request, response))
        return response


def _exchanged(request: Request, response: Response) -> Exchanged:
    url = urlparse_cached(request)
    return Exchanged(
        url=request.url,
        method=request.method,
        target=(url.path or "/") + (f"?{url.query}" if url.query else ""),
        request_headers=[("Host", url.netloc), *_texts(request.headers)],
        status=response.status,
        reason="",
        headers=_texts(response.headers),
        body=response.body,
        address=str(response.ip_address) if response.ip_address else None,
        fetched_s=time.time(),
    )


def _texts(headers: Any) -> list[tuple[str, str]]:  # noqa: ANN401 - Scrapy's mapping of bytes
    return [
        (name.decode("latin-1"), value.decode("latin-1"))
        for name, values in headers.items()
        for value in values
    ]
