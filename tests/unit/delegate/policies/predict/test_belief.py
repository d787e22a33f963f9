"""Gaussians against the textbook."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.delegate.policies.predict.belief import Normal, Savings, quantile_points
from tests.reference.slow_normal import condition_all, saving_by_chance

SAVINGS = Savings(offset_ms=2.0, fixed_ms=20.0, quantiles=15)


def some_gaussian(seed: int, size: int) -> Normal:
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((size, size)) * 0.3
    return Normal(rng.normal(3.0, 0.5, size), root @ root.T + 0.05 * np.eye(size))


@given(seed=st.integers(0, 2**32 - 1), values=st.lists(st.floats(0, 6), min_size=1, max_size=4))
def test_one_value_after_another_is_the_same_as_all_at_once(seed: int, values: list[float]) -> None:
    normal = some_gaussian(seed, 5)
    mean, covariance = condition_all(normal.mean, normal.covariance, dict(enumerate(values)))
    for i, value in enumerate(values):
        normal.condition(i, value)
    np.testing.assert_allclose(normal.mean, mean, atol=1e-6)
    np.testing.assert_allclose(normal.covariance, covariance, atol=1e-6)


def test_surprise_widens_and_agreement_does_not_narrow() -> None:
    calm, upset = some_gaussian(1, 3), some_gaussian(1, 3)
    calm.condition(0, float(calm.mean[0]))
    upset.condition(0, float(upset.mean[0]) + 5 * float(np.sqrt(upset.covariance[0, 0])))
    assert calm.widening(4.0) == 1.0
    assert upset.widening(4.0) == pytest.approx((4 + 25) / 5)


@given(level=st.floats(1, 5), spread=st.floats(0.05, 1.0), floor=st.floats(0, 20), best=st.floats(1, 100))
def test_saving_over_a_measured_round_trip_is_what_chance_gives(
    level: float, spread: float, floor: float, best: float
) -> None:
    belief = Normal(np.array([level]), np.array([[spread**2]]))
    fine = Savings(offset_ms=2.0, fixed_ms=20.0, quantiles=200)
    found = fine.over_known(belief, np.array([floor]), np.array([floor / 2]), best, 1.0)[0]
    draws = level + spread * np.random.default_rng(1).standard_normal(20_000)
    expected = saving_by_chance(draws, best, floor_ms=floor, least_ms=floor / 2, offset_ms=2.0, fixed_ms=20.0)
    assert found == pytest.approx(expected, abs=0.15)


def test_nothing_is_saved_where_light_is_too_slow() -> None:
    belief = Normal(np.array([1.0]), np.array([[4.0]]))
    assert SAVINGS.over_known(belief, np.zeros(1), np.array([30.0]), 25.0, 1.0)[0] == 0.0


def test_a_crawler_saves_nothing_beside_itself_and_more_when_less_sure() -> None:
    belief = Normal(np.array([3.0, 3.2, 3.2]), np.diag([0.01, 0.01, 0.5]))
    saved = SAVINGS.over_expected(belief, np.zeros(3), 0)
    assert saved[0] < 1e-4
    assert saved[2] > 4 * saved[1] > 0


def test_correlated_crawlers_promise_less_than_independent_ones() -> None:
    covariance = np.full((2, 2), 0.1)
    together = Normal(np.array([3.0, 3.1]), covariance + 0.001 * np.eye(2))
    apart = Normal(np.array([3.0, 3.1]), 0.101 * np.eye(2))
    assert (
        SAVINGS.over_expected(together, np.zeros(2), 0)[1]
        < SAVINGS.over_expected(apart, np.zeros(2), 0)[1] / 10
    )


def test_quantile_points_are_symmetric_around_nil() -> None:
    points = quantile_points(15)
    np.testing.assert_allclose(points, -points[::-1], atol=1e-12)
    assert points[7] == pytest.approx(0.0, abs=1e-12)
