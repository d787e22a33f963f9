"""Round trips between crawlers, as samples to learn from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ipmicra.delegate.config import price_ms_of
from ipmicra.delegate.machine import DelegationMachine
from ipmicra.delegate.policies.predict.policy import Predict
from ipmicra.delegate.replay.replay import Replay
from ipmicra.delegate.replay.world import LocationKind, locations_of
from ipmicra.lab.worlds.synthetic import WorldPlan, invent


def test_crawlers_that_measured_each_other_know_something_before_the_first_site() -> None:
    world, tree = invent(WorldPlan(crawlers=5, sites=20, subnets=20), np.random.default_rng(4))
    mutual = np.full((5, 5), 40.0)
    taught = {}
    for mutual_ms in (None, mutual):
        policy = Predict()
        places = locations_of(world, LocationKind.WORLD, {})
        Replay(replace(world, mutual_ms=mutual_ms), DelegationMachine(tree, policy, locations=places))
        taught[mutual_ms is None] = repr(policy)
    assert "20 sites" in taught[False]  # each pair, both ways
    assert "sites" not in taught[True].split("PlacementCheck")[0]


def test_mutual_samples_say_nothing_against_places_and_cost_no_probes() -> None:
    world, tree = invent(WorldPlan(crawlers=4, sites=10, subnets=10), np.random.default_rng(4))
    policy = Predict()
    machine = DelegationMachine(tree, policy)
    Replay(replace(world, mutual_ms=np.full((4, 4), 900.0)), machine)
    assert "0 of 0 places wrong" in repr(policy)
    assert policy.price_ms == price_ms_of(policy.config, 4)
