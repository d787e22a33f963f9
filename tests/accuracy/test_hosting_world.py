"""`predict` where a third of the subnets span continents and places are those of registrations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ipmicra.delegate.machine import DelegationMachine
from ipmicra.delegate.policies.predict.policy import Predict
from ipmicra.delegate.replay.quality import SiteOutcome, quality_of
from ipmicra.delegate.replay.replay import Replay
from ipmicra.delegate.replay.world import LocationKind, locations_of
from ipmicra.lab.worlds.hosting import HOSTING_PLAN, HostingPlan, invent_hosting

PLAN = replace(HOSTING_PLAN, crawlers=12, sites=1600, subnets=320, countries=30, cities_per_country=4)


def played(plan: HostingPlan, seed: int) -> list[SiteOutcome]:
    world, tree = invent_hosting(plan, np.random.default_rng(seed))
    machine = DelegationMachine(tree, Predict(), locations=locations_of(world, LocationKind.WORLD, {}))
    return Replay(world, machine).run(range(len(world.sites)))


@pytest.mark.parametrize("seed", [0, 1])
def test_sites_get_their_nearest_crawler_although_blocks_span_continents(seed: int) -> None:
    outcomes = played(PLAN, seed)
    early, late = quality_of(outcomes[:400]), quality_of(outcomes[800:])
    assert late.optimal > 0.9
    assert late.within_2ms > 0.92
    assert late.probes_per_site < early.probes_per_site < 4.0


def test_world_depends_on_its_seed_alone() -> None:
    plan = replace(PLAN, sites=50, subnets=20)
    one, other = (invent_hosting(plan, np.random.default_rng(3))[0] for _ in range(2))
    assert one.sites == other.sites
    assert (one.rtt_ms == other.rtt_ms).all()
    assert len({site.address for site in one.sites}) == 50
