"""Worlds of the churn experiment, the bound, and the small test."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from ipmicra.errors import InputError
from ipmicra.lab.churn.bound import most_pages
from ipmicra.lab.churn.config import ChurnConfig, SizeConfig
from ipmicra.lab.churn.experiment import draw
from ipmicra.lab.churn.population import cut_sites, draw_pages, draw_world
from ipmicra.lab.churn.schemes.keys import hashed_points
from ipmicra.lab.simulate.churn import simulate_small_test
from ipmicra.lab.worlds.populations import KingLike, king_like


@given(seed=st.integers(0, 10**6), sites=st.integers(1, 60))
def test_cutting_loses_no_page_and_makes_no_empty_piece(seed: int, sites: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = SizeConfig(mean_pages=6000)
    pages = draw_pages(sites, sizes, rng)
    work = cut_sites(pages, sizes, rng)
    assert np.bincount(work.site, work.pages, sites).tolist() == pages.tolist()
    counts = np.bincount(work.site, minlength=sites)
    assert work.pages.min() >= 1
    assert counts.max() <= 4
    assert (counts[pages < sizes.least_cut] == 1).all()
    assert (counts[pages >= sizes.least_cut] >= 2).all()


def test_total_pages_are_the_papers() -> None:
    pages = draw_pages(1600, SizeConfig(), np.random.default_rng(1))
    assert pages.sum() == pytest.approx(15_187_511, rel=1e-3)


def test_a_small_matrix_puts_several_sites_on_one_node() -> None:
    rng = np.random.default_rng(1)
    matrix = king_like(rng, KingLike(nodes=60)).rtt_ms
    config = ChurnConfig(crawlers=12, sites=200, landmarks=8)
    world = draw_world(matrix, config, rng)
    assert (world.crawlers, world.sites) == (12, 200)
    assert world.expected_ms.shape == world.rtt_ms.shape
    assert np.corrcoef(world.expected_ms.ravel(), world.rtt_ms.ravel())[0, 1] > 0.7


def test_missing_round_trips_are_taken_for_the_longest() -> None:
    rng = np.random.default_rng(1)
    matrix = king_like(rng, KingLike(nodes=60)).rtt_ms
    matrix[rng.random(matrix.shape) < 0.05] = np.nan
    world = draw_world(matrix, ChurnConfig(crawlers=12, sites=40, landmarks=8), rng)
    assert np.isfinite(world.rtt_ms).all()


@pytest.mark.parametrize("matrix", [np.zeros((3, 4)), np.ones((30, 30))])
def test_a_matrix_that_cannot_hold_the_experiment_is_refused(matrix: np.ndarray) -> None:
    with pytest.raises(InputError, match=r"square|too few"):
        draw_world(matrix, ChurnConfig(crawlers=20), np.random.default_rng(1))


@given(seed=st.integers(0, 10**6), fill=st.floats(0.2, 2.0))
def test_bound_is_never_below_the_linear_programme_and_close_to_it(seed: int, fill: float) -> None:
    rng = np.random.default_rng(seed)
    crawlers, sites = 6, 30
    page_ms = rng.uniform(180, 500, (crawlers, sites))
    demand = rng.lognormal(8, 1, sites)
    room = rng.uniform(0.2, 1, crawlers)
    room *= fill * (demand * page_ms.min(axis=0)).sum() / room.sum()
    by_site = np.kron(np.ones(crawlers), np.eye(sites))
    by_crawler = np.zeros((crawlers, crawlers * sites))
    for crawler in range(crawlers):
        by_crawler[crawler, crawler * sites : (crawler + 1) * sites] = page_ms[crawler]
    # in thousands of pages and their time, so that the solver's tolerances fit the numbers
    limits = np.concatenate([demand, room]) / 1e3
    exact = linprog(-np.ones(crawlers * sites), np.vstack([by_site, by_crawler]), limits).fun * -1e3
    bound = most_pages(demand, room, page_ms)
    assert exact * (1 - 1e-6) <= bound <= exact * 1.05


def test_a_run_that_ends_within_an_interval_counts_its_last_submission() -> None:
    assert [ChurnConfig(steps=steps).submissions for steps in (1, 500, 501, 10_000)] == [1, 1, 2, 20]
    assert ChurnConfig(steps=10_000).ideal_crawls == 20


def test_without_crawlers_nothing_can_be_downloaded() -> None:
    assert most_pages(np.ones(3), np.zeros(2), np.ones((2, 3))) == 0.0


def test_fewer_crawlers_see_the_same_sites() -> None:
    config = ChurnConfig(crawlers=12, sites=40, landmarks=8, steps=100)
    whole = draw(lambda rng: king_like(rng, KingLike(nodes=60)).rtt_ms, config, 1)
    part = whole.limited(4)
    assert part.world.rtt_ms.tolist() == whole.world.rtt_ms[:4].tolist()
    assert max(life.crawler for life in part.lives) < 4
    assert part.bound_mbps() <= whole.bound_mbps() * (1 + 1e-9)
    with pytest.raises(InputError, match="13 crawlers"):
        whole.limited(13)


def test_hashed_points_fill_the_cube_and_stay_what_they_are() -> None:
    points = hashed_points([f"site-{i}" for i in range(2000)], 3)
    assert points.mean(axis=0) == pytest.approx([0.5] * 3, abs=0.03)
    assert hashed_points(["a"], 3).tolist() == hashed_points(["a"], 3).tolist()
    assert (points < 1).all()


def test_small_test_has_the_papers_order() -> None:
    """Section 5.1: the farthest crawler is worst, the nearest best, NC-CAN between random and best."""
    rows = simulate_small_test(10)
    rates = {row["scheme"]: row["throughput_mbps"] for row in rows}
    assert rows[0]["scheme"] == "rtt-worst"
    assert rows[-1]["scheme"] == "rtt-best"
    assert rates["random"] < min(rates["city"], rates["isp-city"], rates["nc-can"])
    with pytest.raises(InputError):
        simulate_small_test(0)
