"""The policy `predict` by itself."""

from __future__ import annotations

import pytest

from ipmicra.delegate.config import PredictConfig
from ipmicra.delegate.policies.predict.policy import Predict


@pytest.mark.parametrize("overspent", [50.0, 1e5, 1e300])
def test_price_stays_within_its_rise_however_long_a_run_overspends(overspent: float) -> None:
    """Long runs printed an overflow warning; tests take warnings for errors."""
    config = PredictConfig()
    policy = Predict(config)
    policy.price.overspent = overspent
    assert policy.price_ms == pytest.approx(config.probe_price_ms * config.price_rise)
