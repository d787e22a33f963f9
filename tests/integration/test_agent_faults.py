"""What the coordinator makes of agents that die, lie or talk nonsense; the budget is never overdrawn."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from ipmicra.edge.coordinator.agent_client import AgentAccess, ClientConfig
from ipmicra.edge.coordinator.orders import DeskConfig, OrderDesk
from ipmicra.edge.store.ports import BudgetState
from ipmicra.edge.store.store import Store
from ipmicra.model.crawler import Crawler, CrawlerState
from ipmicra.model.probe import Probe
from ipmicra.model.sample import Loss, Rung, Sample
from tests.patience import PATIENCE_S
from tests.servers.agent import TOKEN, RunningAgent
from tests.servers.agent_process import started_agent
from tests.servers.evil_agent import HEAD, EvilAgent, answer_line, end_line, honest
from tests.servers.refusing import refusing_port

ADDRESS = ip_address("193.0.6.139")
PROBES = [Probe(crawler="ath", address=ip_address(f"193.0.6.{i}")) for i in range(1, 6)]
CONFIG = DeskConfig(client=ClientConfig(connect_s=PATIENCE_S, head_s=PATIENCE_S))


def crawlers(url: str) -> dict[str, Crawler]:
    return {"ath": Crawler(name="ath", address=ADDRESS, agent_url=url)}


def taken(
    store: Store, url: str, probes: list[Probe] = PROBES, states: list[CrawlerState] | None = None
) -> list[Sample]:
    async def take() -> list[Sample]:
        desk = OrderDesk(
            store,
            crawlers(url),
            AgentAccess(token=TOKEN),
            CONFIG,
            on_state=lambda _name, state: states.append(state) if states is not None else None,
        )
        async with desk:
            return [sample async for sample in desk.probe(probes)]

    return asyncio.run(asyncio.wait_for(take(), PATIENCE_S))


def recovered(store: Store, url: str) -> list[Sample]:
    async def recover() -> list[Sample]:
        async with OrderDesk(store, crawlers(url), AgentAccess(token=TOKEN), CONFIG) as desk:
            return [sample async for sample in desk.recover()]

    return asyncio.run(asyncio.wait_for(recover(), PATIENCE_S))


@pytest.fixture
def store() -> Iterator[Store]:
    with Store.open("sqlite://") as opened:
        opened.budget.open("probes", 100)
        yield opened


Talk = Callable[[dict[str, Any]], bytes]


@pytest.mark.parametrize(
    ("talk", "words"),
    [
        pytest.param(lambda _: b"", "broke off", id="says nothing"),
        pytest.param(lambda _: b"\x00\xff garbage \n" * 99, "broke off", id="garbage instead of HTTP"),
        pytest.param(lambda _: HEAD + b"\xff garbage\n", "makes no sense", id="garbage instead of JSON"),
        pytest.param(lambda _: HEAD + b'{"version": 1, "kind": "ans', "makes no sense", id="half a JSON"),
        pytest.param(lambda _: HEAD, "ends before its end", id="empty answer"),
        pytest.param(lambda r: HEAD + end_line(r), "without an answer", id="an end and no answers"),
        pytest.param(lambda r: honest(r, version=9), "version '9'", id="another version"),
        pytest.param(lambda r: honest(r, order="other"), "not given", id="answers to other orders"),
        pytest.param(
            lambda _: HEAD + b"x" * 10_000_000, "longer than any honest", id="ten megabytes on a line"
        ),
        pytest.param(
            lambda _: HEAD + b'{"version":1}\n' * 800_000, "makes no sense", id="ten megabytes in lines"
        ),
        pytest.param(
            lambda _: b"HTTP/1.1 500 Oops\r\nConnection: close\r\n\r\nno", "status 500", id="an error page"
        ),
        pytest.param(
            lambda _: b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nConnection: close\r\n\r\n",
            "status 302",
            id="a redirect",
        ),
        pytest.param(
            lambda _: b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n{}",
            "makes no sense|broke off",
            id="a cut body",
        ),
    ],
)
def test_nonsense_is_a_loss_by_the_agent_and_stays_paid(store: Store, talk: Talk, words: str) -> None:
    states: list[CrawlerState] = []
    with EvilAgent(talk) as agent:
        samples = taken(store, agent.url, states=states)
    assert [sample.loss for sample in samples] == [Loss.AGENT] * 5
    assert any(word in samples[0].detail for word in words.split("|")), samples[0].detail
    assert store.budget.state("probes").spent == 5
    assert store.budget.unanswered("probes") == []
    assert store.samples.count() == 5
    assert states[-1] is CrawlerState.UNREACHABLE
    assert [request["only_repeat"] for request in agent.requests] == [False, True]


def test_answers_before_the_nonsense_count(store: Store) -> None:
    def half(request: dict[str, Any]) -> bytes:
        return HEAD + b"".join(map(answer_line, request["orders"][:2])) + b"garbage\n"

    with EvilAgent(half, lambda _: b"") as agent:
        samples = taken(store, agent.url)
    assert sorted((sample.loss or "") for sample in samples) == ["", "", "agent", "agent", "agent"]
    assert len(agent.requests[1]["orders"]) == 3


def test_answer_that_two_coordinators_got_is_written_once(store: Store) -> None:
    """The second took the first for gone and asked for its orders; then the first hears the answers, too."""
    is_recovered = threading.Event()

    def late(request: dict[str, Any]) -> bytes:
        is_recovered.wait(PATIENCE_S)
        return honest(request)

    async def both(url: str) -> tuple[list[Sample], list[Sample]]:
        one, two = (OrderDesk(store, crawlers(url), AgentAccess(token=TOKEN), CONFIG) for _ in "12")
        async with one, two:
            first = asyncio.create_task(_collected(one.probe(PROBES)))
            while len(agent.requests) < 1:  # noqa: ASYNC110 - of another thread
                await asyncio.sleep(0.01)
            second = await _collected(two.recover())
            is_recovered.set()
            return await first, second

    with EvilAgent(late, honest) as agent:
        samples, again = asyncio.run(asyncio.wait_for(both(agent.url), PATIENCE_S))
    assert [one.loss for one in (*samples, *again)] == [None] * 10
    assert store.samples.count() == 5
    assert store.budget.unanswered("probes") == []


async def _collected(samples: AsyncIterator[Sample]) -> list[Sample]:
    return [one async for one in samples]


def test_line_that_breaks_is_mended_by_asking_for_a_repeat(store: Store) -> None:
    def cut(request: dict[str, Any]) -> bytes:
        return HEAD + answer_line(request["orders"][0])

    with EvilAgent(cut, honest) as agent:
        samples = taken(store, agent.url)
    assert [sample.loss for sample in samples] == [None] * 5
    assert agent.requests[1]["only_repeat"] is True
    assert store.budget.state("probes").spent == 5


@pytest.mark.parametrize("taken_s", [0, 1, 4e9, 4e11])
def test_lying_clock_is_replaced_by_ours_and_told(store: Store, taken_s: float) -> None:
    with EvilAgent(lambda request: honest(request, taken_s=taken_s)) as agent:
        samples = taken(store, agent.url)
    for sample in samples:
        assert abs(sample.taken_s - time.time()) < 60
        assert "clock is off" in sample.detail
        assert sample.rtt_ms == 0.5


def test_round_trip_longer_than_the_whole_exchange_is_not_believed(store: Store) -> None:
    with EvilAgent(lambda r: honest(r, rtt_ms=50_000, all_ms=[50_000])) as agent:
        samples = taken(store, agent.url)
    assert {sample.loss for sample in samples} == {Loss.AGENT}
    assert "not believed" in samples[0].detail


def test_sample_of_another_address_is_not_believed(store: Store) -> None:
    with EvilAgent(lambda r: honest(r, address="8.8.8.8")) as agent:
        samples = taken(store, agent.url)
    assert {sample.loss for sample in samples} == {Loss.AGENT}
    assert {sample.address for sample in samples} == {probe.address for probe in PROBES}


def test_agent_that_cannot_be_reached_costs_nothing(store: Store) -> None:
    states: list[CrawlerState] = []
    with refusing_port() as closed:
        samples = taken(store, f"http://127.0.0.1:{closed}", states=states)
    assert {sample.loss for sample in samples} == {Loss.AGENT}
    assert store.budget.state("probes").spent == 0
    assert states == [CrawlerState.UNREACHABLE]


def test_agent_that_does_not_let_us_in_costs_nothing_and_says_why(store: Store) -> None:
    with RunningAgent(token="another-token-than-ours") as agent:
        samples = taken(store, agent.url)
    assert "401" in samples[0].detail
    assert store.budget.state("probes").spent == 0


def test_agent_killed_in_the_middle_of_a_batch_is_a_loss_and_stays_paid(store: Store) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        place = silent.getsockname()[1]
        child, url = started_agent("--allow", "127.0.0.0/8", "--allow-port", str(place))
        probes = [Probe(crawler="ath", address=ip_address("127.0.0.1"), port=place, scheme="http")] * 3

        async def take() -> list[Sample]:
            config = DeskConfig(first_rung=Rung.HEAD, client=CONFIG.client)
            async with OrderDesk(store, crawlers(url), AgentAccess(token=TOKEN), config) as desk:
                return [sample async for sample in desk.probe(probes)]

        def kill_once_it_probes() -> None:
            silent.accept()[0].close()
            child.kill()

        killer = threading.Thread(target=kill_once_it_probes)
        killer.start()
        samples = asyncio.run(asyncio.wait_for(take(), PATIENCE_S))
        killer.join()
        child.wait(PATIENCE_S)
    if child.stderr is not None:
        child.stderr.close()
    assert [sample.loss for sample in samples] == [Loss.AGENT] * 3
    assert store.budget.state("probes").spent == 3


COORDINATOR = """
import asyncio, sys
from ipaddress import ip_address
from ipmicra.edge.coordinator.agent_client import AgentAccess
from ipmicra.edge.coordinator.orders import DeskConfig, OrderDesk
from ipmicra.edge.store.store import Store
from ipmicra.model.crawler import Crawler
from ipmicra.model.probe import Probe
from ipmicra.model.sample import Rung

async def main(path, url, token, port, count):
    store = Store.open(path)
    store.budget.open("probes", 8)
    crawlers = {"ath": Crawler(name="ath", address=ip_address("193.0.6.139"), agent_url=url)}
    probes = [Probe(crawler="ath", address=ip_address(f"127.0.1.{i}"), port=int(port), scheme="http")
              for i in range(1, int(count) + 1)]
    config = DeskConfig(first_rung=Rung.HEAD, timeout_ms=300.0)
    async with OrderDesk(store, crawlers, AgentAccess(token=token), config) as desk:
        async for sample in desk.probe(probes):
            print(sample.loss, flush=True)

asyncio.run(main(*sys.argv[1:]))
"""


def test_budget_holds_across_a_crash_and_answers_are_repeated_not_probed_again(tmp_path: Path) -> None:
    """A coordinator is killed with five orders out; the next one gets their answers and three probes more."""
    path = tmp_path / "state.db"
    with socket.create_server(("127.0.1.1", 0)) as slow:
        slow.settimeout(PATIENCE_S)
        place = slow.getsockname()[1]
        with RunningAgent(allowed=("127.0.0.0/8",), ports=(place,)) as agent:
            words = [sys.executable, "-c", COORDINATOR, str(path), agent.url, TOKEN, str(place), "5"]
            child = subprocess.Popen(words)
            slow.accept()[0].close()  # the first probe is out: now comes the crash
            child.kill()
            child.wait(PATIENCE_S)
            with Store.open(str(path)) as store:
                assert store.budget.state("probes").spent == 5
                before = store.samples.count()
                samples = recovered(store, agent.url)
                assert len(samples) + before == 5
                assert not any("does not know" in sample.detail for sample in samples)
                assert store.budget.unanswered("probes") == []
                assert store.budget.open("probes", 8) == BudgetState(total=8, spent=5)
                more = taken(store, agent.url, [Probe(crawler="ath", address=ADDRESS, port=22)] * 5)
                assert sum(sample.loss is Loss.BUDGET for sample in more) == 2
                assert store.budget.state("probes").spent == 8
                assert store.budget.open("probes", 8) == BudgetState(total=8, spent=8)
            total = agent.get("/metrics").text
    counted = sum(
        float(line.split()[-1])
        for line in total.splitlines()
        if line.startswith("ipmicra_agent_answers_total")
    )
    assert counted <= 8


def test_orders_of_an_agent_that_started_anew_are_lost_and_not_sent_again(
    tmp_path: Path, store: Store
) -> None:
    with EvilAgent(lambda _: b"") as gone:
        taken(store, gone.url)
    store.connection.execute("UPDATE orders SET answered_s = NULL")
    with RunningAgent() as fresh:
        samples = recovered(store, fresh.url)
    assert {sample.loss for sample in samples} == {Loss.AGENT}
    assert "does not know" in samples[0].detail
    assert store.budget.state("probes").spent == 5
