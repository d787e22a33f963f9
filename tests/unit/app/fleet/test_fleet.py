"""The fleet as a library."""

from __future__ import annotations

from ipaddress import IPv4Address, ip_address
from pathlib import Path

import pytest

from ipmicra import Crawler, CrawlerState, Fleet, Hierarchy, InputError
from ipmicra.app.describe.fleet import describe_member
from ipmicra.edge.store.ports import StateChange
from ipmicra.edge.store.store import Store
from tests.cli.command_line import built_file


class FakeClock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        self.now_s += 1
        return self.now_s


def crawler(name: str = "ath", address: str = "10.1.2.3") -> Crawler:
    return Crawler(name=name, address=ip_address(address))


@pytest.fixture
def fleet(memory_store: Store) -> Fleet:
    return Fleet(memory_store, clock=FakeClock())


def test_joining_crawler_is_given_the_smallest_subnet_that_holds_it(
    tmp_path: Path, memory_store: Store
) -> None:
    with Hierarchy.open(built_file(tmp_path)) as hierarchy:
        fleet = Fleet(memory_store, hierarchy, FakeClock())
        inner = fleet.add(crawler("a", "10.1.2.3"))
        outer = fleet.add(crawler("b", "10.200.0.1"))
        outside = fleet.add(crawler("c", "203.0.113.1"))
    assert (inner.first, inner.last) == (IPv4Address("10.1.0.0"), IPv4Address("10.1.2.255"))
    assert describe_member(inner)["subnet"] == "10.1.0.0 - 10.1.2.255"
    assert describe_member(outer)["subnet"] == "10.0.0.0/8"
    assert describe_member(outside)["subnet"] is None


def test_crawler_without_a_hierarchy_joins_without_a_subnet(fleet: Fleet) -> None:
    assert fleet.add(crawler()).first is None


def test_name_is_taken_once(fleet: Fleet) -> None:
    fleet.add(crawler())
    with pytest.raises(InputError, match="--replace"):
        fleet.add(crawler())
    replaced = fleet.add(crawler(address="10.9.9.9"), replaces=True)
    assert fleet.get("ath") == replaced
    assert replaced.crawler.joined_s == 101.0


def test_crawler_leaves_and_comes_back(fleet: Fleet) -> None:
    fleet.add(crawler())
    assert fleet.remove("ath").crawler.state is CrawlerState.LEFT
    assert fleet.members() == []
    assert not fleet.mark("ath", CrawlerState.JOINED)
    assert fleet.add(crawler()).crawler.joined_s == 103.0
    assert [change.state.value for change in fleet.history("ath")] == ["joined", "left", "joined"]


def test_crawler_that_is_replaced_while_unreachable_keeps_its_time_of_joining(fleet: Fleet) -> None:
    fleet.add(crawler())
    fleet.mark("ath", CrawlerState.UNREACHABLE)
    assert fleet.add(crawler(), replaces=True).crawler.joined_s == 101.0


def test_agent_that_falls_silent_and_returns_is_in_the_history(fleet: Fleet) -> None:
    fleet.add(crawler())
    assert fleet.mark("ath", CrawlerState.UNREACHABLE)
    assert not fleet.mark("ath", CrawlerState.UNREACHABLE)
    assert [one.crawler.name for one in fleet.members()] == ["ath"]
    assert fleet.mark("ath", CrawlerState.JOINED)
    assert fleet.history("ath") == [
        StateChange(state=CrawlerState.JOINED, at_s=101.0),
        StateChange(state=CrawlerState.UNREACHABLE, at_s=102.0),
        StateChange(state=CrawlerState.JOINED, at_s=103.0),
    ]


def test_unknown_crawler_is_told_with_those_that_are_known(fleet: Fleet) -> None:
    with pytest.raises(InputError, match="ipmicra crawler add"):
        fleet.get("nyc")
    fleet.add(crawler())
    with pytest.raises(InputError, match="there are: ath"):
        fleet.remove("nyc")
