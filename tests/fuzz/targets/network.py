"""What servers and peers send: DNS answers, heads of HTTP, answers of registries, URLs of URLFrontier."""

from __future__ import annotations

import json
import math
from ipaddress import IPv4Address
from types import SimpleNamespace
from typing import Any
from zlib import crc32

from dns.rdatatype import AAAA, LOC, PTR, A
from google.protobuf.message import DecodeError

from ipmicra.edge.dns.location import _loc_record
from ipmicra.edge.dns.messages import _read_any, _read_plain, is_answer_to, qname_of, question, read_reply
from ipmicra.edge.fetch.answer import Asked, content_range, judge, retry_after_s, state_of
from ipmicra.edge.fetch.state import FileState
from ipmicra.edge.frontier.messages import DiscoveredBatch, URLItem
from ipmicra.edge.frontier.proxy import BatchStream, Counts, UrlStream
from ipmicra.edge.frontier.routes import OwnedPart, Route, Routes, Verdict
from ipmicra.edge.prober.http import _is_reusable, server_share_ms
from ipmicra.edge.rdap import read_rdap
from ipmicra.locate.config import LocateConfig
from ipmicra.locate.loc_record import loc_hint
from ipmicra.model.name import NameStatus
from tests.fuzz.target import target

KINDS = (A, AAAA, LOC, PTR)
ASKED = {kind: question(7, qname_of("a.example") or b"", kind) for kind in KINDS}
_OPT = 11
"""Bytes behind the question."""


@target("dns-answers", longest=96)
def read_dns(data: bytes) -> None:
    """An answer is read or malformed, and by hand as dnspython reads it; a LOC record is a place on Earth.

    dnspython takes most of the time: it reads every fourth of the answers that are read without it.
    """
    kind = KINDS[data[0] % len(KINDS) if data else 0]
    asked = ASKED[kind]
    answer = asked[:2] + data[1:3].ljust(2, b"\0") + asked[4:6] + data[3:9].ljust(6, b"\0")
    answer += asked[12:-_OPT] + data[9:]
    if not is_answer_to(answer, asked):
        return
    reply, plain = read_reply(answer, kind), _read_plain(answer, kind)
    is_chosen = plain is not None and crc32(answer) % 4 == 0
    if plain is not None and is_chosen and (twin := _read_any(answer, kind)) is not None:
        assert set(plain.addresses) == set(twin.addresses)
        assert plain.status is twin.status
    if reply is not None and kind in {A, AAAA}:
        assert bool(reply.addresses) == (reply.status is NameStatus.FOUND)
    if reply is not None and kind is LOC:
        for record in reply.records:
            hint = loc_hint(_loc_record("a.example", record, is_parent=False), LocateConfig())
            assert hint is None or abs(hint.location.latitude) <= 90


@target("http-heads", longest=512)
def read_head(data: bytes) -> None:
    """What a server says of itself is a number that can be used, whatever its head is."""
    assert 0 <= server_share_ms(data) < 1e9
    _is_reusable(data)
    status, _, rest = data.decode("latin-1").partition("\n")
    lines = (line.partition(":") for line in rest.split("\n"))
    headers = {name: value.strip() for name, _, value in lines}
    asked = Asked(offset=100, part=FileState(url="u", etag="e", bytes_total=500), is_conditional=True)
    verdict = judge(
        int(status) if status.isascii() and status.isdigit() and len(status) < 4 else 200, headers, asked
    )
    state_of("u", verdict, headers, asked)
    assert all(number is None or 0 <= number < 1e18 for number in content_range(headers))
    wait_s = retry_after_s(headers)
    assert wait_s is None or (math.isfinite(wait_s) and wait_s >= 0)


@target("rdap-answers")
def read_registry_answer(data: bytes) -> None:
    """A registration holds the address that was asked for."""
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return
    address = IPv4Address("192.0.2.1")
    if isinstance(content, dict):
        graft = read_rdap(
            {"network": content.get("network"), "entities": content.get("entities")}, address, 0.0
        )
        assert graft is None or int(graft.first) <= int(address) <= int(graft.last)


class _Asker:
    def ask(self, hosts: Any) -> Any:
        raise AssertionError


def _stream(kind: type[Any]) -> Any:
    """Return a stream without a service behind it, whose routes know two hosts."""
    routes = Routes(_Asker(), lambda: 0.0)
    one, two = (OwnedPart(crawler=name, key="k", subnet="s", vantage=name) for name in ("fra", "nyc"))
    routes._by_host["a.example"] = Route(Verdict(host="a.example", parts=(one,)), 1e9)
    routes._by_host["b.example"] = Route(Verdict(host="b.example", parts=(one, two)), 1e9)
    made: Any = object.__new__(kind)
    delivery = SimpleNamespace(hold=lambda _item, _done, _whose: False)
    made._proxy = SimpleNamespace(routes=routes, counts=Counts(), delivery=delivery)
    made._outgoing = SimpleNamespace(put_nowait=lambda _answer: None)
    made._held, made._mixed = 0, {}
    return made


@target("frontier", DecodeError, longest=512)
def route_urls(data: bytes) -> None:
    """URLs of clients go to the queues of their owners, each with its own URL."""
    if not data or data[0] % 2:
        sent = _stream(UrlStream).rewritten(data[1:])
        if sent is not None:
            before, after = URLItem.FromString(data[1:]), URLItem.FromString(sent)
            assert before.discovered.info.url == after.discovered.info.url
    else:
        sent = _stream(BatchStream).rewritten(data[1:])
        urls = {info.url for info in DiscoveredBatch.FromString(data[1:]).items}
        assert sent is None or {info.url for info in DiscoveredBatch.FromString(sent).items} <= urls
