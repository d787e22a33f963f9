"""The cap on probes of one block over the whole fleet, and over restarts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_address

import pytest

from ipmicra.edge.coordinator.agent_client import AgentAccess
from ipmicra.edge.coordinator.orders import DeskConfig, OrderDesk
from ipmicra.edge.coordinator.target_cap import TargetCap, TargetCapConfig
from ipmicra.edge.store.ports import OrderRecord
from ipmicra.edge.store.store import Store
from ipmicra.model.address import Address
from ipmicra.model.probe import Probe
from ipmicra.model.sample import Loss

START_S = 1_000_000.0


@dataclass
class Clock:
    now_s: float = START_S

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def store() -> Iterator[Store]:
    with Store.open("sqlite://") as opened:
        opened.budget.open("probes", None)
        yield opened


def at(number: int, block: int = 100) -> Address:
    return ip_address(f"198.51.{block}.{number}")


def ordered(store: Store, count: int, at_s: float) -> None:
    records = [OrderRecord(id=f"{at_s}-{i}", crawler="fra", address=at(i)) for i in range(count)]
    store.budget.reserve("probes", records, at_s)


def admitted(cap: TargetCap, count: int = 100, block: int = 100) -> int:
    return sum(cap.admits(at(i % 250, block)) for i in range(count))


def test_block_is_probed_so_often_and_no_more_and_others_are_not_affected(store: Store) -> None:
    clock = Clock()
    cap = TargetCap(store, TargetCapConfig(per_hour=20), clock=clock, ticks=clock)
    assert admitted(cap) == 20
    assert admitted(cap, block=101) == 20
    clock.now_s += 3_600.0 / 20 * 3.01
    assert admitted(cap) == 3


def test_restart_gives_no_new_allowance(store: Store) -> None:
    ordered(store, 15, START_S - 10.0)
    clock = Clock()
    assert admitted(TargetCap(store, TargetCapConfig(per_hour=20), clock=clock, ticks=clock)) == 5


def test_orders_of_long_ago_do_not_count(store: Store) -> None:
    ordered(store, 15, START_S - 3_601.0)
    clock = Clock()
    assert admitted(TargetCap(store, TargetCapConfig(per_hour=20), clock=clock, ticks=clock)) == 20


def test_clock_that_was_set_back_gives_no_new_allowance(store: Store) -> None:
    ordered(store, 15, START_S + 86_400.0)
    clock = Clock()
    assert admitted(TargetCap(store, TargetCapConfig(per_hour=20), clock=clock, ticks=clock)) == 5


def test_monotonic_time_counts_while_the_coordinator_runs(store: Store) -> None:
    """The time of day jumps ahead by a day; nothing more is allowed for that."""
    clock, ticks = Clock(), Clock(5.0)
    cap = TargetCap(store, TargetCapConfig(per_hour=20), clock=clock, ticks=ticks)
    assert admitted(cap) == 20
    clock.now_s += 86_400.0
    assert admitted(cap) == 0


def test_no_cap_admits_everything(store: Store) -> None:
    assert admitted(TargetCap(store, TargetCapConfig(per_hour=0)), 5_000) == 5_000


def test_desk_sends_nothing_beyond_the_cap_and_charges_no_budget_for_it(store: Store) -> None:
    async def scenario() -> list[Loss | None]:
        config = DeskConfig(cap=TargetCapConfig(per_hour=3))
        async with OrderDesk(store, {}, AgentAccess(), config) as desk:
            probes = [Probe(crawler="fra", address=at(i)) for i in range(5)]
            return [sample.loss async for sample in desk.probe(probes)]

    losses = asyncio.run(scenario())
    assert losses.count(Loss.RATE_LIMITED) == 2
    assert losses.count(Loss.AGENT) == 3
    assert store.budget.state("probes").spent == 0
