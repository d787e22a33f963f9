"""The default evenness, in worlds whose round trips are known."""

from __future__ import annotations

import numpy as np
import pytest

from ipmicra.assign.balance.config import AuctionConfig
from ipmicra.assign.balance.demand import Demand
from ipmicra.assign.balance.trade import trade_curve
from ipmicra.lab.worlds.populations import KingLike, TransitStub, king_like, transit_stub

LEVELS = (1.0, 0.95, 0.9, 0.8, 0.5, 0.0)


def demand_of(seed: int, kind: str, crawlers: int) -> Demand:
    rng = np.random.default_rng(seed)
    made = king_like(rng, KingLike(nodes=500)) if kind == "king" else transit_stub(rng, TransitStub(hosts=6))
    order = rng.permutation(len(made.rtt_ms))[: 400 + crawlers]
    pages = np.exp(rng.normal(np.log(80), 1.2, 400)) + 1
    cost = made.rtt_ms[np.ix_(order[crawlers:], order[:crawlers])]
    return Demand(cost_ms=cost, load=pages, units=np.ones(crawlers))


@pytest.mark.slow
def test_no_other_evenness_has_more_pages_per_hour_than_the_default_in_the_mean_of_many_worlds() -> None:
    worlds = [
        demand_of(seed, kind, count) for kind in ("king", "stub") for count in (5, 12) for seed in range(3)
    ]
    rates = [[point.pages_per_hour or 0.0 for point in trade_curve(one, LEVELS)] for one in worlds]
    mean = np.mean([np.array(row) / max(row) for row in rates], axis=0)
    assert LEVELS[int(mean.argmax())] == AuctionConfig().evenness
    assert mean[0] > 1.5 * mean[-1]
