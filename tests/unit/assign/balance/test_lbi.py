"""Load balancing on INSERT, step by step."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.assign.balance.config import LbiConfig
from ipmicra.assign.balance.lbi import forwarded, weighed
from tests.reference.slow_balance import forwarding_path

LINE = [[1], [0, 2], [1, 3], [2, 4], [3]]


def beside(crawler: int) -> np.ndarray:
    return np.array(LINE[crawler])


def path(tasks: list[float], pages: list[float], **settings: float) -> list[int]:
    config = LbiConfig(**settings)  # type: ignore[arg-type]
    return forwarded(0, np.array(tasks), np.array(pages), beside, config=config)


def test_who_is_at_the_threshold_keeps_the_task() -> None:
    assert path([11, 0, 0, 0, 0], [9, 0, 0, 0, 0]) == [0]


def test_a_task_is_handed_on_three_times_at_most_and_the_last_must_take_it() -> None:
    assert path([12] * 5, [9, 8, 7, 6, 5]) == [0, 1, 2, 3]
    assert path([12] * 5, [9, 8, 7, 6, 5], hops=1) == [0, 1]
    assert path([12] * 5, [9, 8, 7, 6, 5], hops=0) == [0]


def test_who_is_less_loaded_than_all_neighbours_keeps_the_task() -> None:
    assert path([12] * 5, [1, 8, 7, 6, 5]) == [0]


def test_nobody_hands_on_to_an_infinite_queue() -> None:
    assert path([12] * 5, [9, math.inf, 0, 0, 0]) == [0]
    assert path([math.inf] * 5, [math.inf] * 5) == [0]


def test_a_crawler_without_capacity_hands_on() -> None:
    assert path([math.inf, 0, 0, 0, 0], [math.inf, 5, 0, 0, 0]) == [0, 1]


def test_a_lonely_crawler_keeps_everything() -> None:
    config = LbiConfig()
    nobody = np.array([], dtype=np.int64)
    assert forwarded(0, np.array([99]), np.array([9.0]), lambda _: nobody, config=config) == [0]


def test_distance_counts_beside_load_where_it_has_a_weight() -> None:
    star = np.array([1, 2])
    tasks, pages = np.array([12, 1, 1]), np.array([100.0, 10.0, 11.0])
    far = {0: 10.0, 1: 300.0, 2: 10.0}

    def chosen(weight: float) -> int:
        return forwarded(
            0,
            tasks,
            pages,
            lambda _: star,
            config=LbiConfig(distance_weight=weight),
            distance=lambda around: np.array([far[one] for one in around.tolist()]),
        )[-1]

    assert (chosen(0.0), chosen(0.5)) == (1, 2)


def test_weighing_keeps_infinite_loads_infinite() -> None:
    assert weighed(np.array([1.0, math.inf]), np.array([5.0, 5.0]), 0.5).tolist() == [1.0, math.inf]
    assert weighed(np.zeros(2), np.zeros(2), 0.5).tolist() == [0.0, 0.0]


@given(
    loads=st.lists(st.tuples(st.integers(0, 20), st.integers(0, 50)), min_size=5, max_size=5),
    hops=st.integers(0, 5),
)
def test_path_equals_the_slow_twins(loads: list[tuple[int, int]], hops: int) -> None:
    tasks, pages = [float(t) for t, _ in loads], [float(p) for _, p in loads]
    assert path(tasks, pages, hops=hops) == forwarding_path(0, tasks, pages, LINE, 11, hops)


@pytest.mark.parametrize("seed", range(3))
def test_the_taker_is_never_worse_off_than_the_first(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(50):
        tasks, pages = rng.uniform(5, 20, 5), rng.uniform(0, 50, 5)
        assert pages[forwarded(0, tasks, pages, beside, config=LbiConfig())[-1]] <= pages[0]
