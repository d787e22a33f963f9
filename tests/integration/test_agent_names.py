"""Agents that resolve names where they stand, over real sockets and real DNS servers on loopback."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from ipaddress import IPv4Address, ip_address
from typing import Any

import pytest

from ipmicra.app.agent import AgentOptions
from ipmicra.edge.agent.names import NamesConfig, NameService
from ipmicra.edge.coordinator.agent_client import AgentAccess, ClientConfig, agent_session
from ipmicra.edge.coordinator.names import NameDesk, NameDeskConfig
from ipmicra.errors import InputError
from ipmicra.model.crawler import Crawler
from ipmicra.model.name import NameAnswer, NameStatus, View
from ipmicra.wire.limits import LIMITS
from ipmicra.wire.names import NamesRequest
from tests.patience import PATIENCE_S
from tests.servers.agent import TOKEN, RunningAgent
from tests.servers.agent_process import started_agent
from tests.servers.dns_server import DnsServer, Zone
from tests.servers.evil_agent import HEAD, EvilAgent

POOL = tuple(f"198.20.{i // 250}.{i % 250 + 1}" for i in range(1000))
ZONES = {
    "plain.example": Zone(addresses=("8.8.4.4", "8.8.8.8")),
    "six.example": Zone(addresses=("2a00::1",)),
    "alias.example": Zone(alias="cdn.example", addresses=("9.9.9.9",)),
    "loop.example": Zone(alias="loop.example"),
    "inside.example": Zone(addresses=("10.0.0.1", "169.254.169.254")),
    "mixed.example": Zone(addresses=("10.0.0.1", "9.9.9.9")),
    "pool.example": Zone(addresses=POOL, is_cut=True),
    "quiet.example": Zone(silent=99),
    "broken.example": Zone(rcode=2),
    "garbage.example": Zone(garbage=b"\x81\x80nonsense"),
}
NAMES = [*ZONES, "gone.example"]


@pytest.fixture(scope="module")
def dns() -> Iterator[DnsServer]:
    with DnsServer(ZONES) as server:
        yield server


@pytest.fixture(scope="module")
def agent(dns: DnsServer) -> Iterator[RunningAgent]:
    with RunningAgent(dns_place=dns.place) as running:
        yield running


def asked(
    urls: dict[str, str], names: list[str], token: str = TOKEN, **more: Any
) -> tuple[list[View], NameDesk]:
    """Ask agents for names through a desk."""
    config = NameDeskConfig(client=ClientConfig(head_s=1.0, slack_s=1.0, grace_s=0.5), **more)
    crawlers = {
        name: Crawler(name=name, address=IPv4Address(i), agent_url=url)
        for i, (name, url) in enumerate(urls.items(), 1)
    }

    async def ask() -> tuple[list[View], NameDesk]:
        async with agent_session() as session, asyncio.timeout(PATIENCE_S):
            desk = NameDesk(crawlers, session, AgentAccess(token=token), config)
            return await desk.ask(dict.fromkeys(urls, names)), desk

    return asyncio.run(ask())


def test_agent_tells_what_its_own_resolver_says(agent: RunningAgent) -> None:
    """Every kind of answer comes back as what it is; addresses that are not public are left out."""
    views, desk = asked({"ath": agent.url}, NAMES)
    found = {view.answer.name: view.answer for view in views}
    assert {name: answer.status.value for name, answer in found.items()} == {
        "plain.example": "found",
        "six.example": "found",
        "alias.example": "found",
        "loop.example": "timeout",
        "inside.example": "forbidden",
        "mixed.example": "found",
        "pool.example": "found",
        "quiet.example": "timeout",
        "broken.example": "servfail",
        "garbage.example": "timeout",
        "gone.example": "nxdomain",
    }
    assert [str(one) for one in found["plain.example"].addresses] == ["8.8.4.4", "8.8.8.8"]
    assert [str(one) for one in found["six.example"].addresses] == ["2a00::1"]
    assert [str(one) for one in found["alias.example"].addresses] == ["9.9.9.9"]
    assert [str(one) for one in found["mixed.example"].addresses] == ["9.9.9.9"]
    assert [str(one) for one in found["pool.example"].addresses] == list(POOL[: LIMITS.max_addresses])
    assert 200 < found["plain.example"].expires_s - time.time() <= 300
    assert found["quiet.example"].expires_s <= time.time(), "a failure is not kept"
    assert (desk.requests, desk.asked, desk.troubles) == (1, len(NAMES), {})


def test_many_names_travel_in_few_requests(agent: RunningAgent, dns: DnsServer) -> None:
    names = [f"n{i}.example" for i in range(250)]
    views, desk = asked({"ath": agent.url}, names, batch=100)
    assert (len(views), desk.requests) == (250, 3)
    assert set(names) <= set(dns.asked)


def test_time_of_a_request_ends_all_its_names(agent: RunningAgent) -> None:
    start_s = time.monotonic()
    views, _ = asked({"ath": agent.url}, ["quiet.example", "plain.example"], timeout_ms=150.0)
    assert time.monotonic() - start_s < PATIENCE_S / 2
    assert {view.answer.name: view.answer.status for view in views} == {
        "quiet.example": NameStatus.TIMEOUT,
        "plain.example": NameStatus.FOUND,
    }


def test_agent_keeps_its_own_pace_whatever_is_asked(dns: DnsServer) -> None:
    """Two names may come at once, then one each 10 s: the rest is not asked of the DNS at all."""
    pace = NamesConfig(per_second=0.1, burst=2)
    with RunningAgent(dns_place=dns.place, names=pace) as agent:
        before = dns.asked.total()
        names = [f"p{i}.example" for i in range(20)]
        views, desk = asked({"ath": agent.url}, names, timeout_ms=5000.0, busy_s=0.01)
        assert dns.asked.total() == before + 2
    statuses = [view.answer.status for view in views]
    assert (statuses.count(NameStatus.NXDOMAIN), statuses.count(NameStatus.BUSY)) == (2, 18)
    assert (desk.requests, desk.asked) == (2, 38), "they are asked for again, once"


def test_agent_refuses_more_names_than_it_can_hold(dns: DnsServer) -> None:
    with RunningAgent(dns_place=dns.place, names=NamesConfig(max_pending=3)) as agent:
        views, desk = asked({"ath": agent.url}, [f"m{i}.example" for i in range(4)])
        assert views == []
        assert "too many names are pending" in desk.troubles["ath"]
        assert len(asked({"ath": agent.url}, ["plain.example"])[0]) == 1


def test_operator_can_turn_resolving_off(dns: DnsServer) -> None:
    with RunningAgent(dns_place=dns.place, names=NamesConfig(per_second=0.0)) as agent:
        views, desk = asked({"ath": agent.url}, ["plain.example"])
        assert agent.get("/health").json()["resolves"] is False
    assert views == []
    assert "turned that off" in desk.troubles["ath"]


def test_agent_is_no_resolver_for_strangers_or_for_other_records(agent: RunningAgent, dns: DnsServer) -> None:
    before = dns.asked.total()
    views, desk = asked({"ath": agent.url}, ["plain.example"], token="another-token-altogether")
    assert (views, "a bearer token is needed" in desk.troubles["ath"]) == ([], True)
    for names in (["plain.example\r\nX: y"], ["."], ["*.example"], ["_x/y"], [7], {"a": 1}, ["a" * 300]):
        assert agent.post({"version": 1, "names": names}, "/resolve").status_code == 400
    assert agent.post({"version": 1, "names": ["a.example"], "kind": "TXT"}, "/resolve").status_code == 400
    assert agent.post({"version": 9, "names": ["a.example"]}, "/resolve").status_code == 422
    assert agent.get("/resolve").status_code == 405
    assert dns.asked.total() == before


def test_names_are_counted_for_prometheus(agent: RunningAgent) -> None:
    asked({"ath": agent.url}, ["inside.example"])
    assert 'ipmicra_agent_names_total{status="forbidden"}' in agent.get("/metrics").text


def test_agent_of_an_earlier_version_is_told_apart_and_the_others_count(agent: RunningAgent) -> None:
    old = b"HTTP/1.1 404 Not Found\r\ncontent-length: 9\r\nConnection: close\r\n\r\nNot Found"
    with EvilAgent(lambda _: old) as evil:
        views, desk = asked({"old": evil.url, "ath": agent.url}, ["plain.example"], batch=1)
    assert [view.crawler for view in views] == ["ath"]
    assert "earlier version" in desk.troubles["old"]
    assert len(evil.requests) == 1


def name_line(name: str = "plain.example", **changes: object) -> bytes:
    fields = {
        "version": 1,
        "kind": "name",
        "name": name,
        "status": "found",
        "addresses": ["8.8.8.8"],
        "ttl_s": 9,
    }
    return json.dumps({**fields, **changes}).encode() + b"\n"


END = b'{"version":1,"kind":"end","count":1}\n'


def test_name_that_was_too_much_for_an_agent_is_asked_for_again() -> None:
    busy = HEAD + name_line(status="busy", addresses=[]) + END
    with EvilAgent(lambda _: busy, lambda _: HEAD + name_line() + END) as agent:
        (view,), desk = asked({"ath": agent.url}, ["plain.example"], busy_s=0.01)
    assert view.answer.status is NameStatus.FOUND
    assert desk.requests == 2


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        pytest.param(name_line("other.example") + END, "not given", id="a name that nobody asked for"),
        pytest.param(name_line() * 2 + END, "twice", id="one name twice"),
        pytest.param(END, "without an answer", id="no answer"),
        pytest.param(name_line(), "ends before its end", id="no end"),
        pytest.param(name_line(addresses=[]), "makes no sense", id="found without an address"),
        pytest.param(name_line(status="nxdomain"), "makes no sense", id="an address of nothing"),
        pytest.param(name_line(status="lovely"), "makes no sense", id="an unknown status"),
        pytest.param(name_line(addresses=list(POOL)), "makes no sense", id="a thousand addresses"),
        pytest.param(name_line(addresses=["fe80::1%eth0"]), "makes no sense", id="a scope"),
        pytest.param(name_line(addresses=["8.8.8.8"] * 2), "makes no sense", id="an address twice"),
        pytest.param(name_line(ttl_s=1e12), "makes no sense", id="for ever"),
        pytest.param(b"x" * 100_000, "longer than any honest one", id="an endless line"),
        pytest.param(b'{"version":2,"kind":"end","count":1}\n', "makes no sense", id="another version"),
        pytest.param(b"\xff\n", "makes no sense", id="no text"),
    ],
)
def test_hostile_answer_about_names_is_a_finding_and_the_honest_ones_count(
    agent: RunningAgent, said: bytes, reason: str
) -> None:
    with EvilAgent(lambda _: HEAD + said) as evil:
        views, desk = asked({"evil": evil.url, "ath": agent.url}, ["plain.example"])
    assert reason in desk.troubles["evil"]
    assert "ath" in {view.crawler for view in views}
    assert {view.answer.name for view in views} == {"plain.example"}


def test_agent_that_stalls_over_names_costs_a_deadline(agent: RunningAgent) -> None:
    with EvilAgent(lambda _: [HEAD, *[b" "] * 1000]) as evil:
        start_s = time.monotonic()
        views, desk = asked({"evil": evil.url, "ath": agent.url}, ["plain.example"], timeout_ms=500.0)
        assert time.monotonic() - start_s < PATIENCE_S / 2
    assert [view.crawler for view in views] == ["ath"]
    assert "evil" in desk.troubles


def test_lifetime_that_an_agent_claims_is_bounded() -> None:
    with EvilAgent(lambda _: HEAD + name_line(ttl_s=0) + END) as hasty:
        (view,), _ = asked({"evil": hasty.url}, ["plain.example"])
    assert 25 < view.answer.expires_s - time.time() <= 30
    with EvilAgent(lambda _: HEAD + name_line(ttl_s=604_800) + END) as lasting:
        (view,), _ = asked({"evil": lasting.url}, ["plain.example"])
    assert view.answer.expires_s - time.time() <= 86_400


def test_client_that_leaves_ends_the_names_it_asked_for() -> None:
    class Slow:
        cancelled = 0

        async def ask(self, name: str) -> NameAnswer:
            try:
                await asyncio.sleep(PATIENCE_S)
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
            return NameAnswer(name=name, status=NameStatus.NXDOMAIN)

    class Mixed(Slow):
        async def ask(self, name: str) -> NameAnswer:
            if name == "quick.example":
                return NameAnswer(name=name, status=NameStatus.FOUND, addresses=(ip_address("8.8.8.8"),))
            return await super().ask(name)

    async def leave() -> tuple[int, int]:
        client = Mixed()
        service = NameService(client, lambda _: None)
        answers = service.answers(NamesRequest(names=("quick.example", "a.example", "b.example")))
        first = await anext(answers)
        assert [one.name for one in first] == ["quick.example"]
        await answers.aclose()  # type: ignore[attr-defined]
        await asyncio.sleep(0)
        return client.cancelled, service.pending

    assert asyncio.run(leave()) == (2, 0)


def test_operator_names_the_server_that_an_agent_asks(dns: DnsServer) -> None:
    """The command of an operator: two agents ask two servers and see two things."""
    with DnsServer({"plain.example": Zone(addresses=("9.9.9.9",))}) as elsewhere:
        started = [started_agent("--dns", "{}:{}".format(*server.place)) for server in (dns, elsewhere)]
        try:
            urls = {f"c{i}": url for i, (_, url) in enumerate(started)}
            views, _ = asked(urls, ["plain.example"])
        finally:
            for child, _ in started:
                child.terminate()
                child.communicate()
    assert {view.crawler: str(view.answer.addresses[0]) for view in views} == {
        "c0": "8.8.4.4",
        "c1": "9.9.9.9",
    }


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("9.9.9.9", ("9.9.9.9", 53)),
        ("127.0.0.1:5353", ("127.0.0.1", 5353)),
        ("::1", ("::1", 53)),
        ("2a00::1:53", ("2a00::1:53", 53)),
        ("[::1]", ("::1", 53)),
        ("[2a00::1]:5353", ("2a00::1", 5353)),
    ],
)
def test_dns_server_is_named_by_its_address(text: str, place: tuple[str, int]) -> None:
    assert options(text).settings().dns.servers == (place,)


@pytest.mark.parametrize(
    "text", ["", ":53", "ns.example", "ns.example:53", "9.9.9.9:0", "9.9.9.9:99999", "a b"]
)
def test_dns_server_without_an_address_is_refused_with_the_form_to_use(text: str) -> None:
    with pytest.raises(InputError, match="must look like ADDRESS"):
        options(text).settings()


def options(server: str) -> AgentOptions:
    return AgentOptions(listen="127.0.0.1:0", concurrency=1, interval_s=1.0, burst=1, dns=(server,))
