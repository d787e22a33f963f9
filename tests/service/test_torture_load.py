"""A coordinator with stubs of agents and nodes: `bin/torture load` in small."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.torture.load.__main__ import LoadConfig, run_load


@pytest.mark.slow
def test_all_sites_are_named_and_all_pages_fetched_once_under_load(tmp_path: Path) -> None:
    """What each half costs is too little to be compared here."""
    config = LoadConfig(agents=20, nodes=4, sites=320, urls=6_400)
    report = run_load(tmp_path, config)
    assert report.problems == []
    assert [part.what for part in report.parts] == ["sites", "sites", "links", "links"]
    assert [part.count for part in report.parts[:2]] == [config.sites, config.sites]
    assert max(report.kept_bytes().values()) == 0.0
