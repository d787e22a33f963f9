"""Compiled beliefs are those of the formulas, whatever the places, crawlers and samples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.delegate.policies.predict.belief import LEAST_WEIGHT, POINTS, Belief, Savings, quantile_points
from ipmicra.delegate.policies.predict.covariance import dense
from tests.reference.slow_belief import SlowBelief, covariance_of

SAVINGS = Savings(offset_ms=2.0, fixed_ms=20.0)


def both(rng: np.random.Generator, places: int, crawlers: int) -> tuple[Belief, SlowBelief]:
    """Make a belief at random, and its twin."""
    means, floors = rng.normal(3.0, 0.8, (places, crawlers)), rng.uniform(0, 30, (places, crawlers))
    scores = rng.normal(0, 2, places)
    scores -= np.log(np.exp(scores).sum())
    mixed = rng.normal(0, 0.3, (crawlers, crawlers))
    covariance = mixed @ mixed.T + 0.05 * np.eye(crawlers)
    belief = Belief(means, floors, floors * 1.4, scores, dense(covariance), offset_ms=2.0, tail=4.0)
    parts = (means.copy(), floors, floors * 1.4, scores.copy(), covariance)
    return belief, SlowBelief(*parts, offset_ms=2.0, tail=4.0)


@given(
    seed=st.integers(0, 2**32 - 1),
    places=st.integers(1, 20),
    crawlers=st.integers(1, 6),
    trips=st.lists(st.floats(0.1, 300.0), max_size=4),
)
def test_belief_after_samples_is_that_of_its_slow_twin(
    seed: int, places: int, crawlers: int, trips: list[float]
) -> None:
    rng = np.random.default_rng(seed)
    fast, slow = both(rng, places, crawlers)
    asked = rng.permutation(crawlers)[: len(trips)].tolist()
    for crawler, rtt_ms in zip(asked, trips, strict=False):
        noise = float(rng.choice([0.0, 0.2]))
        fast.condition(crawler, rtt_ms, noise)
        slow.condition(crawler, rtt_ms, noise)
    np.testing.assert_allclose(fast.means, slow.means, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(fast.scores, slow.scores, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(covariance_of(fast), slow.covariance, rtol=1e-6, atol=1e-9)
    best_ms = float(rng.uniform(1, 150))
    known = slow.over_known(best_ms, 20.0, quantile_points(POINTS), fast.widening, LEAST_WEIGHT)
    np.testing.assert_allclose(SAVINGS.over_known(fast, best_ms), known, rtol=1e-6, atol=1e-9)
    holder = int(rng.integers(crawlers))
    expected = slow.over_expected(holder, 20.0, LEAST_WEIGHT)
    np.testing.assert_allclose(SAVINGS.over_expected(fast, holder), expected, rtol=1e-4, atol=1e-4)
    weights = slow.weights(LEAST_WEIGHT)
    trip = np.exp(weights @ np.log(slow.floors[:, holder] + np.exp(slow.means[:, holder]))) - 2.0
    assert fast.expected_ms(holder) == pytest.approx(max(0.0, trip), rel=1e-6, abs=1e-9)
