"""Which addresses a node may connect to, and that nothing else gets past the resolver."""

from __future__ import annotations

import asyncio
from ipaddress import ip_address
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request
from scrapy.crawler import Crawler as ScrapyCrawler
from scrapy.exceptions import CannotResolveHostError
from scrapy.http import Response
from scrapy.utils.test import get_crawler
from twisted.internet.address import IPv4Address, IPv6Address

from ipmicra.app.crawl.command import own_places
from ipmicra.edge.scrapy.address_fence import AddressFence, GuardedResolver, attach_guard
from ipmicra.edge.scrapy.address_guard import REMEMBERED_S, AddressGuard, RefusedAddressError, read_literal
from tests.servers.spider import LinkSpider

PUBLIC = "193.0.6.139"


def octal(number: int) -> str:
    return f"0{number:o}"


@pytest.mark.parametrize(
    "url",
    [
        *(
            "http://127.0.0.1/",
            "http://127.1/",
            "http://127.0.1/",
            "http://2130706433/",
            "http://017700000001/",
        ),
        *("http://0x7f.1/", "http://0x7f000001/", "http://0177.0.0.1/", "http://127.0.0.1./", "http://0/"),
        *("http://10.0.0.1/", "http://172.16.0.1/", "http://192.168.0.1/", "http://0xc0a80001/"),
        *("http://169.254.169.254/latest/meta-data/", "http://2852039166/", "http://100.64.0.1/"),
        *("http://[::1]/", "http://[::]/", "http://[0:0:0:0:0:0:0:1]:8080/", "http://[fd00:ec2::254]/"),
        *("http://[fe80::1]/", "http://[fe80::1%25eth0]/", "http://[fc00::1]/", "http://[ff02::1]/"),
        *("http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://[::127.0.0.1]/"),
        *("http://[64:ff9b::7f00:1]/", "http://[64:ff9b:1::a00:1]/", "http://[2002:7f00:1::]/"),
        *("http://user:secret@127.0.0.1/", "https://127.0.0.1:8443/", "ftp://10.0.0.1/"),
    ],
)
def test_private_address_in_any_spelling_is_refused(url: str) -> None:
    with pytest.raises(RefusedAddressError, match="is not public"):
        asyncio.run(fence_of(AddressGuard()).process_request(Request(url)))


@given(
    number=st.integers(0, 2**32 - 1),
    parts=st.integers(1, 4),
    writers=st.tuples(*[st.sampled_from((str, hex, octal))] * 4),
)
def test_every_spelling_of_an_address_is_read(number: int, parts: int, writers: Any) -> None:
    """The last part of a spelling stands for all bytes that are left: 127.0.0.1 is 127.1 is 2130706433."""
    first, last = number.to_bytes(4)[: parts - 1], int.from_bytes(number.to_bytes(4)[parts - 1 :])
    host = ".".join(write(part) for write, part in zip(writers, [*first, last], strict=False))
    assert read_literal(host) == ip_address(number)


@pytest.mark.parametrize("host", ["8.8.8.8", "134744072", "2001:4860:4860::8888", "2a00::1"])
def test_public_address_passes(host: str) -> None:
    assert read_literal(host) is not None
    assert AddressGuard().early_refusal(host, 80) is None


@pytest.mark.parametrize(
    "host", ["example.org", "10.0.0.1.example", "127.example", "0x7f.example", "1.2.3.4.5", ""]
)
def test_names_are_left_to_the_resolver(host: str) -> None:
    assert read_literal(host) is None
    assert AddressGuard().early_refusal(host, 80) is None


def test_what_the_operator_names_is_permitted_and_nothing_beside_it() -> None:
    hosts = {"intranet.example": ip_address("10.0.0.1")}
    guard = AddressGuard(["10.1.0.0/16"], hosts=hosts, seeds=[("127.0.0.1", 8000), ("localhost", 80)])

    def is_permitted(host: str, address: str, port: int = 80) -> bool:
        return guard.refusal(host, ip_address(address), port) is None

    assert is_permitted("anything.example", "10.1.2.3")
    assert is_permitted("anything.example", "::ffff:10.1.2.3")
    assert is_permitted("intranet.example", "10.0.0.1")
    assert is_permitted("Intranet.Example.", "10.0.0.1")
    assert not is_permitted("intranet.example", "10.0.0.2")
    assert not is_permitted("other.example", "10.0.0.1")
    assert is_permitted("127.0.0.1", "127.0.0.1", 8000)
    assert not is_permitted("127.0.0.1", "127.0.0.1", 9200)
    assert not is_permitted("rebinding.example", "127.0.0.1", 8000)
    assert is_permitted("localhost", "127.0.0.1")
    assert not is_permitted("localhost", "127.0.0.1", 8000)


def test_typed_addresses_are_own_places_and_names_are_not(tmp_path: Any) -> None:
    listed = tmp_path / "seeds"
    listed.write_text("10.0.0.9\n")
    words = [
        "http://127.0.0.1:8000/a",
        "https://[::1]/",
        "localhost",
        "example.org",
        "10.0.0.1:81",
        str(listed),
    ]
    assert own_places(words) == {("127.0.0.1", 8000), ("::1", 443), ("localhost", 80), ("10.0.0.1", 81)}


# --- at the resolver


class Answers:
    """A resolver with given answers, one list after the other."""

    def __init__(self, *answers: list[str]) -> None:
        self._answers = list(answers)

    def resolveHostName(self, receiver: Any, *_: Any) -> None:  # noqa: N802 - Twisted's name
        receiver.resolutionBegan(self)
        for text in self._answers.pop(0):
            kind = IPv6Address if ":" in text else IPv4Address
            receiver.addressResolved(kind("TCP", text, 80))
        receiver.resolutionComplete()


class Collected:
    """What arrives behind the resolver."""

    def __init__(self) -> None:
        self.addresses: list[str] = []
        self.is_complete = False

    def resolutionBegan(self, _resolution: Any) -> None:  # noqa: N802 - Twisted's names, here and below
        assert not self.is_complete

    def addressResolved(self, address: Any) -> None:  # noqa: N802
        self.addresses.append(address.host)

    def resolutionComplete(self) -> None:  # noqa: N802
        self.is_complete = True


def resolved(resolver: GuardedResolver, host: str) -> list[str]:
    found = Collected()
    resolver.resolveHostName(found, host, 80)
    assert found.is_complete
    return found.addresses


def test_only_permitted_addresses_of_a_name_pass() -> None:
    resolver = GuardedResolver(Answers([PUBLIC, "10.0.0.1", "fe80::1%lo", "2a00::1"], ["10.0.0.1"], [PUBLIC]))
    resolver.guards.append(AddressGuard())
    assert resolved(resolver, "a.example") == [PUBLIC, "2a00::1"]
    assert resolved(resolver, "a.example") == []
    resolver.guards.append(AddressGuard([PUBLIC]))
    assert resolved(resolver, "a.example") == [PUBLIC]


def test_name_that_becomes_private_is_refused_at_once_for_a_while_and_not_for_ever() -> None:
    now_s = [0.0]
    guard = AddressGuard(ticks=lambda: now_s[0])
    resolver = GuardedResolver(Answers([PUBLIC], ["10.0.0.1"], ["10.0.0.1"], [PUBLIC]))
    resolver.guards.append(guard)
    resolved(resolver, "bücher.example")
    assert guard.early_refusal("xn--bcher-kva.example", 80) is None
    resolved(resolver, "bücher.example")
    reason = guard.early_refusal("xn--bcher-kva.example", 80)
    assert reason == "bücher.example leads to 10.0.0.1 is not public: 10.0.0.0/8 is private"
    now_s[0] = REMEMBERED_S
    assert guard.early_refusal("xn--bcher-kva.example", 80) is None
    resolved(resolver, "bücher.example")
    assert guard.early_refusal("xn--bcher-kva.example", 80) is not None
    resolved(resolver, "bücher.example")
    assert guard.early_refusal("xn--bcher-kva.example", 80) is None


# --- the fence


def fence_of(guard: AddressGuard) -> AddressFence:
    crawler: ScrapyCrawler = get_crawler(LinkSpider, {"TWISTED_REACTOR_ENABLED": False})
    attach_guard(crawler, guard)
    return AddressFence(crawler)


def test_proxy_may_be_anywhere_but_its_address_is_no_page() -> None:
    guard = AddressGuard()
    fence, proxy = fence_of(guard), {"proxy": "http://proxy.corp.example:3128"}
    asyncio.run(fence.process_request(Request("http://a.example/", meta=proxy)))
    assert guard.resolved_refusal("proxy.corp.example", ip_address("10.0.0.1"), 3128) is None
    assert guard.refusal("proxy.corp.example", ip_address("10.0.0.1"), 3128) is not None
    with pytest.raises(RefusedAddressError):
        asyncio.run(fence.process_request(Request("http://10.0.0.1/", meta=proxy)))


def test_response_that_comes_from_a_private_address_after_all_is_dropped() -> None:
    fence, request = fence_of(AddressGuard()), Request("http://a.example/")
    for address, is_kept in ((PUBLIC, True), ("10.0.0.1", False), ("::1", False)):
        response = Response(request.url, ip_address=ip_address(address))
        if is_kept:
            assert fence.process_response(request, response) is response
        else:
            with pytest.raises(RefusedAddressError, match="led to"):
                fence.process_response(request, response)
    behind = Request(request.url, meta={"proxy": "http://10.0.0.1:3128"})
    response = Response(request.url, ip_address=ip_address("10.0.0.1"))
    assert fence.process_response(behind, response) is response, "it is the proxy's"


def test_name_that_the_dns_does_not_know_is_no_refusal() -> None:
    guard = AddressGuard()
    fence, request = fence_of(guard), Request("http://a.example/")
    fence.process_exception(request, CannotResolveHostError("a.example"))
    guard.remember("a.example", "a.example leads to nowhere good")
    with pytest.raises(RefusedAddressError, match="nowhere good; IPMICRA_ALLOW"):
        fence.process_exception(request, CannotResolveHostError("a.example"))
    fence.process_exception(request, TimeoutError())
