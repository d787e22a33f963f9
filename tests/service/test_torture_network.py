"""The beginning of `bin/torture network`: a few faults of network and clocks, from fixed seeds."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.loopback_crawl import World
from tests.servers.postgres import PostgresServer
from tests.torture.crawl_history import crawl_violations
from tests.torture.history import violations
from tests.torture.namespaces import run_inside, why_not
from tests.torture.network import run_fleet
from tests.torture.network_crawl import run_crawl


def test_faults_between_coordinators_agents_and_database_break_no_promise(
    tmp_path: Path, postgres: PostgresServer
) -> None:
    history = run_fleet(tmp_path, postgres, seed=7, faults=5, agents=2)
    assert violations(history) == []
    assert history.sent


@pytest.mark.skipif(why_not() is not None, reason=f"no network namespaces here: {why_not()}")
def test_packets_that_are_dropped_between_nodes_and_coordinator_lose_no_page(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    folder.mkdir()
    assert run_inside("tests.torture.network_namespaces", "small crawl", str(folder), "7", "4") == 0


def test_faults_between_nodes_and_coordinator_lose_no_page(tmp_path: Path) -> None:
    history = run_crawl(tmp_path, seed=7, faults=4, world=World(hosts=4, pages=12), delay_s=0.05)
    assert crawl_violations(history) == []
