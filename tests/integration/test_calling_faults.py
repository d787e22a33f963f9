"""Agents that call out and misbehave, and coordinators that do: over real sockets, by hand-made requests."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from pathlib import Path
from random import Random
from typing import Any

import aiohttp
import pytest

from ipmicra.edge.agent.calling import Backoff, CallingConfig
from ipmicra.edge.agent.identity import AgentIdentity
from ipmicra.edge.agent.link import CoordinatorLink, NotNowError, call_session
from ipmicra.edge.coordinator.access import hash_of, make_token
from ipmicra.edge.coordinator.agent_client import ClientConfig
from ipmicra.edge.coordinator.avoiding import AvoidingConfig
from ipmicra.edge.store.store import Store
from ipmicra.model.crawler import CrawlerState
from ipmicra.model.probe import Probe
from ipmicra.model.sample import Loss, Rung, Sample
from ipmicra.model.token import Role
from ipmicra.wire.joining import JoinRequest, decode_join_token
from tests.patience import PATIENCE_S, run, until
from tests.servers.switchboard import QUICK, Board, calling, coordinating
from tests.servers.talking import talking


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "state.db")) as opened:
        yield opened


@dataclass
class HandMade:
    """An agent whose requests are written by the test."""

    board: Board
    session: aiohttp.ClientSession
    crawler: str = "fra"
    boot: str = "boot-1"
    token: str = field(default_factory=lambda: make_token(Role.AGENT))
    cursor: str = ""

    async def join(self) -> None:
        invited = decode_join_token(self.board.invite(self.crawler))
        request = JoinRequest(
            fleet=invited.fleet, key_hash=hash_of(self.token), address=ip_address("198.51.100.9")
        )
        await self.board.membership.join(invited.secret, request, "127.0.0.1")

    async def post(self, path: str, **content: Any) -> tuple[int, dict[str, Any]]:
        body = {"version": 1, "boot": self.boot, **content}
        headers = {"Authorization": f"Bearer {self.token}"}
        url = f"{self.board.url}/v1/agents/{path}"
        async with self.session.post(url, data=json.dumps(body), headers=headers) as response:
            return response.status, json.loads(await response.read())

    async def poll(self, *, confirms: bool = True, **content: Any) -> list[dict[str, Any]]:
        status, answer = await self.post("poll", cursor=self.cursor, **content)
        assert status == 200, answer
        if confirms:
            self.cursor = answer["cursor"]
        works: list[dict[str, Any]] = answer["works"]
        return works

    async def answer(self, order: dict[str, Any], rtt_ms: float = 3.0, **more: Any) -> int:
        found = {
            "order": order["id"],
            "address": order["address"],
            "rtt_ms": rtt_ms,
            "all_ms": [rtt_ms],
            "rung": "tcp",
            "taken_s": time.time(),
            **more,
        }
        status, answer = await self.post("results", answers=[found])
        assert status == 200, answer
        used: int = answer["used"]
        return used


def probes(count: int, crawler: str = "fra") -> list[Probe]:
    return [Probe(crawler=crawler, address=ip_address(f"198.51.100.{i}")) for i in range(1, count + 1)]


async def asked(board: Board, wanted: list[Probe], **settings: Any) -> list[Sample]:
    async with board.desk(**settings) as desk:
        return [sample async for sample in desk.probe(wanted)]


def orders_of(works: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [order for work in works for order in work["probe"]["orders"]]


def with_agent(store: Store, scenario: Callable[[Board, HandMade], Awaitable[None]]) -> None:
    async def whole() -> None:
        async with coordinating(store) as board, aiohttp.ClientSession() as session:
            agent = HandMade(board, session)
            await agent.join()
            await scenario(board, agent)

    run(whole)


def test_answers_that_come_twice_late_or_for_nobody_are_ignored(store: Store) -> None:
    async def scenario(board: Board, agent: HandMade) -> None:
        polling = asyncio.create_task(agent.poll())
        asking = asyncio.create_task(asked(board, probes(2)))
        first, second = orders_of(await polling)
        assert await agent.answer(first) == 1
        assert await agent.answer(first, 1.0) == 0
        assert await agent.answer({**first, "id": "never-ordered"}) == 0
        assert await agent.answer(second) == 1
        samples = await asking
        assert await agent.answer(second, 1.0) == 0
        assert [sample.rtt_ms for sample in samples] == [3.0, 3.0]
        assert store.samples.count() == 2
        assert board.switchboard.ignored("fra") == 3

    with_agent(store, scenario)


def test_agent_cannot_answer_for_another(store: Store) -> None:
    async def scenario(board: Board, agent: HandMade) -> None:
        other = HandMade(board, agent.session, "nyc", "boot-2")
        await other.join()
        polling = asyncio.create_task(agent.poll())
        asking = asyncio.create_task(asked(board, probes(1)))
        (order,) = orders_of(await polling)
        assert await other.answer(order, 0.5) == 0
        assert await agent.answer(order) == 1
        (sample,) = await asking
        assert (sample.crawler, sample.rtt_ms) == ("fra", 3.0)

    with_agent(store, scenario)


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        ({"rtt_ms": 59_000.0, "all_ms": [59_000.0]}, "59000 ms of round trips within"),
        ({"rtt_ms": 1e-9, "all_ms": [1e-9]}, "cannot be measured"),
        ({"address": "203.0.113.1"}, "probed 203.0.113.1 instead"),
    ],
)
def test_implausible_answers_are_not_believed(store: Store, claim: dict[str, Any], reason: str) -> None:
    async def scenario(board: Board, agent: HandMade) -> None:
        polling = asyncio.create_task(agent.poll())
        asking = asyncio.create_task(asked(board, probes(1)))
        (order,) = orders_of(await polling)
        await agent.answer(order, **claim)
        (sample,) = await asking
        assert sample.loss is Loss.AGENT
        assert reason in sample.detail

    with_agent(store, scenario)


def test_clock_of_an_agent_that_jumps_is_replaced_by_ours(store: Store) -> None:
    async def scenario(board: Board, agent: HandMade) -> None:
        polling = asyncio.create_task(agent.poll())
        asking = asyncio.create_task(asked(board, probes(1)))
        (order,) = orders_of(await polling)
        await agent.answer(order, taken_s=4e9)
        (sample,) = await asking
        assert abs(sample.taken_s - time.time()) < PATIENCE_S
        assert "clock is off" in sample.detail

    with_agent(store, scenario)


def test_work_whose_answer_was_lost_is_handed_over_again(store: Store) -> None:
    async def scenario(board: Board, agent: HandMade) -> None:
        polling = asyncio.create_task(agent.poll(confirms=False))
        asking = asyncio.create_task(asked(board, probes(1)))
        lost = await polling
        again = await agent.poll()
        assert again == lost
        (order,) = orders_of(again)
        assert await agent.poll(wait_s=0) == []
        await agent.answer(order)
        assert [sample.rung for sample in await asking] == [Rung.TCP]

    with_agent(store, scenario)


def test_full_agent_gets_no_more_than_it_can_take(store: Store) -> None:
    async def scenario(board: Board, agent: HandMade) -> None:
        asking = asyncio.create_task(asked(board, probes(6), batch=2))
        await asyncio.sleep(0.1)
        assert len(orders_of(await agent.poll(capacity=5, wait_s=0))) == 4
        assert orders_of(await agent.poll(capacity=1, wait_s=0)) == []
        assert len(orders_of(await agent.poll(capacity=2, wait_s=0))) == 2
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)

    with_agent(store, scenario)


def test_refused_work_costs_nothing(store: Store) -> None:
    async def scenario(board: Board, agent: HandMade) -> None:
        polling = asyncio.create_task(agent.poll())
        asking = asyncio.create_task(asked(board, probes(2)))
        (work,) = await polling
        refusal = {"work": work["id"], "reason": "too many orders are pending"}
        await agent.post("results", refusals=[refusal])
        assert {sample.loss for sample in await asking} == {Loss.AGENT}
        assert store.budget.state("probes").spent == 0

    with_agent(store, scenario)


def test_agent_that_polls_and_never_answers_costs_a_deadline_and_stays_paid(store: Store) -> None:
    async def scenario(board: Board, agent: HandMade) -> None:
        async def keep_polling() -> None:
            while True:
                await agent.poll(wait_s=0.2)

        polling = asyncio.create_task(keep_polling())
        hasty = ClientConfig(slack_s=1.0, head_s=0.5)
        samples = await asked(board, probes(1), timeout_ms=10.0, wait_ms=0.0, client=hasty)
        polling.cancel()
        await asyncio.gather(polling, return_exceptions=True)
        assert [sample.loss for sample in samples] == [Loss.AGENT]
        assert store.budget.state("probes").spent == 1

    with_agent(store, scenario)


def test_agent_that_never_polls_gets_nothing_and_costs_nothing(store: Store) -> None:
    async def scenario(board: Board, _agent: HandMade) -> None:
        samples = await asked(board, probes(3))
        assert {sample.loss for sample in samples} == {Loss.AGENT}
        assert store.budget.state("probes").spent == 0

    with_agent(store, scenario)


def test_agent_that_polls_and_fetches_nothing_holds_up_orders_once(store: Store) -> None:
    """It says that it has no room, however long it is asked: then it is avoided, and others decide."""

    async def scenario(board: Board, agent: HandMade) -> None:
        async def keep_polling() -> None:
            while True:
                await agent.poll(capacity=0, wait_s=0.1)

        polling = asyncio.create_task(keep_polling())
        async with board.desk(avoiding=AvoidingConfig(first_s=PATIENCE_S)) as desk:
            first = [sample async for sample in desk.probe(probes(1))]
            began_s = time.monotonic()
            later = [sample async for sample in desk.probe(probes(3))]
            assert time.monotonic() - began_s < QUICK.pickup_s
        polling.cancel()
        await asyncio.gather(polling, return_exceptions=True)
        assert "does not fetch orders" in first[0].detail
        assert {sample.detail for sample in later} == {"it failed a moment ago and is not asked for a while"}
        assert store.budget.state("probes").spent == 0

    with_agent(store, scenario)


def test_half_closed_and_cut_polls_are_noticed_and_lose_nothing(store: Store) -> None:
    """A connection that ends while its poll is held must not swallow the work that comes next."""

    async def scenario(board: Board, agent: HandMade) -> None:
        body = json.dumps({"version": 1, "boot": agent.boot, "cursor": ""}).encode()
        head = (
            "POST /v1/agents/poll HTTP/1.1\r\nHost: a\r\n"
            f"Authorization: Bearer {agent.token}\r\nContent-Length: {len(body)}\r\n\r\n"
        ).encode()
        port = int(board.url.rpartition(":")[2])
        for is_half in (True, False):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(head + body)
            await writer.drain()
            await asyncio.sleep(0.1)
            if is_half:
                writer.write_eof()
                assert await reader.read() == b""
            writer.close()
        await asyncio.sleep(0.1)
        asking = asyncio.create_task(asked(board, probes(1)))
        (order,) = orders_of(await agent.poll())
        await agent.answer(order)
        assert [sample.rung for sample in await asking] == [Rung.TCP]

    with_agent(store, scenario)


def test_slow_body_of_a_poll_is_cut_off(store: Store) -> None:
    async def scenario(board: Board, agent: HandMade) -> None:
        port = int(board.url.rpartition(":")[2])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(
            f"POST /v1/agents/poll HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {agent.token}\r\n"
            "Content-Length: 100\r\n\r\n{".encode()
        )
        assert b" 408 " in await reader.readline()
        writer.close()

    with_agent(store, scenario)


@pytest.mark.parametrize(
    ("path", "content", "status"),
    [
        ("poll", {"surprise": 1}, 400),
        ("poll", {"capacity": -1}, 400),
        ("poll", {"version": 2}, 400),
        ("results", {"answers": [{"order": "x"}]}, 400),
        ("results", {"answers": [{}] * 1_001}, 400),
        ("poll", {"software": "x" * 20_000}, 413),
    ],
)
def test_malformed_and_oversized_requests_are_refused(
    store: Store, path: str, content: dict[str, Any], status: int
) -> None:
    async def scenario(_board: Board, agent: HandMade) -> None:
        found, problem = await agent.post(path, **content)
        assert (found, problem["status"]) == (status, status)

    with_agent(store, scenario)


def test_agent_joins_again_after_a_lost_answer_and_nobody_else_does(store: Store) -> None:
    async def scenario() -> None:
        async with coordinating(store) as board:
            invited = decode_join_token(board.invite())
            request = JoinRequest(
                fleet=invited.fleet, key_hash=b"\1" * 32, address=ip_address("198.51.100.9")
            )
            first = await board.membership.join(invited.secret, request, "127.0.0.1")
            assert await board.membership.join(invited.secret, request, "127.0.0.1") == first

    run(scenario)


def test_draining_crawler_keeps_draining_while_its_agent_comes_and_goes(store: Store) -> None:
    async def scenario(board: Board, agent: HandMade) -> None:
        board.membership.fleet().drain("fra")
        await agent.poll(wait_s=0)
        board.membership.look()
        await until(lambda: not board.switchboard.is_present("fra"))
        board.membership.look()
        assert board.crawlers()["fra"].state is CrawlerState.DRAINING

    with_agent(store, scenario)


# --- the agent's side


def test_agents_come_back_at_different_times() -> None:
    """A thousand agents lose their coordinator at the same moment."""
    config = CallingConfig()
    backoffs = [Backoff(config, Random(seed)) for seed in range(1_000)]
    for bound_s in (1.0, 2.0, 4.0, 8.0, 15.0, 15.0):
        pauses = sorted(one.pause_s() for one in backoffs)
        busiest = max(
            sum(start <= pause < start + bound_s / 10 for pause in pauses)
            for start in (bound_s * tenth / 10 for tenth in range(10))
        )
        assert busiest < 150
        assert pauses[-1] <= bound_s
    backoffs[0].reset()
    assert backoffs[0].pause_s() <= 1.0


def test_retry_after_is_honoured_and_bounded() -> None:
    backoff = Backoff(CallingConfig(), Random(1))
    assert 30.0 <= backoff.pause_s(30.0) <= 31.0
    assert backoff.pause_s(1e9) < 620.0


def test_agent_leaves_a_coordinator_alone_for_as_long_as_it_asks(tmp_path: Path) -> None:
    asked_at: list[float] = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        asked_at.append(time.monotonic())
        writer.write(b"HTTP/1.1 503 Busy\r\nRetry-After: 1\r\nContent-Length: 2\r\n\r\n{}")
        await writer.drain()

    async def scenario() -> None:
        async with talking(talk) as port, call_session() as session:
            identity = AgentIdentity(fleet="0" * 16, url=f"http://127.0.0.1:{port}", token="t")
            link = CoordinatorLink(session, identity)
            with pytest.raises(NotNowError) as caught:
                await link.post("/v1/agents/poll", b"{}", 5.0)
            assert caught.value.retry_s == 1.0

    run(scenario)
    assert len(asked_at) == 1


@pytest.mark.parametrize(
    "answer",
    [
        b"garbage\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nnot json!",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{",
        b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
        b'HTTP/1.1 200 OK\r\nContent-Length: 38\r\n\r\n{"version":9,"cursor":"a","works":[]}  ',
        b"",
    ],
)
def test_agent_survives_a_coordinator_that_answers_nonsense(
    tmp_path: Path, store: Store, answer: bytes
) -> None:
    """After the nonsense the real coordinator is back on the same port."""
    visits = 0

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal visits
        visits += 1
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()

    async def scenario() -> None:
        made = socket.create_server(("127.0.0.1", 0))
        place = made.getsockname()
        async with coordinating(store, made=made) as board:
            agent = calling(board.invite(), tmp_path)
            caller = await agent.__aenter__()
            await until(lambda: board.switchboard.is_present("fra"))
        server = await asyncio.start_server(talk, *place[:2])
        await until(lambda: visits >= 2)
        server.close()
        await server.wait_closed()
        async with coordinating(
            store, made=socket.create_server(place), config=replace(QUICK, hold_s=0.2)
        ) as board:
            board.switchboard.client("fra")
            await until(lambda: caller._cursor.startswith(board.switchboard._epoch))
        await agent.__aexit__(None, None, None)

    run(scenario)
