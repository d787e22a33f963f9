"""The policy `predict` by itself."""

from __future__ import annotations

from ipaddress import IPv4Address

import pytest

from ipmicra.delegate.config import PredictConfig
from ipmicra.delegate.machine import DelegationMachine
from ipmicra.delegate.policies.predict.policy import Predict
from ipmicra.delegate.replay.world import WorldLocations
from tests.fakes.fleet import arrived, asked, crawler, delegated, joined, place
from tests.fakes.subnet_tree import flat_tree


@pytest.mark.parametrize("overspent", [50.0, 1e5, 1e300])
def test_price_stays_within_its_rise_however_long_a_run_overspends(overspent: float) -> None:
    """Long runs printed an overflow warning; tests take warnings for errors."""
    config = PredictConfig()
    policy = Predict(config)
    policy.price.overspent = overspent
    assert policy.price_ms == pytest.approx(config.probe_price_ms * config.price_rise)


def test_answer_by_a_place_is_as_sure_as_places_of_its_source_are_right() -> None:
    athens, tokyo, lima = place(38, 24), place(36, 140), place(-12, -77)
    chances = []
    for misplaced in (0.0001, 0.3):
        policy = Predict(PredictConfig(misplaced=misplaced, mixed_places=0))
        places = WorldLocations({IPv4Address("10.0.0.1"): athens})
        machine = DelegationMachine(flat_tree(1), policy, locations=places)
        joined(
            machine,
            *(crawler(name, location=at) for name, at in zip("atl", (athens, tokyo, lima), strict=True)),
        )
        actions = arrived(machine, "10.0.0.1", lambda *_: None)
        chance = delegated(actions).account.chance
        assert asked(actions) == []
        assert chance is not None
        chances.append(chance())
    assert chances == pytest.approx([1.0, 1.0 - 0.3 * 2 / 3], abs=0.02)
