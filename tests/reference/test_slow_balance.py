"""The slow twins, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from ipmicra.lab.churn.config import ChurnConfig
from ipmicra.lab.churn.lives import Life
from tests.reference.slow_balance import cheapest_assignment, dying_chance, forwarding_path
from tests.reference.slow_churn import SlowChurn


def test_cheapest_assignment_gives_the_near_place_to_who_loses_most_without_it() -> None:
    assert cheapest_assignment(np.array([[1.0, 2.0], [1.0, 9.0]]), [1, 1]) == 3.0


def test_path_stops_where_load_is_low() -> None:
    neighbours = [[1], [0, 2], [1]]
    assert forwarding_path(0, [12, 12, 3], [9.0, 5.0, 1.0], neighbours, 11, 3) == [0, 1, 2]
    assert forwarding_path(0, [11, 12, 3], [9.0, 5.0, 1.0], neighbours, 11, 3) == [0]


def test_two_of_three_longer_lives_end_in_time() -> None:
    assert dying_chance([1, 5, 6, 20], age=2, steps=5) == 2 / 4


def test_a_task_lost_half_way_is_done_again() -> None:
    lives = [
        Life(crawler=0, start=0.0, end=5.0, is_announced=False),
        Life(crawler=1, start=1.0, end=99.0, is_announced=True),
    ]
    config = ChurnConfig(crawlers=2, sites=1, steps=30, connections=1, recrawl_steps=20)
    run = SlowChurn(steps=[[10.0], [10.0]], pages=[100], first=[0.5], lives=lives, config=config)
    run.run()
    assert (run.done_pages, run.migrated) == (100, 1)
    assert run.lost_pages == pytest.approx(45.0)
    assert run.part_pages == pytest.approx(95.0)  # started again at 20.5
