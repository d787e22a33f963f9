"""Rules while subnets are delegated, over real agents on loopback."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ipmicra import Delegator
from ipmicra.app.delegate.batch import BatchReport
from ipmicra.app.delegate.options import DelegateOptions
from ipmicra.assign.rules.rules import Rules
from ipmicra.edge.coordinator.orders import DeskConfig
from ipmicra.edge.loopback.internet import LoopbackInternet
from ipmicra.edge.store.store import Store
from ipmicra.model.delegation import Decision
from ipmicra.model.sample import Rung
from tests.delegating_worlds import (
    delegated,
    enrol,
    hierarchy_of,
    nearest_of,
    seeds_of,
    site_address,
    split_world,
)

SITES, CRAWLERS = 6, 3


@pytest.fixture(scope="module")
def internet() -> Iterator[LoopbackInternet]:
    with LoopbackInternet(split_world(SITES, CRAWLERS, 20.0)) as running:
        yield running


@pytest.fixture
def store(tmp_path: Path, internet: LoopbackInternet) -> Iterator[Store]:
    hierarchy_of(tmp_path, SITES)
    with Store.open(str(tmp_path / "state.db")) as opened:
        enrol(opened, list(internet.crawlers.values()))
        yield opened


def ruled(
    folder: Path, store: Store, internet: LoopbackInternet, policy: str, rules: str
) -> tuple[dict[str, Decision], BatchReport]:
    wanted = replace(options(internet, policy), rules=Rules.read(rules, "rules"))
    return delegated(folder, store, wanted, seeds_of(SITES, internet.port))


def options(internet: LoopbackInternet, policy: str = "everyone") -> DelegateOptions:
    desk = DeskConfig(samples=1, first_rung=Rung.HEAD, timeout_ms=10_000.0)
    return DelegateOptions(policy=policy, location="none", desk=desk, access=internet.access)


@pytest.mark.parametrize("policy", ["everyone", "predict", "paper"])
def test_only_crawlers_are_asked_that_a_rule_leaves_for_the_whole_subnet(
    tmp_path: Path, store: Store, internet: LoopbackInternet, policy: str
) -> None:
    found, report = ruled(tmp_path, store, internet, policy, "country=GR -> forbid=c0")
    assert report.is_complete
    assert {one.crawler for one in found.values()} <= {"c1", "c2"}
    asked = {name for i in range(SITES) for name in store.samples.latest(site_address(i))}
    assert asked <= {"c1", "c2"}
    assert not any("rules" in note for note in report.notes)


def test_a_rule_on_hosts_leaves_the_subnet_as_it_is_and_the_sites_are_counted(
    tmp_path: Path, store: Store, internet: LoopbackInternet
) -> None:
    found, report = ruled(tmp_path, store, internet, "everyone", "host=203.0.112.* -> forbid=c0")
    assert {host: one.crawler for host, one in found.items()} == {
        str(site_address(i)): nearest_of(i, CRAWLERS) for i in range(SITES)
    }
    assert "2 sites are in subnets of crawlers that rules do not leave for them" in " ".join(report.notes)


def test_rules_that_leave_nobody_delegate_as_without_them(
    tmp_path: Path, store: Store, internet: LoopbackInternet
) -> None:
    found, report = ruled(tmp_path, store, internet, "everyone", "any -> only=nobody")
    assert len({one.crawler for one in found.values()}) == CRAWLERS
    assert report.is_complete
    assert f"{SITES} sites are in subnets" in " ".join(report.notes)


def test_a_delegator_in_python_obeys_the_rules_of_its_home(
    tmp_path: Path, store: Store, internet: LoopbackInternet
) -> None:
    store.close()
    (tmp_path / "rules.txt").write_text("prefix=203.0.112.0/29 -> only=c2\n")

    async def ask() -> Decision:
        async with Delegator.open(tmp_path, options=options(internet)) as delegator:
            return await delegator.delegate(seeds_of(1, internet.port)[0])

    decision = asyncio.run(ask())
    assert (decision.crawler, decision.probes) == ("c2", 1)
