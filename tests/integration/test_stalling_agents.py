"""Agents that stall in every way we know: each costs a deadline, and honest agents answer for every site."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from ipmicra.app.delegate.batch import Batch, BatchReport
from ipmicra.app.delegate.options import DelegateOptions, DrivingConfig
from ipmicra.edge.coordinator.agent_client import AgentAccess, ClientConfig, is_healthy
from ipmicra.edge.coordinator.avoiding import Avoided, AvoidingConfig
from ipmicra.edge.coordinator.orders import DeskConfig, OrderDesk
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.loopback.internet import LoopbackInternet
from ipmicra.edge.store.ports import OrderRecord
from ipmicra.edge.store.store import Store
from ipmicra.model.crawler import Crawler, CrawlerState
from ipmicra.model.probe import Probe
from ipmicra.model.sample import Loss, Rung, Sample
from tests.delegating_worlds import enrol, hierarchy_of, seeds_of, site_address, split_world
from tests.patience import PATIENCE_S, wait_until
from tests.servers.agent import TOKEN
from tests.servers.batch_process import BatchOrder, BatchProcesses
from tests.servers.evil_agent import BROKEN, STALLS, EvilAgent, honest

SITES, CRAWLERS = 8, 2
EVIL = Crawler(name="evil", address=ip_address("193.0.6.139"))
PROBES = [Probe(crawler="evil", address=ip_address(f"193.0.6.{i}")) for i in range(1, 6)]
CLIENT = ClientConfig(head_s=0.5, slack_s=0.5, grace_s=0.5)
QUICK = DeskConfig(timeout_ms=50.0, wait_ms=0.0, client=CLIENT)
"""An exchange may last 1.3 s, and its repetition half a second more."""
HEARD = "answers one order and stops"
"""The only one that ever answers an order."""


def desk_for(store: Store, url: str, config: DeskConfig = QUICK, **more: Any) -> OrderDesk:
    return OrderDesk(store, {"evil": replace(EVIL, agent_url=url)}, AgentAccess(token=TOKEN), config, **more)


async def taken(desk: OrderDesk) -> list[Sample]:
    async with desk, asyncio.timeout(PATIENCE_S):
        return [sample async for sample in desk.probe(PROBES)]


async def recovered(desk: OrderDesk) -> list[Sample]:
    async with desk, asyncio.timeout(PATIENCE_S):
        return [sample async for sample in desk.recover()]


@contextmanager
def stored() -> Iterator[Store]:
    """Open a store in memory with a budget."""
    with Store.open("sqlite://") as opened:
        opened.budget.open("probes", 100)
        yield opened


@pytest.fixture
def memory() -> Iterator[Store]:
    with stored() as opened:
        yield opened


@dataclass(frozen=True)
class Outcome:
    """What is left of five orders to an agent that stalls."""

    samples: list[Sample]
    unanswered: list[OrderRecord]
    states: list[CrawlerState]


def dropped(mode: str) -> Outcome:
    """Order five probes."""
    states: list[CrawlerState] = []
    with stored() as store, EvilAgent(STALLS[mode]) as agent:
        desk = desk_for(store, agent.url, on_state=lambda _name, state: states.append(state))
        samples = asyncio.run(taken(desk))
        return Outcome(samples, store.budget.unanswered("probes"), states)


def restarted(mode: str) -> Outcome:
    """Ask for what was ordered before a restart."""
    orders = [OrderRecord(id=f"o{i}", crawler="evil", address=one.address) for i, one in enumerate(PROBES)]
    with stored() as store, EvilAgent(STALLS[mode]) as agent:
        store.budget.reserve("probes", orders, time.time())
        samples = asyncio.run(recovered(desk_for(store, agent.url)))
        return Outcome(samples, store.budget.unanswered("probes"), [])


def side_by_side(outcome: Callable[[str], Outcome], modes: Iterable[str]) -> dict[str, Outcome]:
    """Let agents stall at the same time: each costs a deadline and hardly any work."""
    modes = list(modes)
    with ThreadPoolExecutor(len(modes)) as threads:
        return dict(zip(modes, threads.map(outcome, modes), strict=True))


@pytest.fixture(scope="module")
def after_orders() -> dict[str, Outcome]:
    """One agent must be heard in time, so it has the machine for itself."""
    return {HEARD: dropped(HEARD), **side_by_side(dropped, STALLS.keys() - {HEARD})}


@pytest.fixture(scope="module")
def after_restart() -> dict[str, Outcome]:
    return side_by_side(restarted, STALLS)


@pytest.mark.parametrize("mode", STALLS)
def test_stalling_agent_costs_a_deadline_and_is_dropped(mode: str, after_orders: dict[str, Outcome]) -> None:
    outcome = after_orders[mode]
    losses = [sample for sample in outcome.samples if sample.loss is Loss.AGENT]
    assert len(outcome.samples) == 5
    assert len(losses) == (3 if mode == HEARD else 5), "and one when asked to repeat"
    assert any(word in losses[0].detail for word in ("within", "slower than")), losses[0].detail
    assert outcome.states == [CrawlerState.UNREACHABLE]
    assert outcome.unanswered == []


@pytest.mark.parametrize("mode", STALLS)
def test_stalling_agent_does_not_hold_up_a_restart(mode: str, after_restart: dict[str, Outcome]) -> None:
    assert len(after_restart[mode].samples) == 5
    assert after_restart[mode].unanswered == []


def test_silent_agent_costs_a_few_probe_timeouts_by_default(memory: Store) -> None:
    """It takes the connection and the orders, and says nothing: the headers are waited for twice."""
    config = DeskConfig()
    assert 2 * config.client.head_s <= 6 * config.timeout_ms / 1e3


def test_agent_that_failed_is_not_asked_while_it_is_avoided(memory: Store) -> None:
    config = replace(QUICK, avoiding=AvoidingConfig(first_s=PATIENCE_S))

    async def twice(desk: OrderDesk) -> list[Sample]:
        async with desk:
            assert len([sample async for sample in desk.probe(PROBES)]) == len(PROBES)
            return [sample async for sample in desk.probe(PROBES)]

    with EvilAgent(STALLS["says nothing"]) as agent:
        samples = asyncio.run(twice(desk_for(memory, agent.url, config)))
        assert len(agent.requests) == 2, "the orders and the request to repeat them, and nothing after that"
    assert "not asked for a while" in samples[0].detail
    assert memory.budget.state("probes").spent == 5


def test_agent_that_fails_again_is_avoided_for_twice_as_long() -> None:
    avoided = Avoided(AvoidingConfig(first_s=100.0, longest_s=300.0))
    times_s: list[float] = []
    for _ in range(4):
        avoided.note_failure("a")
        avoided.note_failure("a")  # a second request that was under way
        times_s.append(round(avoided.left_s("a")))
        avoided.forgive("a")
    assert times_s == [100, 200, 300, 300]
    avoided.note_success("a")
    avoided.note_failure("a")
    assert round(avoided.left_s("a")) == 100
    assert avoided.left_s("b") == 0.0


# --- whole batches


@pytest.fixture(scope="module")
def internet() -> Iterator[LoopbackInternet]:
    with LoopbackInternet(split_world(SITES, CRAWLERS, step_ms=20.0)) as running:
        yield running


@pytest.fixture
def store(tmp_path: Path, internet: LoopbackInternet) -> Iterator[Store]:
    hierarchy_of(tmp_path, SITES)
    with Store.open(str(tmp_path / "state.db")) as opened:
        enrol(opened, list(internet.crawlers.values()))
        yield opened


def delegated(
    folder: Path, store: Store, internet: LoopbackInternet, policy: str, words: list[str] | None = None
) -> tuple[dict[str, str], BatchReport]:
    found: dict[str, str] = {}
    wanted = DelegateOptions(
        policy=policy,
        # Nobody is so near: `paper` asks one after the other, the hostile one too.
        threshold_ms=0.1 if policy == "paper" else 50.0,
        location="none",
        desk=DeskConfig(
            samples=1,
            first_rung=Rung.HEAD,
            timeout_ms=1_000.0,
            wait_ms=0.0,
            client=replace(CLIENT, connect_s=PATIENCE_S, head_s=2.0, slack_s=0.0),
        ),
        access=internet.access,
        driving=DrivingConfig(health_s=0.2),
    )
    seeds = seeds_of(SITES, internet.port)
    with Hierarchy.open(folder / "hierarchy.ipm") as hierarchy:
        batch = Batch(store, hierarchy, wanted, lambda result: found.update({result.host: result.crawler}))
        return found, batch.run(words or seeds, seeds)


@pytest.mark.parametrize("policy", ["everyone", "paper"])
@pytest.mark.parametrize("mode", ["repeats status 103", "drips a body", *BROKEN])
def test_every_site_is_answered_beside_a_hostile_agent(
    mode: str, policy: str, tmp_path: Path, store: Store, internet: LoopbackInternet
) -> None:
    with EvilAgent((STALLS | BROKEN)[mode]) as agent:
        enrol(store, [replace(EVIL, agent_url=agent.url)])
        found, report = delegated(tmp_path, store, internet, policy)
        assert any("orders" in request for request in agent.requests)
    assert report.is_complete
    assert found.keys() == {str(site_address(i)) for i in range(SITES)}
    assert "evil" not in found.values()


def test_batch_killed_beside_an_agent_that_drips_is_resumed(
    tmp_path: Path, store: Store, internet: LoopbackInternet
) -> None:
    """The restart asks the agent to repeat what it was ordered, and the agent drips again."""
    order = BatchOrder(
        folder=str(tmp_path),
        sites=SITES,
        port=internet.port,
        token=internet.token,
        policy="everyone",
        budget=None,
    )
    with EvilAgent(STALLS["drips headers"]) as agent, BatchProcesses() as batches:
        enrol(store, [replace(EVIL, agent_url=agent.url)])
        for after_s in (1.0, 2.0, 3.0, 4.0, 5.0):  # it cannot end before headers are given up, after 6 s
            assert batches.is_killed(order, after_s)
            if store.budget.unanswered("delegate 1"):
                break
        lost = {record.id for record in store.budget.unanswered("delegate 1") if record.crawler == "evil"}
        assert lost
        agent.requests.clear()
        found, report = delegated(tmp_path, store, internet, "everyone", ["seeds"])
        repeats = [request for request in agent.requests if request.get("only_repeat")]
    assert {one["id"] for one in repeats[0]["orders"]} == lost
    assert report.is_complete
    assert report.batch == 1
    assert report.recovered >= len(lost)
    assert found.keys() == {str(site_address(i)) for i in range(SITES)}


# --- redirects


def test_redirect_of_the_health_check_is_not_followed() -> None:
    with EvilAgent(honest) as inside:
        to_inside = b"HTTP/1.1 302 Found\r\nLocation: %b/secret\r\n\r\n" % inside.url.encode()

        async def check(url: str) -> bool:
            async with aiohttp.ClientSession() as session:
                return await is_healthy(url, session, AgentAccess(token=TOKEN))

        with EvilAgent(lambda _: to_inside) as agent:
            assert asyncio.run(check(agent.url)) is False
            wait_until(lambda: agent.requests, "the health check")
        assert inside.requests == []
