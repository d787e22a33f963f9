"""Loads relative to capacity, thresholds, page counts that cannot be."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ipmicra.assign.balance.config import LbiConfig, PageConfig
from ipmicra.assign.balance.load import believed_pages, relative, threshold_of, units, units_of
from ipmicra.errors import InputError
from ipmicra.model.crawler import Capacity


@pytest.mark.parametrize(
    ("capacity", "expected"),
    [
        (Capacity(), 1.0),
        (Capacity(bandwidth_mbps=4.0, memory_gb=2.0), 2.0),
        (Capacity(bandwidth_mbps=4.0), 4.0),
        (Capacity(bandwidth_mbps=0.0, memory_gb=2.0), 0.0),
        (Capacity(bandwidth_mbps=-1.0), 0.0),
        (Capacity(bandwidth_mbps=math.nan), 0.0),
        (Capacity(max_pieces=0), 0.0),
        (Capacity(connections=0), 0.0),
    ],
)
def test_capacity_is_the_lesser_of_bandwidth_and_memory(capacity: Capacity, expected: float) -> None:
    assert units(capacity) == expected


def test_a_crawler_without_limit_counts_as_much_as_the_largest_that_has_one() -> None:
    fleet = [Capacity(bandwidth_mbps=math.inf), Capacity(bandwidth_mbps=3.0), Capacity(bandwidth_mbps=0.0)]
    assert units_of(fleet).tolist() == [3.0, 3.0, 0.0]
    assert units_of([Capacity(bandwidth_mbps=math.inf)]).tolist() == [1.0]
    assert units_of([]).tolist() == []


def test_load_is_infinite_without_capacity() -> None:
    assert relative([11, 22, 0], [1.0, 2.0, 0.0]).tolist() == [11.0, 11.0, math.inf]


def test_a_contributors_own_limit_decides_but_connections_are_used() -> None:
    config = LbiConfig()
    assert threshold_of(Capacity(), config) == 11
    assert threshold_of(Capacity(max_pieces=20, memory_gb=2.0), config) == 10
    assert threshold_of(Capacity(max_pieces=3, connections=5), config) == 5
    assert threshold_of(Capacity(max_pieces=0), config) == 11


def test_unknown_and_absurd_page_counts_are_estimated_and_told() -> None:
    told = [100, None, 300, 0, 10**12, -5, math.nan]
    counts = believed_pages(told)
    assert counts.pages.tolist() == [100, 100, 300, 1, 100, 100, 100]
    assert (counts.estimated, counts.refused) == (1, 3)


def test_nothing_known_at_all_gives_the_papers_mean() -> None:
    assert believed_pages([None, 10**12]).pages.tolist() == [9500, 9500]
    assert believed_pages([None], PageConfig(unknown=7)).pages.tolist() == [7]
    assert believed_pages([]).pages.tolist() == []


@pytest.mark.parametrize("wrong", [{"threshold": np.nan}, {"hops": -1}, {"distance_weight": 1.5}])
def test_senseless_balancing_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError):
        LbiConfig(**wrong)  # type: ignore[arg-type]
