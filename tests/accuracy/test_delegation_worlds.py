"""Policies in worlds whose truth is known: a line, a grid, two continents, the paper's size."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address

import numpy as np
import pytest

from ipmicra.delegate.config import FRUGAL
from ipmicra.delegate.machine import DelegationMachine
from ipmicra.delegate.policies.baselines import Geo
from ipmicra.delegate.policies.paper import Paper
from ipmicra.delegate.policies.predict.policy import Predict
from ipmicra.delegate.ports import Policy
from ipmicra.delegate.replay.quality import Quality, quality_of
from ipmicra.delegate.replay.replay import Replay
from ipmicra.delegate.replay.world import LocationKind, World, locations_of
from ipmicra.lab.worlds.synthetic import PAPER_PLAN, WorldPlan, invent
from ipmicra.model.crawler import Crawler
from ipmicra.model.location import Location
from ipmicra.model.site import Site
from tests.fakes.fleet import place
from tests.fakes.subnet_tree import ListedTree, flat_tree

KM_PER_DEGREE = 111.2


def world_at(
    crawlers: Sequence[tuple[float, float]], sites: Sequence[tuple[float, float]]
) -> tuple[World, ListedTree]:
    """A world without detours: 1 ms, and 1 ms for each 60 km."""
    apart = np.array([[_apart(crawler, one) for one in sites] for crawler in crawlers])
    fleet = tuple(
        Crawler(name=f"c{i}", address=IPv4Address(f"192.0.2.{i + 1}"), location=place(*at))
        for i, at in enumerate(crawlers)
    )
    found = tuple(Site(f"s{i}", IPv4Address(f"10.{i // 256}.{i % 256}.1")) for i in range(len(sites)))
    places: tuple[Location | None, ...] = tuple(place(*at) for at in sites)
    return World("drawn", fleet, found, 1 + apart / 60, places, (None,) * len(sites)), flat_tree(len(sites))


def _apart(one: tuple[float, float], other: tuple[float, float]) -> float:
    north, east = one[0] - other[0], (one[1] - other[1]) * np.cos(np.radians((one[0] + other[0]) / 2))
    return float(np.hypot(north, east)) * KM_PER_DEGREE


def scored(
    world: World, tree: object, policy: Policy, kind: LocationKind = LocationKind.WORLD, train: int = 0
) -> Quality:
    order = np.random.default_rng(1).permutation(len(world.sites)).tolist()
    delegator = DelegationMachine(tree, policy, locations=locations_of(world, kind, {}))  # type: ignore[arg-type]
    outcomes = Replay(world, delegator).run(order)
    return quality_of(outcomes[train:])


LINE = world_at([(0, east) for east in range(0, 60, 10)], [(0.5, east / 2) for east in range(110)])
GRID = world_at(
    [(north, east) for north in (10, 20, 30) for east in (0, 10, 20)],
    [(8 + north, east) for north in range(0, 25, 2) for east in range(-2, 24, 3)],
)
CONTINENTS = world_at(
    [(40, east) for east in (-100, -90, -80)] + [(48, east) for east in (0, 10, 20)],
    [(42, east) for east in range(-105, -70)] + [(50, east) for east in range(-5, 25)],
)


@pytest.mark.parametrize("drawn", [LINE, GRID, CONTINENTS], ids=["line", "grid", "two continents"])
def test_predict_hardly_probes_where_distance_explains_everything(drawn: tuple[World, ListedTree]) -> None:
    found = scored(*drawn, Predict())
    assert found.optimal >= 0.95
    assert found.mean_excess_ms <= 0.1
    assert found.probes_per_site <= 2.0


@pytest.mark.parametrize("drawn", [LINE, GRID, CONTINENTS], ids=["line", "grid", "two continents"])
def test_predict_without_places_is_far_better_than_chance(drawn: tuple[World, ListedTree]) -> None:
    world, tree = drawn
    found = scored(world, tree, Predict(), LocationKind.NONE)
    by_chance = float((world.rtt_ms - world.nearest_ms()).mean())
    assert found.mean_excess_ms <= by_chance / 5
    assert found.probes_per_site < len(world.crawlers)


def test_predict_beats_the_paper_in_a_world_of_the_papers_size() -> None:
    world, tree = invent(PAPER_PLAN, np.random.default_rng(5))
    ours, theirs = scored(world, tree, Predict(), train=650), scored(world, tree, Paper(), train=650)
    assert ours.optimal >= theirs.optimal + 0.05
    assert ours.optimal >= 0.93
    assert ours.mean_excess_ms <= 1.0


def test_frugal_setting_asks_less_than_the_default() -> None:
    world, tree = invent(
        WorldPlan(sites=300, subnets=300, countries=6, detour_spread=0.4), np.random.default_rng(2)
    )
    default, frugal = scored(world, tree, Predict()), scored(world, tree, Predict(FRUGAL))
    assert frugal.probes_per_site < default.probes_per_site
    assert frugal.optimal <= default.optimal + 0.02


def test_predict_beats_the_two_nearest_on_the_map_where_routes_are_crooked() -> None:
    """Worlds differ; the mean of several counts."""
    plan = WorldPlan(
        sites=400, subnets=400, countries=2, cities_per_country=20, country_km=1500, detour_spread=0.45
    )
    worlds = [invent(plan, np.random.default_rng(seed)) for seed in range(4)]
    ours = [scored(*world, Predict(), train=200) for world in worlds]
    theirs = [scored(*world, Geo(2), train=200) for world in worlds]
    assert np.mean([one.optimal for one in ours]) > np.mean([one.optimal for one in theirs])
    assert max(one.probes_per_site for one in ours) < 1.0 < min(one.probes_per_site for one in theirs)


def test_lost_probes_cost_little() -> None:
    plan = WorldPlan(sites=300, subnets=300, countries=8, loss=0.2)
    world, tree = invent(plan, np.random.default_rng(4))
    found = scored(world, tree, Predict(), train=100)
    assert found.within_2ms >= 0.8
