"""What the delegator's driver may rely on: the desk with real agents, over every store."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

import pytest

from ipmicra.edge.coordinator.orders import DeskConfig, OrderDesk
from ipmicra.edge.loopback.internet import LoopbackInternet
from ipmicra.edge.store.ports import StorePort
from ipmicra.model.probe import Probe
from ipmicra.model.sample import Loss, Rung, Sample
from tests.loopback_worlds import CRAWLERS, probe_of, small_world
from tests.patience import measured_until

LOST = frozenset({5})
Opened = Callable[[int | None, float], OrderDesk]


@pytest.fixture(scope="module")
def internet() -> Iterator[LoopbackInternet]:
    with LoopbackInternet(small_world(lost=LOST)) as running:
        yield running


@pytest.fixture
def opened(store: StorePort, internet: LoopbackInternet) -> Opened:
    def open_desk(budget: int | None, timeout_ms: float) -> OrderDesk:
        store.budget.open("probes", budget)
        config = DeskConfig(first_rung=Rung.HEAD, timeout_ms=timeout_ms, samples=2)
        return OrderDesk(store, internet.crawlers, internet.access, config)

    return open_desk


def taken(
    opened: Opened, probes: list[Probe], budget: int | None = None, timeout_ms: float = 10_000
) -> list[Sample]:
    async def take() -> list[Sample]:
        async with opened(budget, timeout_ms) as desk:
            return [sample async for sample in desk.probe(probes)]

    return asyncio.run(take())


def test_each_probe_has_one_sample(opened: Opened, internet: LoopbackInternet) -> None:
    probes = [probe_of(internet, crawler, i) for crawler in CRAWLERS for i in range(5)]

    def excesses_ms(samples: list[Sample]) -> list[float]:
        return [s.rtt_ms - internet.world.rtt_ms[s.crawler, s.address] for s in samples if s.rtt_ms]

    rounds = measured_until(lambda: taken(opened, probes), lambda found: max(excesses_ms(found)) < 60)
    for samples in rounds:
        assert sorted((s.crawler, s.address) for s in samples) == sorted(
            (p.crawler, p.address) for p in probes
        )
        assert {sample.loss for sample in samples} == {None}
        assert all(sample.rtt_ms == min(sample.all_ms) for sample in samples)
        assert min(excesses_ms(samples)) >= 0


def test_site_that_never_answers_is_a_loss(opened: Opened, internet: LoopbackInternet) -> None:
    (sample,) = taken(opened, [probe_of(internet, "ath", 5)], timeout_ms=300)
    assert (sample.rtt_ms, sample.loss) == (None, Loss.TIMEOUT)


def test_probes_beyond_the_budget_are_not_sent_and_say_so(opened: Opened, internet: LoopbackInternet) -> None:
    samples = taken(opened, [probe_of(internet, "ath", i) for i in range(5)], budget=3)
    assert sum(sample.loss is Loss.BUDGET for sample in samples) == 2
    assert sum(sample.rtt_ms is not None for sample in samples) == 3


def test_budget_of_nothing_sends_nothing(opened: Opened, internet: LoopbackInternet) -> None:
    (sample,) = taken(opened, [probe_of(internet, "ath", 0)], budget=0)
    assert sample.loss is Loss.BUDGET


def test_unknown_crawler_is_a_loss_by_the_agent(opened: Opened, internet: LoopbackInternet) -> None:
    (sample,) = taken(opened, [probe_of(internet, "nobody", 0)])
    assert sample.loss is Loss.AGENT


def test_probe_for_an_unknown_crawler_costs_nothing(opened: Opened, internet: LoopbackInternet) -> None:
    async def take() -> list[Sample]:
        async with opened(1, 10_000) as desk:
            first = [sample async for sample in desk.probe([probe_of(internet, "nobody", 0)])]
            return first + [sample async for sample in desk.probe([probe_of(internet, "ath", 0)])]

    first, second = asyncio.run(take())
    assert first.loss is Loss.AGENT
    assert second.rtt_ms is not None


def test_no_probes_have_no_samples(opened: Opened) -> None:
    assert taken(opened, []) == []
