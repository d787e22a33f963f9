"""The driver with its queues: a machine, a store in memory, and probes answered by a table."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

import pytest

from ipmicra.app.delegate.driver import Driver, Gate
from ipmicra.app.delegate.options import DrivingConfig
from ipmicra.app.delegate.probe_queue import ProbeQueue
from ipmicra.app.delegate.write_queue import WriteQueue
from ipmicra.delegate.at_once import NOBODY
from ipmicra.delegate.events import CrawlerJoined
from ipmicra.delegate.machine import DelegationMachine
from ipmicra.delegate.policies.baselines import Everyone
from ipmicra.delegate.policies.paper import Paper
from ipmicra.delegate.ports import Policy
from ipmicra.edge.store.store import Store
from ipmicra.model.crawler import Crawler, CrawlerState, TrackRecord
from ipmicra.model.delegation import Decision, Evidence
from ipmicra.model.probe import Probe
from ipmicra.model.sample import Loss, Sample
from ipmicra.model.site import Site
from tests.fakes.fleet import crawler, site
from tests.fakes.subnet_tree import flat_tree

A, B = crawler("a", "192.0.2.1"), crawler("b", "192.0.2.2")
CONFIG = DrivingConfig(gather_s=0.0, per_agent=2, per_parent=1)


@dataclass
class Desk:
    """Answers probes from a table, and notes how they came."""

    rtt_ms: dict[str, float]
    requests: list[list[Probe]] = field(default_factory=list)
    error: Exception | None = None
    loss: Loss = Loss.TIMEOUT

    async def probe(self, probes: Iterable[Probe], budget: str | None = None) -> AsyncIterator[Sample]:
        self.requests.append(list(probes))
        if self.error is not None:
            raise self.error
        for one in self.requests[-1]:
            await asyncio.sleep(0)
            assert one.address is not None
            rtt_ms = self.rtt_ms.get(one.crawler)
            loss = None if rtt_ms is not None else self.loss
            yield Sample(crawler=one.crawler, address=one.address, rtt_ms=rtt_ms, loss=loss)


@dataclass
class Running:
    driver: Driver
    desk: Desk
    store: Store
    decisions: list[Decision]
    given_up: list[tuple[Site, str]]

    def run(self, *sites: Site) -> list[Decision]:
        async def work() -> None:
            for one in sites:
                self.driver.arrive(one)
            while self.driver.pending and self.driver.failure is None:
                self.driver.changed.clear()
                await asyncio.wait_for(self.driver.changed.wait(), 10)
            self.driver.flush()
            await self.driver.probes.close()

        asyncio.run(work())
        return self.decisions


@pytest.fixture
def running() -> Iterator[Callable[..., Running]]:
    with Store.open("sqlite://") as store:

        def make(desk: Desk, *crawlers: Crawler, policy: Policy | None = None) -> Running:
            tree = flat_tree(6)
            machine = DelegationMachine(tree, policy or Everyone())
            for one in crawlers:
                machine.handle(CrawlerJoined(one, 0.0))
            decisions: list[Decision] = []
            given_up: list[tuple[Site, str]] = []
            driver = Driver(
                machine=machine,
                gate=Gate(tree, CONFIG.per_parent),
                writes=WriteQueue(store, 1, decisions.append),
                config=CONFIG,
                on_give_up=lambda site, reason: given_up.append((site, reason)),
                clock=lambda: 1.0,
            )
            driver.probes = ProbeQueue(
                desk,  # type: ignore[arg-type]
                store,
                CONFIG,
                driver.sampled,
                driver.fail,
            )
            return Running(driver, desk, store, decisions, given_up)

        yield make


def test_site_gets_the_nearest_crawler_and_the_store_has_it(running: Callable[..., Running]) -> None:
    here = running(Desk({"a": 9.0, "b": 5.0}), A, B)
    (one,) = here.run(Site("x.example", site("10.0.0.1").address, "http", 8080))
    assert (one.host, one.crawler, one.evidence, one.rtt_ms, one.probes) == (
        "x.example",
        "b",
        Evidence.PROBED,
        5.0,
        2,
    )
    assert here.store.results.latest("x.example") == one
    record = here.store.delegations.get(one.first, one.last)
    assert record is not None
    assert (record.address, record.delegation.crawler) == (one.address, "b")
    probe = here.desk.requests[0][0]
    assert (probe.host, probe.scheme, probe.port) == ("x.example", "http", 8080)
    assert here.driver.pending == 0


def test_agent_gets_few_probes_at_a_time_and_all_in_the_end(running: Callable[..., Running]) -> None:
    here = running(Desk({"a": 5.0}), A)
    decisions = here.run(*(site(f"10.0.{i}.1") for i in range(5)))
    assert len(decisions) == 5
    assert [len(some) for some in here.desk.requests] == [2, 2, 1]
    assert here.driver.probes.counts.sent == 5


def test_two_attempts_that_want_the_same_probe_share_its_sample(running: Callable[..., Running]) -> None:
    here = running(Desk({"a": 5.0}), A)
    samples: list[tuple[int, Sample]] = []

    async def ask() -> None:
        queue = here.driver.probes
        is_done = asyncio.Event()

        def take(attempt: int, sample: Sample) -> None:
            samples.append((attempt, sample))
            if len(samples) == 2:
                is_done.set()

        queue.on_sample = take
        for attempt in (1, 2):
            queue.ask(attempt, Probe(crawler="a", address=site("10.0.0.1").address))
        await asyncio.wait_for(is_done.wait(), 10)
        await queue.close()

    asyncio.run(ask())
    assert [attempt for attempt, _ in samples] == [1, 2]
    assert here.driver.probes.counts.sent == 1


def test_probe_of_an_earlier_run_is_answered_from_the_store(running: Callable[..., Running]) -> None:
    here = running(Desk({}), A)
    address = site("10.0.0.1").address
    here.store.samples.add_many([Sample(crawler="a", address=address, rtt_ms=7.0)])
    here.driver.probes.know([("a", address)])
    (one,) = here.run(site("10.0.0.1"))
    assert (one.rtt_ms, here.desk.requests) == (7.0, [])
    assert here.driver.probes.counts.repeated == 1


def test_answer_that_only_an_empty_budget_forced_is_not_stored(running: Callable[..., Running]) -> None:
    here = running(Desk({}, loss=Loss.BUDGET), A)
    (one,) = here.run(site("10.0.0.1"))
    assert (one.evidence, one.probes) == (Evidence.INHERITED, 0)
    assert here.store.delegations.count() == 0
    assert here.store.results.count(1) == 1


def test_failure_of_the_desk_reaches_whoever_waits(running: Callable[..., Running]) -> None:
    error = OSError("no disk")
    here = running(Desk({}, error=error), A)
    assert here.run(site("10.0.0.1")) == []
    assert here.driver.failure is error


def test_site_without_a_crawler_is_given_up(running: Callable[..., Running]) -> None:
    here = running(Desk({}))
    assert here.run(site("10.0.0.1")) == []
    assert here.given_up == [(site("10.0.0.1"), NOBODY)]
    assert here.driver.pending == 0


def test_siblings_wait_for_each_other_and_none_is_lost(running: Callable[..., Running]) -> None:
    here = running(Desk({"a": 60.0, "b": 70.0}), A, B, policy=Paper())
    sites = [site(f"203.0.113.{i}") for i in range(1, 3)] + [site(f"203.0.{i}.1") for i in range(4)]
    assert len(here.run(*sites)) == len(sites)
    assert here.driver.gate.held_back == 0


@pytest.mark.parametrize(("checked", "is_asked"), [(203, True), (4, False)])
def test_crawler_that_joins_again_is_believed_as_its_record_says(
    running: Callable[..., Running], checked: int, is_asked: bool
) -> None:
    here = running(Desk({"a": 5.0}))
    joined = CrawlerJoined(A, 0.0, TrackRecord(checked=checked, implausible=3))
    here.driver.machine.handle(joined)
    here.driver.join(replace(A, state=CrawlerState.UNREACHABLE))
    assert not here.driver.has_crawlers
    here.driver.join(A)
    assert here.driver.has_crawlers is is_asked
    assert len(here.run(site("10.0.0.1"))) == is_asked


def test_subnets_beyond_what_memory_allows_wait_and_are_decided_in_the_end(
    running: Callable[..., Running],
) -> None:
    here = running(Desk({"a": 9.0, "b": 5.0}), A, B)
    here.driver.config = replace(CONFIG, belief_bytes=0, least_open=1)
    most = 0

    def look(one: Decision) -> None:
        nonlocal most
        most = max(most, len(here.driver.machine.attempts))
        here.decisions.append(one)

    here.driver.writes.on_decision = look
    decisions = here.run(*(site(f"10.0.{i}.{1 + last}") for i in range(5) for last in range(3)))
    assert sorted(one.host for one in decisions) == sorted(
        f"10.0.{i}.{1 + j}" for i in range(5) for j in range(3)
    )
    assert most <= 1
    assert max(len({probe.address for probe in request}) for request in here.desk.requests) == 1


def test_subnets_that_wait_for_room_are_given_up_with_the_others(running: Callable[..., Running]) -> None:
    here = running(Desk({"a": 9.0}), A)
    here.driver.config = replace(CONFIG, belief_bytes=0, least_open=0)

    async def arrive() -> None:
        here.driver.arrive(site("10.0.0.1"), site("10.0.1.1"))
        here.driver.abandon("it stops")

    asyncio.run(arrive())
    assert [one.host for one, _ in here.given_up] == ["10.0.0.1", "10.0.1.1"]
    assert here.driver.pending == 0


def test_there_is_nothing_to_write_until_somebody_asks(running: Callable[..., Running]) -> None:
    here = running(Desk({"a": 9.0}), A)
    assert not here.driver.gathered.is_set()
    here.run(site("10.0.0.1"))
    assert here.driver.gathered.is_set()


def test_siblings_go_on_when_the_only_crawler_that_was_asked_leaves(running: Callable[..., Running]) -> None:
    here = running(Desk({"a": 5.0}), A, policy=Paper())

    async def leave() -> None:
        here.driver.arrive(site("203.0.113.1"), site("203.0.4.1"))
        assert here.driver.gate.held_back == 1
        here.driver.leave("a")
        await here.driver.probes.close()

    asyncio.run(leave())
    assert here.driver.gate.held_back == 0
    assert [one.host for one, _ in here.given_up] == ["203.0.113.1", "203.0.4.1"]


def test_queue_that_was_closed_sends_nothing_more(running: Callable[..., Running]) -> None:
    here = running(Desk({"a": 5.0}), A)

    async def close_before_sending() -> None:
        here.driver.arrive(site("10.0.0.1"))
        await here.driver.probes.close()
        await asyncio.sleep(10 * here.driver.config.gather_s)

    asyncio.run(close_before_sending())
    assert here.desk.requests == []
