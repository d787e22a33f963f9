"""Crawls whose processes are killed: every page is fetched, hardly one twice, each by its owner, politely."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crawl_faults import World, crawl_of, torture


@pytest.mark.slow
def test_nothing_is_missed_when_nodes_and_coordinator_are_killed(tmp_path: Path) -> None:
    """The short version of `bin/torture crawl`."""
    with crawl_of(World(hosts=8, pages=40), tmp_path, lease_s=60.0) as crawl:
        torture(crawl, seed=7, kills=2, pause_s=2.0)
