"""The beginning of `bin/torture soak`: some seconds in which as much happens as in minutes."""

from __future__ import annotations

from pathlib import Path

from tests.torture.soak.__main__ import run_soak
from tests.torture.soak.campaign import PLAN, SoakConfig


def test_few_seconds_of_churn_break_nothing(tmp_path: Path) -> None:
    config = SoakConfig(
        crawlers=4,
        real_agents=0,
        subnets=5,
        new_s=0.5,
        ask_s=0.1,
        event_s=0.1,
        plan={name: weight for name, weight in PLAN.items() if "agent is killed" not in name},
        away_s=(0.1, 0.5),
        crawl_hosts=15,
        pages=3,
    )
    report = run_soak(tmp_path, seed=4, minutes=0.03, config=config)
    assert report.violations == []
    assert report.counts["answers"] > 0
    assert report.counts["pages fetched"] > 0
    assert report.counts["samples"] > 0
