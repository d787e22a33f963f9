"""Answers without a probe lose less than its price, and a sample is never expected to do harm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ipmicra.delegate.attempt import Attempt, Choice, Settle
from ipmicra.delegate.machine import DelegationMachine
from ipmicra.delegate.policies.predict.belief import Normal, Savings, quantile_points
from ipmicra.delegate.policies.predict.policy import Predict
from ipmicra.delegate.replay.replay import Replay
from ipmicra.delegate.replay.world import LocationKind, locations_of
from ipmicra.lab.worlds.synthetic import WorldPlan, invent
from ipmicra.model.types import Floats

SAVINGS = Savings(offset_ms=2.0, fixed_ms=20.0, quantiles=15)
DRAWS = 4000


@dataclass(frozen=True)
class NoLight:
    """A site that may be anywhere: light rules nothing out."""

    floors: Floats
    least: Floats


def no_light(count: int) -> NoLight:
    return NoLight(np.zeros(count), np.zeros(count))


def costs(belief: Normal, outlook: NoLight, draws: Floats) -> Floats:
    """Return T · log(round trip + T) by draw and crawler: the slow twin of the expected regret."""
    scales, directions = np.linalg.eigh(belief.covariance)
    values = belief.mean + draws[:, : len(belief.mean)] @ (directions * np.sqrt(np.maximum(scales, 0))).T
    trips = np.maximum(np.maximum(outlook.floors + np.exp(values) - 2.0, outlook.least), 0.0)
    found: Floats = 20.0 * np.log(trips + 20.0)
    return found


class Checked(Predict):
    """Compares every answer without a sample with the slow twin."""

    def __init__(self) -> None:
        super().__init__()
        self.regrets: list[tuple[float, float]] = []
        self._draws = np.random.default_rng(7).standard_normal((DRAWS, 64))

    def decide(self, attempt: Attempt) -> Choice:
        choice = super().decide(attempt)
        if isinstance(choice, Settle) and not attempt.samples and not attempt.losses:
            notes = self._notes(attempt)
            outlook = notes.prior.outlook
            cost = costs(notes.belief, NoLight(outlook.floors, outlook.least), self._draws)
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


def least_cost(belief: Normal) -> float:
    """Return the expected cost of the best single choice; each depends on its own distribution alone."""
    deviations = np.sqrt(np.maximum(belief.covariance.diagonal(), 0.0))
    values = belief.mean[:, None] + deviations[:, None] * quantile_points(401)
    return float((20.0 * np.log(np.maximum(np.exp(values) - 2.0, 0.0) + 20.0)).mean(axis=1).min())


@given(rng=beliefs, count=st.integers(2, 5))
def test_averaged_over_its_own_distribution_one_more_sample_does_not_raise_the_regret(
    rng: np.random.Generator, count: int
) -> None:
    """The nearest of all costs the same on average, so regret falls as the best choice's cost does."""
    root = rng.normal(0, 0.5, (count, count))
    belief = Normal(rng.uniform(1.5, 5.0, count), root @ root.T + 0.05 * np.eye(count))
    crawler = int(rng.integers(count))
    deviation = float(np.sqrt(belief.covariance[crawler, crawler]))
    after = []
    for value in belief.mean[crawler] + deviation * quantile_points(101):
        told = Normal(belief.mean.copy(), belief.covariance.copy())
        told.condition(crawler, float(value))
        after.append(least_cost(told))
    assert np.mean(after) <= least_cost(belief) + 0.05


@given(rng=beliefs, count=st.integers(2, 6))
def test_regret_agrees_with_its_slow_twin(rng: np.random.Generator, count: int) -> None:
    root = rng.normal(0, 0.3, (count, count))
    belief = Normal(rng.uniform(2.0, 4.0, count), root @ root.T + 0.02 * np.eye(count))
    holder = int(belief.mean.argmin())
    savings = SAVINGS.over_expected(belief, np.zeros(count), holder)
    savings[holder] = 0.0
    regret = SAVINGS.regret(belief, no_light(count), holder, savings)
    cost = costs(belief, no_light(count), rng.standard_normal((DRAWS, count)))
    exact = float((cost[:, holder] - cost.min(axis=1)).mean())
    assert abs(regret - exact) < 0.1 * exact + 0.05
