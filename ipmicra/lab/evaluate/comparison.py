"""Policies side by side: every one on the same random orders of arrival.

A policy learns from what it delegates, so its result depends on the order in which sites arrive. Each
variant is therefore replayed on the same orders (seeds 0, 1, …); of each order the first `train` sites are
delegated but not counted, as in the paper, which trained on 650 of its 1,000. A variant starts from nothing
in every order.

Sites that already have a crawler (`today` in a user's own file) are rated by the same figures without a
replay.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ipmicra.delegate.config import DelegatorConfig
from ipmicra.delegate.machine import DelegationMachine
from ipmicra.delegate.policies.baselines import hashed
from ipmicra.delegate.policies.registry import PolicyVariant
from ipmicra.delegate.ports import LocationSource, Policy
from ipmicra.delegate.replay.answers import Trust
from ipmicra.delegate.replay.quality import GroundTruth, Quality, SiteOutcome, quality_of
from ipmicra.delegate.replay.replay import Replay
from ipmicra.delegate.replay.world import World
from ipmicra.delegate.subnets import SubnetTree
from ipmicra.model.types import Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyResult:
    """How a variant did: one score for each order of arrival."""

    policy: str
    setting: str
    training: tuple[Quality, ...]
    test: tuple[Quality, ...]
    trust: Trust = field(default_factory=Trust)
    """How far the test's answers are to be trusted, over all orders."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The rules that all variants share."""

    world: World
    tree: SubnetTree
    locations: LocationSource | None
    train: int
    """Sites that arrive before those that count; policies delegate them with probes of their own."""
    seeds: int
    """Random orders of arrival: seeds 0, 1, …"""
    config: DelegatorConfig = field(default_factory=DelegatorConfig)
    others_ms: Mapping[str, Floats] = field(default_factory=dict)
    """Round trips by site of ways that policies are compared with; see `other_ways`."""

    def replay(self, policy: Policy) -> Replay:
        """Return a replay in which a policy starts from nothing."""
        machine = DelegationMachine(self.tree, policy, self.config, locations=self.locations)
        return Replay(self.world, machine, asks_chance=True)

    def run(self, variant: PolicyVariant) -> Iterator[tuple[Quality, Quality]]:
        """Return the scores of training and test for each order of arrival."""
        for training, _outcomes, test in self.run_answers(variant):
            yield training, test

    def run_answers(self, variant: PolicyVariant) -> Iterator[tuple[Quality, list[SiteOutcome], Quality]]:
        """Return, for each order of arrival, the score of training, and answers and score of the test."""
        for seed in range(self.seeds):
            order = self._order(seed)
            policy = variant.make(np.random.default_rng([seed, 1]))
            replay = self.replay(policy)
            training = quality_of(replay.run(order[: self.train]), self.others_ms)
            outcomes = replay.run(order[self.train :])
            yield training, outcomes, quality_of(outcomes, self.others_ms)

    def run_given(self, crawlers: NDArray[np.int64]) -> Iterator[tuple[Quality, Quality]]:
        """Rate the crawlers that the sites have already; sites without one (-1) are left out."""
        judge = GroundTruth(self.world)
        for seed in range(self.seeds):
            order = self._order(seed)
            training, test = (
                quality_of(
                    [judge.outcome(i, int(crawlers[i]), 0) for i in part if crawlers[i] >= 0], self.others_ms
                )
                for part in (order[: self.train], order[self.train :])
            )
            yield training, test

    def _order(self, seed: int) -> list[int]:
        order: list[int] = np.random.default_rng(seed).permutation(len(self.world.sites)).tolist()
        return order


def other_ways(world: World) -> dict[str, Floats]:
    """Return each site's round trip by ways that everybody can be compared with: site hash, and today's."""
    found = [world.measured_from(i) for i in range(len(world.sites))]
    chosen = [some[hashed(site.address, len(some))] for some, site in zip(found, world.sites, strict=True)]
    ways = {"hash": world.given_ms(np.array(chosen, np.int64))}
    if world.today is not None:
        ways["today"] = world.given_ms(world.today)
    return ways
