"""How delegations live on: over real agents, with crawlers that join, round trips that drift, and time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from ipaddress import IPv4Address
from pathlib import Path

import pytest

from ipmicra import Delegator, Fleet
from ipmicra.app.delegate.options import DelegateOptions, DrivingConfig
from ipmicra.app.delegate.probe_queue import ProbeCounts
from ipmicra.app.home import Home
from ipmicra.edge.coordinator.orders import DeskConfig
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.loopback.internet import LoopbackInternet
from ipmicra.edge.store.ports import Member
from ipmicra.edge.store.store import Store
from ipmicra.model.crawler import Crawler
from ipmicra.model.delegation import OWN, Decision, Evidence
from ipmicra.model.sample import Rung
from tests.delegating_worlds import (
    PER_SUBNET,
    delegated,
    enrol,
    hierarchy_of,
    nearest_of,
    seeds_of,
    site_address,
    split_world,
)

SITES, CRAWLERS = 12, 3
SUBNETS = SITES // PER_SUBNET
DAY_S = 86400.0


@pytest.fixture(scope="module")
def internet() -> Iterator[LoopbackInternet]:
    with LoopbackInternet(split_world(SITES, CRAWLERS)) as running:
        yield running


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    hierarchy_of(tmp_path, SITES)
    with Store.open(str(tmp_path / "state.db")) as opened:
        yield opened


def options(internet: LoopbackInternet, policy: str, **more: object) -> DelegateOptions:
    words: dict[str, object] = {
        "policy": policy,
        "location": "none",
        "desk": DeskConfig(samples=1, first_rung=Rung.HEAD, timeout_ms=10_000.0),
        "access": internet.access,
        "driving": DrivingConfig(health_s=0.2),
        **more,
    }
    return DelegateOptions(**words)  # type: ignore[arg-type]


def crawlers_of(found: dict[str, Decision]) -> list[str]:
    return [found[str(site_address(i))].crawler for i in range(len(found))]


def test_joining_crawler_gets_its_own_subnet_at_once_even_if_another_holds_it(
    tmp_path: Path, store: Store, internet: LoopbackInternet
) -> None:
    """The library's `Fleet.add` and the next list agree; the history says why."""
    enrol(store, list(internet.crawlers.values()))
    seeds = seeds_of(2, internet.port)
    before, _ = delegated(tmp_path, store, options(internet, "paper"), seeds)
    holder = before[str(site_address(0))]
    beside = Crawler(name="beside", address=IPv4Address(int(site_address(0)) + 3))
    with Hierarchy.open(tmp_path / "hierarchy.ipm") as hierarchy:
        fleet = Fleet(store, hierarchy)
        fleet.add(replace(beside, agent_url=internet.crawlers["c1"].agent_url))
        (taken,) = fleet.taken
    assert taken.record.delegation.crawler == holder.crawler
    held = store.delegations.get(holder.first, holder.last)
    assert held is not None
    assert (held.delegation.crawler, held.delegation.policy) == ("beside", OWN)
    (ended,) = store.delegations.history(holder.first, holder.last)
    assert "stands in this subnet" in ended.reason
    after, report = delegated(tmp_path, store, options(internet, "paper"), seeds)
    assert ({one.crawler for one in after.values()}, report.probes) == ({"beside"}, 0)


@pytest.mark.parametrize("policy", ["paper", "predict"])
def test_nearer_crawler_that_joins_takes_over_what_others_hold(
    tmp_path: Path, store: Store, internet: LoopbackInternet, policy: str
) -> None:
    enrol(store, [internet.crawlers["c1"], internet.crawlers["c2"]])
    seeds = seeds_of(SITES, internet.port)
    before, _ = delegated(tmp_path, store, options(internet, policy), seeds)
    assert "c0" not in crawlers_of(before)
    store.crawlers.put(Member(crawler=replace(internet.crawlers["c0"], joined_s=4e9)))
    near = [i for i in range(SITES) if nearest_of(i, CRAWLERS) == "c0"]
    after, report = delegated(tmp_path, store, options(internet, policy), [seeds[i] for i in near])
    assert {one.crawler for one in after.values()} == {"c0"}
    assert report.probes >= len(near) // PER_SUBNET


def test_newcomers_are_left_out_by_paper_if_the_user_wants_so(
    tmp_path: Path, store: Store, internet: LoopbackInternet
) -> None:
    enrol(store, [internet.crawlers["c1"], internet.crawlers["c2"]])
    seeds = seeds_of(2, internet.port)
    delegated(tmp_path, store, options(internet, "paper"), seeds)
    store.crawlers.put(Member(crawler=replace(internet.crawlers["c0"], joined_s=4e9)))
    after, report = delegated(tmp_path, store, options(internet, "paper", reconsiders=False), seeds)
    assert ({one.crawler for one in after.values()}, report.probes) == ({"c1"}, 0)


class Calendar:
    """A clock that stands still until it is told to go on."""

    def __init__(self) -> None:
        self.now_s = 1.7e9

    def __call__(self) -> float:
        return self.now_s


def test_subnets_in_use_for_years_are_measured_again_and_move_when_they_drifted(
    tmp_path: Path, store: Store
) -> None:
    """760 days of daily use; then near and far change places, and within a cycle all subnets follow."""
    world = split_world(SITES, 2)
    calendar, cycle = Calendar(), round(30 / 0.03)

    async def used(home: Home, internet: LoopbackInternet, days: range) -> tuple[list[int], list[str]]:
        seeds = seeds_of(SITES, internet.port)[::PER_SUBNET]
        async with Delegator.open(home, options=options(internet, "paper"), clock=calendar) as delegator:
            spent: list[int] = []
            for _ in days:
                calendar.now_s += DAY_S * days.step
                spent.append(sum(one.probes for one in await delegator.delegate_many(seeds)))
            return spent, [one.crawler for one in await delegator.delegate_many(seeds)]

    with LoopbackInternet(world) as internet:
        enrol(store, list(internet.crawlers.values()))
        spent, held = asyncio.run(used(Home(folder=tmp_path), internet, range(760)))
        assert held == ["c0", "c1"] * 3
        due = 0.03 * SUBNETS * 760 / 30
        assert 0.5 * due <= sum(spent[1:]) <= 1.5 * due, "3 % of the subnets per 30 days"
        assert store.budget.state("delegate 1").spent == sum(spent), "and all of them are paid for"
        assert isinstance(world.rtt_ms, dict)
        for address in {site.address for site in world.sites}:
            near, far = world.rtt_ms["c0", address], world.rtt_ms["c1", address]
            world.rtt_ms["c0", address], world.rtt_ms["c1", address] = far, near
        spent, held = asyncio.run(used(Home(folder=tmp_path), internet, range(0, cycle + 40, 20)))
    assert held == ["c1", "c0"] * 3
    assert sum(spent) <= 3 * SUBNETS
    moved = [
        store.delegations.history(one.delegation.first, one.delegation.last)
        for one in store.delegations.all()
        if one.address
    ]
    assert [len(ended) for ended in moved] == [1] * SUBNETS, "what changes nothing leaves no history"


def test_neighbour_of_a_probed_site_inherits_its_answer_and_says_from_whom(
    tmp_path: Path, store: Store, internet: LoopbackInternet
) -> None:
    enrol(store, list(internet.crawlers.values()))
    found, _ = delegated(tmp_path, store, options(internet, "paper"), seeds_of(2, internet.port))
    first, second = (found[str(site_address(i))] for i in range(2))
    assert (first.evidence, first.inherited_from) == (Evidence.PROBED, None)
    assert (second.evidence, second.probes, second.rtt_ms) == (Evidence.INHERITED, 0, first.rtt_ms)
    assert second.inherited_from is not None
    assert second.inherited_from.first == second.inherited_from.last == first.address
    (sample,) = (one for one in store.samples.latest(first.address).values() if one.crawler == second.crawler)
    assert second.inherited_from.measured_s == pytest.approx(sample.taken_s, abs=60)
    again, report = delegated(tmp_path, store, options(internet, "paper"), seeds_of(2, internet.port))
    assert report.probes == 0
    assert [again[one.host].evidence for one in (first, second)] == [Evidence.PROBED, Evidence.INHERITED]
    assert list(store.results.all(1)) == [first, second]


def test_recheck_that_was_killed_is_resumed_without_probing_again(
    tmp_path: Path, store: Store, internet: LoopbackInternet
) -> None:
    """Its sample was stored and its delegation was not: the moment at which a crash hurts most."""
    enrol(store, list(internet.crawlers.values()))
    calendar, home = Calendar(), Home(folder=tmp_path)
    wanted = options(internet, "paper", recheck_percent=100.0)
    (seed, *_) = seeds_of(1, internet.port)

    async def used() -> tuple[Decision, ProbeCounts]:
        async with Delegator.open(home, options=wanted, clock=calendar) as delegator:
            return await delegator.delegate(seed), delegator._session.driver.probes.counts

    first, _ = asyncio.run(used())
    before = store.delegations.get(first.first, first.last)
    assert before is not None
    calendar.now_s += 31 * DAY_S
    again, counts = asyncio.run(used())
    assert (again.probes, counts.sent, counts.repeated) == (1, 1, 0)
    after = store.delegations.get(first.first, first.last)
    assert after is not None
    assert after.delegation.checked_s == calendar.now_s
    assert after.delegation.created_s == before.delegation.created_s
    store.delegations.put_many([before])
    store.batches.reopen(store.batches.all()[-1].id, calendar.now_s)
    resumed, counts = asyncio.run(used())
    assert (resumed.crawler, counts.sent, counts.repeated) == (again.crawler, 0, 1)
    done = store.delegations.get(first.first, first.last)
    assert done is not None
    assert done.delegation == after.delegation
    quiet, counts = asyncio.run(used())
    assert (quiet.probes, counts.sent) == (0, 0)
