"""Nearness against load: its two ends, what lies between, and what stays when the fleet changes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ipmicra.assign.balance.auction.assigner import assign_sites
from ipmicra.assign.balance.config import AuctionConfig
from ipmicra.assign.balance.demand import Demand
from ipmicra.assign.balance.trade import trade_curve
from ipmicra.errors import InputError
from tests.examples import at_most
from tests.reference.slow_balance import cheapest_assignment, whole_sites

STEP = AuctionConfig().step
levels = st.floats(0, 1)


def unit_demand(seed: int, sites: int, crawlers: int) -> Demand:
    """Sites of one size, no two crawlers equally far from one."""
    cost = np.random.default_rng(seed).uniform(1, 100, (sites, crawlers))
    return Demand(cost_ms=cost.astype(np.float32), load=np.ones(sites), units=np.ones(crawlers))


def heavy_demand(seed: int, crawlers: int) -> Demand:
    """Sites of very different sizes, with capacities, on crawlers of which some stand in dense regions."""
    rng = np.random.default_rng(seed)
    sites = 60 * crawlers
    places = rng.normal(0, 1, (sites, 2)) * rng.choice([5, 60], sites)[:, None]
    cost = 5 + np.linalg.norm(places[:, None] - rng.uniform(-80, 80, (crawlers, 2))[None], axis=2)
    return Demand(cost_ms=cost, load=rng.lognormal(4, 1, sites), units=rng.choice([1.0, 2.0], crawlers))


def assigned(demand: Demand, evenness: float, **more: bool) -> np.ndarray:
    return assign_sites(demand, AuctionConfig(evenness=evenness, **more)).crawler


def total(demand: Demand, crawler: np.ndarray) -> float:
    return float(demand.cost_ms[np.arange(len(crawler)), crawler].sum())


@given(seed=st.integers(0, 10**6), crawlers=st.integers(1, 8))
def test_evenness_0_is_the_nearest_crawler_whatever_its_load(seed: int, crawlers: int) -> None:
    demand = heavy_demand(seed, crawlers)
    assert (assigned(demand, 0.0) == demand.cost_ms.argmin(axis=1)).all()


@given(seed=st.integers(0, 10**6), sites=st.integers(1, 60), crawlers=st.integers(1, 7))
def test_evenness_1_is_equal_load(seed: int, sites: int, crawlers: int) -> None:
    """Of sites of one size nobody has more than the least whole number that somebody must have."""
    found = assign_sites(unit_demand(seed, sites, crawlers), AuctionConfig(slack=0.0))
    assert found.used.max() == -(-sites // crawlers)


@given(seed=st.integers(0, 10**6), sites=st.integers(1, 6), crawlers=st.integers(1, 3), evenness=levels)
def test_between_the_ends_small_cases_are_within_a_step_of_the_best_way_of_all(
    seed: int, sites: int, crawlers: int, evenness: float
) -> None:
    demand = unit_demand(seed, sites, crawlers)
    crawler = assigned(demand, evenness)
    room = whole_sites(sites, crawlers, evenness)
    assert np.bincount(crawler, minlength=crawlers).max() <= room
    best = cheapest_assignment(demand.cost_ms, [room] * crawlers)
    least = float(demand.cost_ms.min(axis=1).mean())
    assert best - 1e-3 <= total(demand, crawler) <= best + sites * STEP * least + 1e-3


@given(seed=st.integers(0, 10**6), evennesses=st.lists(levels, min_size=2, max_size=5, unique=True))
@at_most(20)
def test_less_evenness_never_costs_round_trips_by_more_than_the_auctions_step(
    seed: int, evennesses: list[float]
) -> None:
    """For sites of one size, where the auction is exact up to its step."""
    demand = unit_demand(seed, 60, 5)
    limit = 60 * STEP * float(demand.cost_ms.min(axis=1).mean())
    totals = [total(demand, assigned(demand, one)) for one in sorted(evennesses)]
    assert all(nearer <= farther + limit for nearer, farther in pairwise(totals))


@given(seed=st.integers(0, 10**6), crawlers=st.integers(2, 6))
@at_most(15)
def test_the_curve_falls_in_round_trips_and_its_limit_of_load_rises(seed: int, crawlers: int) -> None:
    """Sites differ in size, and packing is hard: a point may cost 3 % more than one that is more even."""
    demand = heavy_demand(seed, crawlers)
    points = trade_curve(demand, (1.0, 0.9, 0.8, 0.6, 0.4, 0.0))
    trips = [_weighed(demand, one.evenness or 0.0) for one in points]
    assert all(nearer <= 1.03 * farther for farther, nearer in pairwise(trips))
    largest = demand.load.max() / (demand.load.sum() * demand.units / demand.units.sum())
    for point in points[:-1]:
        assert point.busiest is not None
        assert point.evenness
        assert point.busiest <= 1.05 / point.evenness + largest.max()
    assert points[-1].busiest == max(one.busiest or 0.0 for one in points)


def _weighed(demand: Demand, evenness: float) -> float:
    """The sum that the auction minimises: round trips weighed by load."""
    rows = np.arange(len(demand.load))
    return float((demand.cost_ms[rows, assigned(demand, evenness)] * demand.load).sum())


@given(seed=st.integers(0, 10**6), crawlers=st.integers(2, 8), evenness=levels, is_central=st.booleans())
@at_most(30)
def test_joins_and_leaves_move_little_by_every_evenness(
    seed: int, crawlers: int, evenness: float, is_central: bool
) -> None:
    """A join moves two shares at most, a leave two or what the leaver held, the same call again nothing."""
    rng = np.random.default_rng(seed)
    sites = 40 * crawlers
    cost, load = rng.uniform(1, 200, (sites, crawlers + 1)), rng.lognormal(0, 0.5, sites)
    if is_central:
        cost[:, -1] /= 100  # who joins is nearer to almost every site than all others

    def demand(units: np.ndarray, previous: np.ndarray | None) -> Demand:
        return Demand(cost_ms=cost, load=load, units=units, previous=previous)

    few, all_of_them = np.r_[np.ones(crawlers), 0.0], np.ones(crawlers + 1)
    config = AuctionConfig(evenness=evenness)
    before = assign_sites(demand(few, None), config)
    again = assign_sites(demand(few, before.crawler), config)
    assert again.moved_load == 0
    joined = assign_sites(demand(all_of_them, before.crawler), config)
    assert joined.moved_load <= 2 / crawlers
    assert joined.used[-1] > 0
    gone = int(rng.integers(crawlers + 1))
    left = assign_sites(demand(np.where(np.arange(crawlers + 1) == gone, 0.0, 1.0), joined.crawler), config)
    held = joined.used[gone] / load.sum()
    assert left.moved_load <= max(2 / (crawlers + 1), held) + 1e-9


@given(seed=st.integers(0, 10**6), evenness=levels)
@at_most(20)
def test_anew_is_as_if_nothing_had_been_assigned_and_counts_what_moves(seed: int, evenness: float) -> None:
    demand = heavy_demand(seed, 4)
    before = assigned(demand, 1.0)
    bound = Demand(cost_ms=demand.cost_ms, load=demand.load, units=demand.units, previous=before)
    found = assign_sites(bound, AuctionConfig(evenness=evenness, is_anew=True))
    fresh = assigned(demand, evenness)
    assert (found.crawler == fresh).all()
    assert found.moved_load == pytest.approx(demand.load[fresh != before].sum() / demand.load.sum())


@given(seed=st.integers(0, 10**6), blind=st.integers(1, 40), evenness=levels)
@at_most(30)
def test_sites_that_no_crawler_is_nearer_to_even_the_load_out(seed: int, blind: int, evenness: float) -> None:
    demand = unit_demand(seed, 20, 4)
    cost = np.vstack([demand.cost_ms, np.full((blind, 4), 50.0, np.float32)])
    both = Demand(cost_ms=cost, load=np.ones(20 + blind), units=demand.units)
    found = assign_sites(both, AuctionConfig(evenness=evenness))
    near = np.bincount(found.crawler[:20], minlength=4)
    assume(near.max() * 4 <= 20 + blind)
    assert found.used.max() - found.used.min() <= 1


@pytest.mark.parametrize("evenness", [-0.1, 1.1, float("nan"), float("inf")])
def test_an_evenness_outside_0_to_1_is_refused(evenness: float) -> None:
    with pytest.raises(InputError, match="between 0"):
        AuctionConfig(evenness=evenness)
