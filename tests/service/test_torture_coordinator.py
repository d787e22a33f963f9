"""The beginning of `bin/torture coordinator`: ten faults from a fixed seed."""

from __future__ import annotations

from pathlib import Path

from tests.torture.coordinator import run_campaign
from tests.torture.history import violations


def test_ten_faults_lose_no_site_and_repeat_no_probe(tmp_path: Path) -> None:
    history = run_campaign(tmp_path, seed=7, kills=10, agents=2)
    assert violations(history) == []
    assert history.sent
