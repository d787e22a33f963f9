"""Policies that ask nobody: decided at once, written, forgotten, and found again in the store."""

from __future__ import annotations

from ipaddress import IPv4Address
from pathlib import Path

import pytest

from ipmicra.app.delegate.batch import Batch
from ipmicra.app.delegate.options import DelegateOptions, DrivingConfig
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.store.store import Store
from ipmicra.model.crawler import Crawler
from ipmicra.model.delegation import Decision
from tests.delegating_worlds import enrol, hierarchy_of

SITES = 1_000
SEEDS = [str(IPv4Address("198.18.0.0") + 7 * i) for i in range(SITES)]


def crawlers(count: int) -> list[Crawler]:
    return [Crawler(name=f"c{i}", address=IPv4Address(f"198.51.99.{i + 1}")) for i in range(count)]


@pytest.fixture
def hierarchy(tmp_path: Path) -> Path:
    return hierarchy_of(tmp_path, 4)


def delegated(hierarchy: Path, store: Store, policy: str, seeds: list[str]) -> tuple[Batch, dict[str, str]]:
    found: dict[str, str] = {}

    def decided(one: Decision) -> None:
        assert one.host not in found
        found[one.host] = one.crawler

    options = DelegateOptions(policy=policy, driving=DrivingConfig(flush_rows=100))
    with Hierarchy.open(hierarchy) as tree:
        batch = Batch(store, tree, options, decided)
        assert batch.run(seeds, seeds).is_complete
    return batch, found


@pytest.mark.parametrize("policy", ["hash", "random"])
def test_site_keeps_its_crawler_when_others_join(hierarchy: Path, policy: str) -> None:
    """The machine has forgotten it, the store has not."""
    with Store.open("sqlite://") as store:
        enrol(store, crawlers(3))
        _, before = delegated(hierarchy, store, policy, SEEDS)
        assert set(before.values()) == {"c0", "c1", "c2"}
        enrol(store, crawlers(7)[3:])
        _, after = delegated(hierarchy, store, policy, SEEDS)
        assert (after, store.delegations.count()) == (before, SITES)


def test_host_that_is_listed_twice_is_answered_once_in_long_lists_too(
    hierarchy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ipmicra.app.delegate.batch.FEW", 50)
    with Store.open("sqlite://") as store:
        enrol(store, crawlers(3))
        batch, found = delegated(hierarchy, store, "hash", [*SEEDS, *SEEDS])
    assert (len(found), batch.report.doubles) == (SITES, SITES)


def test_resumed_list_is_printed_in_the_order_of_its_seeds(hierarchy: Path) -> None:
    """The first run stops in the middle, after some of its transactions."""

    class StoppedError(Exception):
        pass

    found: list[str] = []

    def decided(one: Decision) -> None:
        found.append(one.host)
        if len(found) == SITES // 2:
            raise StoppedError

    options = DelegateOptions(policy="hash", driving=DrivingConfig(flush_rows=100))
    with Store.open("sqlite://") as store, Hierarchy.open(hierarchy) as tree:
        enrol(store, crawlers(3))
        with pytest.raises(StoppedError):
            Batch(store, tree, options, decided).run(["seeds"], SEEDS)
        assert found == SEEDS[: SITES // 2]
        found.clear()
        again: list[str] = []
        report = Batch(store, tree, options, lambda one: again.append(one.host)).run(["seeds"], SEEDS)
    assert (again, report.sites, report.resumed >= SITES // 2) == (SEEDS, SITES, True)


def test_crawler_that_left_loses_its_sites(hierarchy: Path) -> None:
    with Store.open("sqlite://") as store:
        enrol(store, crawlers(3))
        _, before = delegated(hierarchy, store, "hash", SEEDS)
        store.connection.execute("UPDATE crawlers SET state = 'left' WHERE name = 'c1'")
        _, after = delegated(hierarchy, store, "hash", SEEDS)
        assert set(after.values()) == {"c0", "c2"}
        assert all(after[host] == name for host, name in before.items() if name != "c1")
        moved = next(host for host, name in before.items() if name == "c1")
        (ended,) = store.delegations.history(IPv4Address(moved), IPv4Address(moved))
        assert ended.reason == "its crawler left"
