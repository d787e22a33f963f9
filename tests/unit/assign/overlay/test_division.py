"""How a fleet divides coordinate space: never worse than in the plain way."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ipmicra.assign.coordinate.space import learn_space
from ipmicra.assign.overlay.config import ZoneConfig
from ipmicra.assign.overlay.division import Division, best_division, plain_division
from ipmicra.assign.overlay.overlay import Overlay


def drawing(crawlers: np.ndarray, scheme: str) -> Callable[[np.ndarray], Callable[[np.ndarray], Overlay]]:
    def draw(turn: np.ndarray) -> Callable[[np.ndarray], Overlay]:
        points = crawlers @ turn

        def join(order: np.ndarray) -> Overlay:
            overlay = Overlay(learn_space(points, 0.0), scheme=scheme)
            overlay.join_many(points[order])
            return overlay

        return join

    return draw


def mean_ms(division: Division, points: np.ndarray, away: np.ndarray) -> float:
    return float(away[np.arange(len(points)), division.owners(points)].mean())


@given(seed=st.integers(0, 10_000), fleet=st.integers(1, 9), sites=st.integers(1, 40))
@settings(max_examples=25)
def test_known_sites_are_no_farther_than_in_the_plain_division(seed: int, fleet: int, sites: int) -> None:
    rng = np.random.default_rng(seed)
    crawlers, points = rng.uniform(0, 100, (fleet, 3)), rng.uniform(0, 100, (sites, 3))
    away = np.linalg.norm(points[:, None] - crawlers[None], axis=2)
    draw = drawing(crawlers, "MP")
    config = ZoneConfig(turns=3, orders=4, imagined=0)
    best = best_division(crawlers, (points, away), draw, config)
    assert mean_ms(best, points, away) <= mean_ms(plain_division(crawlers, draw), points, away) + 1e-9
    again = best_division(crawlers, (points, away), draw, config)
    assert again.order.tolist() == best.order.tolist()
    assert sorted(best.order.tolist()) == list(range(fleet))
    assert best.owners(crawlers).tolist() == list(range(fleet)), "under MP everybody stands at home"


def test_an_unknown_round_trip_decides_nothing() -> None:
    crawlers = np.array([[0.0, 0.0, 0.0], [100.0, 3.0, 1.0], [50.0, 60.0, 2.0]])
    away = np.array([[1.0, np.nan, np.nan], [np.nan, np.nan, 5.0]])
    points = np.array([[5.0, 0.0, 0.0], [50.0, 55.0, 0.0]])
    best = best_division(crawlers, (points, away), drawing(crawlers, "DL"), ZoneConfig(turns=2, orders=2))
    assert len(best.zones) == 3
