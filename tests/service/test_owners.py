"""Questions about owners, over HTTP, with real agents."""

from __future__ import annotations

from ipaddress import IPv4Address
from pathlib import Path

from tests.delegating_worlds import nearest_of, seeds_of
from tests.servers.coordinator import RunningCoordinator
from tests.servers.internet_process import InternetProcess
from tests.service.conftest import CRAWLERS, SITES, coordinator_of, prepared


def test_owner_of_a_new_host_is_its_nearest_crawler(
    coordinator: RunningCoordinator, internet: InternetProcess
) -> None:
    for i, seed in enumerate(seeds_of(6, internet.port)):
        found = coordinator.owner(seed)
        assert found["crawler"] == nearest_of(i, CRAWLERS), str(found)
    again = coordinator.owner(seeds_of(1, internet.port)[0])
    assert (again["source"], again["evidence"]) == ("assignment", "probed")


def test_owners_of_a_list_come_in_order(coordinator: RunningCoordinator, internet: InternetProcess) -> None:
    seeds = seeds_of(SITES, internet.port)
    found = coordinator.owners([*seeds, "no host!", seeds[0]])
    assert [one.get("crawler") for one in found[:SITES]] == [nearest_of(i, CRAWLERS) for i in range(SITES)]
    assert found[SITES]["problem"]["status"] == 422
    assert found[-1] == found[0]


def test_list_of_many_parts_has_a_line_for_each_host(tmp_path: Path, internet: InternetProcess) -> None:
    hosts = [str(IPv4Address(int(IPv4Address("203.0.112.0")) + i)) for i in range(1_100)]
    with coordinator_of(prepared(tmp_path, internet), internet, "--policy", "hash") as coordinator:
        assert [one["host"] for one in coordinator.owners(hosts)] == hosts
        assert [one["host"] for one in coordinator.owners(hosts[::-1])] == hosts[::-1]
