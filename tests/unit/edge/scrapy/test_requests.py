"""Requests travel as links, and come out as they went in."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Request
from scrapy.settings import Settings
from scrapy.utils.request import RequestFingerprinter

from ipmicra.edge.scrapy.requests import headers_of, host_of, key_of, link_of, request_of
from ipmicra.errors import InputError
from ipmicra.model.link import Link
from tests.servers.spider import LinkSpider

SPIDER = LinkSpider()
ADDED = headers_of(Settings({"USER_AGENT": "me"}))


def travelled(request: Request) -> Request:
    return request_of(link_of(request, key_of(request, RequestFingerprinter()), SPIDER, ADDED), SPIDER)


def test_request_comes_out_as_it_went_in() -> None:
    request = Request(
        "http://a.example/b?c=d",
        SPIDER.parse,
        method="POST",
        headers={"Referer": "http://a.example/", "X-Own": "1"},
        body=b"\x00\xff",
        cookies={"a": "b"},
        meta={"depth": 3, "rule": 2},
        cb_kwargs={"page": 7},
        priority=-5,
    )
    again = travelled(request)
    assert again.to_dict(spider=SPIDER) == request.to_dict(spider=SPIDER)
    finger = RequestFingerprinter()
    assert key_of(again, finger) == key_of(request, finger)


def test_plain_link_carries_nothing_beside_its_url() -> None:
    assert link_of(Request("http://a.example/"), 1, SPIDER, ADDED).extra == ""


def test_what_only_the_sender_has_stays_there() -> None:
    headers = {"User-Agent": "me", "Cookie": "secret", "Accept-Encoding": "gzip", "Proxy-Authorization": "x"}
    meta = {
        "proxy": "http://p",
        "download_slot": "s",
        "download_latency": 1.0,
        "_auth": 1,
        "ipmicra_number": 2,
    }
    again = travelled(Request("http://a.example/", headers=headers, meta=meta))
    assert (dict(again.headers), again.meta) == ({}, {"depth": 0})


@pytest.mark.parametrize("given", [{"callback": lambda response: None}, {"meta": {"a": object()}}])
def test_request_that_cannot_travel_is_named(given: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="cannot be handed to another node"):
        link_of(Request("http://a.example/", **given), 1, SPIDER, ADDED)


@pytest.mark.parametrize(
    "extra",
    ['{"callback":"__init__x"}', '{"callback":"name"}', '{"errback":["parse"]}', "[]", "{", '{"body":"?"}'],
)
def test_callback_that_is_no_method_of_the_spider_is_refused(extra: str) -> None:
    with pytest.raises(InputError):
        request_of(Link(url="http://a.example/", host="a.example", extra=extra), SPIDER)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "data:,x", "ftp://a.example/"])
def test_only_web_addresses_are_fetched_for_others(url: str) -> None:
    with pytest.raises(InputError, match="is no web address"):
        request_of(Link(url=url, host="a.example"), SPIDER)


def test_hosts_are_known_without_their_port_dot_or_spelling() -> None:
    for url in ("http://A.example:8080/", "https://a.example./x", "http://u:p@a.example/"):
        assert host_of(Request(url)) == "a.example"
    assert host_of(Request("http://bücher.example/")) == "xn--bcher-kva.example"
    assert host_of(Request("data:,x")) is None
