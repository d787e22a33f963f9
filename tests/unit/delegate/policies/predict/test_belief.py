"""Beliefs against the textbook."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.delegate.policies.predict.belief import Belief, Savings, quantile_points
from ipmicra.delegate.policies.predict.covariance import dense
from ipmicra.model.types import Floats
from tests.reference.slow_belief import covariance_of
from tests.reference.slow_normal import condition_all, saving_by_chance

SAVINGS = Savings(offset_ms=2.0, fixed_ms=20.0)


def belief_in(means: Floats, covariance: Floats, floor_ms: float = 0.0, least_ms: float = 0.0) -> Belief:
    """Return a belief in equally likely places, a row each."""
    floors, least = np.full_like(means, floor_ms), np.full_like(means, least_ms)
    scores = np.full(len(means), -np.log(len(means)))
    return Belief(means, floors, least, scores, dense(covariance), offset_ms=2.0, tail=4.0)


def some_gaussian(seed: int, size: int, places: int = 1) -> Belief:
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((size, size)) * 0.3
    return belief_in(rng.normal(3.0, 0.5, (places, size)), root @ root.T + 0.05 * np.eye(size))


def rtt_of(value: float) -> float:
    return float(np.exp(value)) - 2.0


@given(seed=st.integers(0, 2**32 - 1), values=st.lists(st.floats(1, 6), min_size=1, max_size=4))
def test_one_value_after_another_is_the_same_as_all_at_once(seed: int, values: list[float]) -> None:
    belief = some_gaussian(seed, 5, places=2)
    wanted = [condition_all(mean, covariance_of(belief), dict(enumerate(values))) for mean in belief.means]
    for i, value in enumerate(values):
        belief.condition(i, rtt_of(value))
    for found, (mean, covariance) in zip(belief.means, wanted, strict=True):
        np.testing.assert_allclose(found, mean, atol=1e-6)
        np.testing.assert_allclose(covariance_of(belief), covariance, atol=1e-6)


def test_surprise_widens_and_agreement_does_not_narrow() -> None:
    calm, upset = some_gaussian(1, 3), some_gaussian(1, 3)
    calm.condition(0, rtt_of(float(calm.means[0, 0])))
    upset.condition(0, rtt_of(float(upset.means[0, 0]) + 5 * float(np.sqrt(upset.variances[0]))))
    assert calm.widening == 1.0
    assert upset.widening == pytest.approx((4 + 25) / 5)


def test_sample_says_at_which_of_two_places_a_site_is() -> None:
    near, far = np.log([5.0, 100.0]), np.log([100.0, 5.0])
    belief = belief_in(np.array([near, far]), 0.05 * np.eye(2))
    belief.condition(0, 97.0)
    assert np.exp(belief.scores).round(2).tolist() == [0.0, 1.0]
    assert belief.expected_ms(1) == pytest.approx(3.0, abs=0.1)


def test_neighbour_says_less_than_a_sample_of_the_site_itself() -> None:
    own, beside, stranger = (some_gaussian(3, 2) for _ in range(3))
    before, rtt_ms = float(own.means[0, 0]), rtt_of(float(own.means[0, 0]) + 1.0)
    own.condition(0, rtt_ms)
    beside.condition(0, rtt_ms, noise=0.1)
    stranger.condition(0, rtt_ms, noise=10.0)
    assert own.means[0, 0] > beside.means[0, 0] > stranger.means[0, 0] > before
    assert beside.variances[0] > 0
    assert beside.density == 0


@given(level=st.floats(1, 5), spread=st.floats(0.05, 0.5), floor=st.floats(0, 20), best=st.floats(1, 100))
def test_saving_over_a_measured_round_trip_is_about_what_chance_gives(
    level: float, spread: float, floor: float, best: float
) -> None:
    belief = belief_in(np.array([[level]]), np.array([[spread**2]]), floor, floor / 2)
    found = SAVINGS.over_known(belief, best)[0]
    draws = level + spread * np.random.default_rng(1).standard_normal(20_000)
    expected = saving_by_chance(draws, best, floor_ms=floor, least_ms=floor / 2, offset_ms=2.0, fixed_ms=20.0)
    assert found == pytest.approx(expected, abs=0.7, rel=0.2)


def test_saving_is_the_mean_over_the_places() -> None:
    near, far = np.array([1.5, 2.0]), np.array([4.0, 4.5])
    covariance = 0.1 * np.eye(2)
    both = SAVINGS.over_known(belief_in(np.array([near, far]), covariance), 30.0)
    each = [SAVINGS.over_known(belief_in(one[None], covariance), 30.0) for one in (near, far)]
    np.testing.assert_allclose(both, np.mean(each, axis=0))


def test_nothing_is_saved_where_light_is_too_slow() -> None:
    belief = belief_in(np.array([[1.0]]), np.array([[4.0]]), least_ms=30.0)
    assert SAVINGS.over_known(belief, 25.0)[0] == 0.0


def test_a_crawler_saves_nothing_beside_itself_and_more_when_less_sure() -> None:
    belief = belief_in(np.array([[3.0, 3.2, 3.2]]), np.diag([0.01, 0.01, 0.5]))
    saved = SAVINGS.over_expected(belief, 0)
    assert saved[0] < 1e-4
    assert saved[2] > 4 * saved[1] > 0


def test_correlated_crawlers_promise_less_than_independent_ones() -> None:
    covariance = np.full((2, 2), 0.1)
    together = belief_in(np.array([[3.0, 3.1]]), covariance + 0.001 * np.eye(2))
    apart = belief_in(np.array([[3.0, 3.1]]), 0.101 * np.eye(2))
    assert SAVINGS.over_expected(together, 0)[1] < SAVINGS.over_expected(apart, 0)[1] / 10


def test_quantile_points_are_symmetric_around_nil() -> None:
    points = quantile_points(15)
    np.testing.assert_allclose(points, -points[::-1], atol=1e-12)
    assert points[7] == pytest.approx(0.0, abs=1e-12)


def test_places_that_are_unlikely_each_count_together() -> None:
    """Seven of ten sites are beside the first crawler, the others at one of a hundred places elsewhere."""
    means = np.log(np.array([[5.0, 100.0], *[[100.0, 5.0]] * 100]))
    belief = belief_in(means, 0.01 * np.eye(2))
    belief.scores = np.log([0.7, *[0.003] * 100])
    assert SAVINGS.chance(belief, 0, np.arange(2)) == pytest.approx(0.7, abs=0.01)


def test_surprise_makes_an_answer_less_sure() -> None:
    calm, upset = (belief_in(np.log([[30.0, 20.0, 26.0]]), 0.04 * np.eye(3)) for _ in range(2))
    calm.condition(0, 28.0)
    upset.condition(0, 100.0)
    sure, unsure = (SAVINGS.chance(one, 1, np.arange(3)) for one in (calm, upset))
    assert 0.5 < unsure < sure - 0.1


def test_large_fleets_have_a_chance_too() -> None:
    """A crawler far nearer than a thousand others is surely the nearest; of two alike either may be."""
    means = np.full((1, 1000), 6.0)
    means[0, 0] = 2.0
    belief = belief_in(means, 0.05 * np.eye(1000))
    assert SAVINGS.chance(belief, 0, np.arange(1000)) == 1.0
    belief.means[0, 999] = 2.0
    assert SAVINGS.chance(belief, 999, np.arange(1000)) == pytest.approx(0.5, abs=0.05)
