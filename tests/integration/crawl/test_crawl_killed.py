"""Crawls whose processes are killed: every page is fetched, hardly one twice, each by its owner, politely."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.loopback_crawl import World
from tests.torture.crawl import run_killed
from tests.torture.crawl_history import crawl_violations


@pytest.mark.slow
def test_nothing_is_missed_when_nodes_and_coordinator_are_killed(tmp_path: Path) -> None:
    """The short version of `bin/torture crawl`."""
    world = World(hosts=8, pages=40)
    history = run_killed(tmp_path, seed=7, kills=2, world=world, delay_s=0.0, pause_s=2.0)
    assert crawl_violations(history) == []
