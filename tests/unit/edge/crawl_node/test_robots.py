"""robots.txt as RFC 9309 has it: what changes during a crawl counts once the rules are a day old."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.statscollectors import MemoryStatsCollector

from ipmicra.edge.crawl_node import middlewares
from ipmicra.edge.crawl_node.middlewares import Robots
from ipmicra.edge.scrapy.address_guard import RefusedAddressError
from tests.servers.spider import LinkSpider

PAGE = Request("http://a.example/private/page")


class Web:
    """Stands in for Scrapy's engine: answers with what a robots.txt says at the time."""

    def __init__(self) -> None:
        self.answer: tuple[int, bytes] | None = (200, b"")
        self.asked = 0
        self.refuses = ""
        """The host that may not be asked."""

    async def download_async(self, request: Request) -> Response:
        self.asked += 1
        if self.refuses:
            raise RefusedAddressError(self.refuses, "not public")
        if self.answer is None:
            raise OSError("no answer")
        status, body = self.answer
        return Response(request.url, status=status, body=body)


@pytest.fixture
def web() -> Web:
    return Web()


@pytest.fixture
def robots(web: Web) -> Robots:
    crawler = Crawler(LinkSpider, {"ROBOTSTXT_OBEY": True})
    crawler.stats = MemoryStatsCollector(crawler)
    crawler.engine = cast("Any", web)
    crawler.spider = LinkSpider()
    return Robots(crawler)


def may_fetch(robots: Robots) -> bool:
    return asyncio.run(robots.robot_parser(PAGE)).allowed(PAGE.url, "me")


def test_rules_that_changed_count_once_the_old_ones_are_too_old(
    web: Web, robots: Robots, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert may_fetch(robots)
    web.answer = (200, b"User-agent: *\nDisallow: /private/\n")
    assert may_fetch(robots)
    assert web.asked == 1
    monkeypatch.setattr(middlewares, "ROBOTS_S", 0.0)
    assert not may_fetch(robots)
    web.answer = (200, b"")
    assert may_fetch(robots)


@pytest.mark.parametrize(("answer", "allowed"), [((404, b""), True), ((503, b""), False), (None, False)])
def test_file_that_is_missing_allows_and_one_that_cannot_be_reached_forbids(
    web: Web, robots: Robots, answer: tuple[int, bytes] | None, allowed: bool
) -> None:
    web.answer = answer
    assert may_fetch(robots) == allowed


def test_page_is_refused_with_its_robots_txt_and_rules_count_once_the_host_may_be_asked(
    web: Web, robots: Robots
) -> None:
    async def both() -> list[Any]:
        return await asyncio.gather(*[robots.robot_parser(PAGE) for _ in "ab"], return_exceptions=True)

    web.refuses = "a.example"
    assert [type(one) for one in asyncio.run(both())] == [RefusedAddressError] * 2
    web.refuses, web.answer = "", (200, b"User-agent: *\nDisallow: /private/\n")
    assert not may_fetch(robots)


def test_robots_txt_that_leads_to_a_private_address_cannot_be_reached(web: Web, robots: Robots) -> None:
    web.refuses = "elsewhere.example"
    assert not may_fetch(robots)
    assert not may_fetch(robots)
    assert web.asked == 1
