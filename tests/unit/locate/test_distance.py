"""Expected round trips by distance, and what is learnt from samples."""

from __future__ import annotations

import numpy as np
import pytest

from ipmicra.locate.distance import DistanceSource


def world(
    count: int, access_ms: float, slope: float, spread: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    km = rng.uniform(10, 15_000, count)
    rtt = (access_ms + slope * km * 2 / (299.792458 * 2 / 3)) * np.exp(rng.normal(0, spread, count))
    return km, np.maximum(rtt, km / 99.0)


def test_start_is_fibre_times_slope_plus_access_time() -> None:
    median, spread = DistanceSource().expected_many(np.array([0.0, 1000.0]))
    assert median == pytest.approx([4.0, 4.0 + 1.7 * 10.007], rel=1e-3)
    assert spread.shape == (2,)
    assert (spread > 0).all()


@pytest.mark.parametrize(("access_ms", "slope"), [(2.0, 1.4), (10.0, 2.4)])
def test_many_samples_teach_slope_access_and_spread(access_ms: float, slope: float) -> None:
    source = DistanceSource()
    source.learn(*world(3000, access_ms, slope, 0.15, seed=1))
    assert source.slope == pytest.approx(slope, rel=0.05)
    assert source.access_ms == pytest.approx(access_ms, rel=0.35)
    assert source.log_spread == pytest.approx(0.15, abs=0.04)


def test_outliers_hardly_move_it() -> None:
    km, rtt = world(2000, 4.0, 1.7, 0.1, seed=2)
    rtt[::8] *= 12
    source = DistanceSource()
    source.learn(km, rtt)
    assert source.slope == pytest.approx(1.7, rel=0.1)


def test_one_sample_moves_it_little_and_nonsense_not_at_all() -> None:
    source = DistanceSource()
    source.learn([1000.0], [80.0])
    assert source.slope == pytest.approx(1.7, rel=0.15)
    before = source.expected_many([500.0])[0]
    source.learn([1000.0, np.nan, -5.0, 9000.0, 100.0], [np.nan, 5.0, 5.0, 1.0, -3.0])
    assert source.expected_many([500.0])[0] == before


def test_doubt_about_a_site_widens_the_spread() -> None:
    crawlers, sites = (
        np.array([[52.0, 5.0], [40.0, -74.0]]),
        np.array([[50.0, 8.0, 10.0], [50.0, 8.0, 2000.0]]),
    )
    median, spread = DistanceSource().expected_between(crawlers, sites)
    assert median.shape == spread.shape == (2, 2)
    assert (median[:, 0] == median[:, 1]).all()
    assert (spread[:, 1] > spread[:, 0]).all()


def test_repr_says_what_was_learnt() -> None:
    assert repr(DistanceSource()) == "<DistanceSource 4.00 ms + 1.70 × fibre, spread 0.45, 0 samples>"
