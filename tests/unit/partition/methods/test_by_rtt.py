"""Methods by round trip: the lowest, and the evenly loaded."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ipmicra.errors import InputError
from ipmicra.partition.compare import costs_of
from ipmicra.partition.crawlers import CrawlerTable
from ipmicra.partition.methods.registry import METHODS, partition
from ipmicra.partition.problem import Problem
from ipmicra.partition.sites import SiteTable
from tests.unit.partition.problems import clustered

NAN = float("nan")


def with_round_trips(rtt_ms: list[list[float]], pages: list[float]) -> Problem:
    sites = SiteTable.of([f"s{number}" for number in range(len(pages))], pages=pages)
    return Problem(sites=sites, crawlers=CrawlerTable.floating(len(rtt_ms[0])), rtt_ms=np.array(rtt_ms))


def test_best_round_trip_wins_and_a_lost_probe_does_not() -> None:
    problem = with_round_trips([[10, 5, NAN], [NAN, 90, 20], [NAN, NAN, NAN]], [1, 1, 1])
    assert partition(METHODS["rtt-best"], problem).tolist() == [1, 2, 0]


@example(parts=2, count=10, seed=920)  # greedy alone ended in a poor corner here
@given(parts=st.integers(1, 4), count=st.integers(1, 10), seed=st.integers(0, 1000))
def test_balanced_is_never_slower_than_best_round_trips(parts: int, count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = with_round_trips(
        rng.uniform(1, 300, (count, parts)).tolist(), rng.integers(1, 50, count).tolist()
    )
    balanced = costs_of(problem, partition(METHODS["rtt-balanced"], problem)).download_s
    assert balanced <= costs_of(problem, partition(METHODS["rtt-best"], problem)).download_s * (1 + 1e-9)


def test_balanced_beats_geography_where_round_trips_are_known() -> None:
    problem = clustered(5, 12, 6, seed=4)
    rtt_ms = np.random.default_rng(2).uniform(5, 300, (60, 6))
    crawlers = CrawlerTable.of([str(one) for one in range(6)], ([-40.0, -24, -8, 8, 24, 40], [-150.0] * 6))
    problem = replace(problem, rtt_ms=rtt_ms, crawlers=crawlers)
    times = {
        name: costs_of(problem, partition(METHODS[name], problem)).download_s
        for name in ("rtt-balanced", "metis-geo")
    }
    assert times["rtt-balanced"] < times["metis-geo"]


def test_round_trips_of_other_crawlers_are_refused() -> None:
    with pytest.raises(InputError, match="round trips"):
        Problem(sites=SiteTable.of(["a"]), crawlers=CrawlerTable.floating(2), rtt_ms=np.ones((1, 3)))
