"""Answers without a probe lose less than its price, and a sample is never expected to do harm."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ipmicra.delegate.attempt import Attempt, Choice, Settle
from ipmicra.delegate.machine import DelegationMachine
from ipmicra.delegate.policies.predict.belief import Belief, Savings, quantile_points
from ipmicra.delegate.policies.predict.covariance import dense
from ipmicra.delegate.policies.predict.policy import Predict
from ipmicra.delegate.replay.replay import Replay
from ipmicra.delegate.replay.world import LocationKind, locations_of
from ipmicra.lab.worlds.synthetic import WorldPlan, invent
from ipmicra.model.types import Floats
from tests.reference.slow_belief import covariance_of

SAVINGS = Savings(offset_ms=2.0, fixed_ms=20.0)
DRAWS = 4000


def believed(means: Floats, covariance: Floats) -> Belief:
    """Return a belief in as many places as there are rows; light rules nothing out."""
    nil, scores = np.zeros_like(means), np.full(len(means), -np.log(len(means)))
    return Belief(means, nil, nil, scores, dense(covariance), offset_ms=2.0, tail=4.0)


def costs(belief: Belief, rng: np.random.Generator) -> Floats:
    """Return T · log(round trip + T) by draw and crawler: the slow twin of the expected regret."""
    weights = np.exp(belief.scores)
    places = rng.choice(len(weights), DRAWS, p=weights / weights.sum())
    values = belief.means[places] + rng.multivariate_normal(
        np.zeros(len(belief.variances)), covariance_of(belief), DRAWS, method="eigh"
    )
    trips = np.maximum(np.maximum(belief.floors[places] + np.exp(values) - 2.0, belief.least[places]), 0.0)
    found: Floats = 20.0 * np.log(trips + 20.0)
    return found


class Checked(Predict):
    """Compares every answer without a sample with the slow twin."""

    def __init__(self) -> None:
        super().__init__()
        self.regrets: list[tuple[float, float]] = []

    def decide(self, attempt: Attempt) -> Choice:
        choice = super().decide(attempt)
        if isinstance(choice, Settle) and not attempt.samples and not attempt.losses:
            cost = costs(self._notes(attempt).belief, np.random.default_rng(7))
            usable = self.roster.usable()
            lost = cost[:, choice.crawler] - cost[:, usable].min(axis=1)
            self.regrets.append((float(lost.mean()), self.price_ms))
        return choice


@given(seed=st.integers(0, 10_000))
@settings(max_examples=6)
def test_expected_regret_of_an_inherited_answer_is_below_the_price(seed: int) -> None:
    plan = WorldPlan(crawlers=6, sites=120, subnets=40, countries=6, cities_per_country=2)
    world, tree = invent(plan, np.random.default_rng(seed))
    policy = Checked()
    machine = DelegationMachine(tree, policy, locations=locations_of(world, LocationKind.WORLD, {}))
    Replay(world, machine).run(range(len(world.sites)))
    for regret_ms, price_ms in policy.regrets:
        assert regret_ms < 1.1 * price_ms  # both are means of draws


beliefs = st.integers(0, 10_000).map(np.random.default_rng)


def drawn_belief(rng: np.random.Generator, places: int, count: int, spread: float) -> Belief:
    """Draw a belief in some places."""
    root = rng.normal(0, spread, (count, count))
    return believed(rng.uniform(2.0, 4.5, (places, count)), root @ root.T + 0.04 * np.eye(count))


def least_cost(belief: Belief) -> float:
    """Return the expected cost of the best single choice; each depends on its own distribution alone."""
    deviations = np.sqrt(np.maximum(belief.variances, 0.0))
    values = belief.means[:, :, None] + deviations[:, None] * quantile_points(201)
    cost = (20.0 * np.log(np.maximum(np.exp(values) - 2.0, 0.0) + 20.0)).mean(axis=2)
    return float((np.exp(belief.scores) @ cost).min())


@given(rng=beliefs, places=st.integers(1, 4), count=st.integers(2, 5))
def test_averaged_over_its_own_distribution_one_more_sample_does_not_raise_the_regret(
    rng: np.random.Generator, places: int, count: int
) -> None:
    """The nearest of all costs the same on average, so regret falls as the best choice's cost does.

    Places are weighed by a Student density, a little wider than the Gaussian that samples are drawn from.
    """
    belief = drawn_belief(rng, places, count, 0.4)
    crawler = int(rng.integers(count))
    deviation = float(np.sqrt(belief.variances[crawler]))
    after = []
    for mean in belief.means[:, crawler]:
        for value in mean + deviation * quantile_points(51):
            told = replace(belief)
            told.condition(crawler, float(np.exp(value)) - 2.0)
            after.append(least_cost(told))
    assert np.mean(after) <= least_cost(belief) + 0.1


@given(rng=beliefs, places=st.integers(1, 4), count=st.integers(2, 6))
def test_regret_agrees_with_its_slow_twin(rng: np.random.Generator, places: int, count: int) -> None:
    belief = drawn_belief(rng, places, count, 0.3)
    holder = int(belief.logarithms().argmin())
    savings = SAVINGS.over_expected(belief, holder)
    savings[holder] = 0.0
    regret = SAVINGS.regret(belief, holder, savings)
    cost = costs(belief, rng)
    exact = float((cost[:, holder] - cost.min(axis=1)).mean())
    assert abs(regret - exact) < 0.1 * exact + 0.1
