"""Laws of delegation, whatever the world, the losses and the order of events."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ipmicra.delegate.actions import Action, AskPlace, AskProbe, Assigned, GaveUp
from ipmicra.delegate.config import DelegatorConfig, PaperConfig
from ipmicra.delegate.events import (
    CrawlerJoined,
    CrawlerLeft,
    DelegationExpired,
    Event,
    PlaceFound,
    SiteArrived,
)
from ipmicra.delegate.machine import DelegationMachine
from ipmicra.delegate.policies.baselines import Everyone, Geo, Hash, Random
from ipmicra.delegate.policies.paper import Paper
from ipmicra.delegate.policies.predict.policy import Predict
from ipmicra.delegate.ports import FallbackSources, Policy
from ipmicra.delegate.replay.quality import quality_of
from ipmicra.delegate.replay.replay import Replay
from ipmicra.delegate.replay.world import LocationKind, locations_of
from ipmicra.errors import InputError
from ipmicra.lab.worlds.synthetic import WorldPlan, invent
from ipmicra.model.location import Heuristic, Hint
from tests.examples import at_most
from tests.fakes.fleet import answered

MAKERS: dict[str, Callable[[], Policy]] = {
    "predict": Predict,
    "paper": lambda: Paper(PaperConfig(threshold_ms=20.0)),
    "everyone": Everyone,
    "geo": Geo,
    "random": lambda: Random(np.random.default_rng(7)),
    "hash": Hash,
}
policies = pytest.mark.parametrize("name", MAKERS)
plans = st.builds(
    WorldPlan,
    crawlers=st.integers(1, 6),
    sites=st.integers(1, 25),
    subnets=st.integers(1, 15),
    countries=st.integers(1, 5),
    cities_per_country=st.integers(1, 3),
    loss=st.sampled_from([0.0, 0.0, 0.3, 1.0]),
)
seeds = st.integers(0, 2**32 - 1)
CROWDED = WorldPlan(crawlers=2, sites=14, subnets=1, countries=1, cities_per_country=2, loss=0.3)
"""With seed 7707 two of its sites draw the same address."""
moves = st.lists(
    st.one_of(
        st.tuples(st.just("site"), st.integers(0, 24)),
        st.tuples(st.just("leave"), st.integers(0, 5)),
        st.tuples(st.just("join"), st.integers(0, 5)),
        st.tuples(st.just("expire"), st.integers(0, 20)),
        st.tuples(st.just("answer"), st.integers(0, 50)),
    ),
    max_size=60,
)


paces = st.sampled_from([1.0, 20 * 86400.0])
"""Seconds from event to event: within a moment, or so that delegations become due, are renewed and expire."""


def played(
    name: str, plan: WorldPlan, seed: int, script: list[tuple[str, int]], pace_s: float
) -> tuple[list[list[Action]], DelegationMachine]:
    """Play events in any order, answers late and out of order among them; return all actions.

    In every second world, sites that cannot be probed are located once more, some of them in vain. Half of
    the fleet is there from the start; the others may join.
    """
    world, tree = invent(plan, np.random.default_rng(seed))
    locations = locations_of(world, LocationKind.WORLD, {})
    delegator = DelegationMachine(
        tree,
        MAKERS[name](),
        DelegatorConfig(probe_budget=3, recheck_share=1.0),
        locations=locations,
        fallback=FallbackSources(asks_places=seed % 2 == 1),
    )
    present = world.crawlers[: 1 + len(world.crawlers) // 2]
    told: list[list[Action]] = [delegator.handle(CrawlerJoined(one, 0.0)) for one in present]
    columns = {str(site.address): i for i, site in enumerate(world.sites)}
    rows = {one.name: i for i, one in enumerate(world.crawlers)}
    waiting: list[AskProbe | AskPlace] = []

    def answer(ask: AskProbe | AskPlace, now_s: float) -> Event:
        if isinstance(ask, AskProbe):
            return answered(ask, rtt, now_s)
        column = columns[str(ask.site.address)]
        place = world.places[column]
        if column % 3 == 0 or place is None:
            return PlaceFound(ask.attempt, "nobody knows", now_s)
        return PlaceFound(ask.attempt, Hint(heuristic=Heuristic.LOC, location=place, evidence="LOC"), now_s)

    def rtt(crawler: str, address: str) -> float | None:
        value = float(world.rtt_ms[rows[crawler], columns[address]])
        return None if np.isnan(value) else value

    for step, (verb, number) in enumerate(script):
        now_s = step * pace_s
        event: Event | None = None
        if verb == "site":
            event = SiteArrived(world.sites[number % len(world.sites)], now_s)
        elif verb == "leave":
            event = CrawlerLeft(world.crawlers[number % len(world.crawlers)].name, now_s)
        elif verb == "join":
            event = CrawlerJoined(world.crawlers[number % len(world.crawlers)], now_s)
        elif verb == "expire":
            event = DelegationExpired(number, now_s)
        elif waiting:
            event = answer(waiting.pop(number % len(waiting)), now_s)
        if event is not None:
            told.append(_handled(delegator, event, waiting))
    while waiting:
        told.append(_handled(delegator, answer(waiting.pop(), 1e3 * pace_s), waiting))
    return told, delegator


def _handled(delegator: DelegationMachine, event: Event, waiting: list[AskProbe | AskPlace]) -> list[Action]:
    actions = delegator.handle(event)
    waiting += [action for action in actions if isinstance(action, AskProbe | AskPlace)]
    return actions


@policies
@given(plan=plans, seed=seeds, script=moves, pace_s=paces)
def test_whatever_happens_every_site_is_answered_once_within_its_budget(
    name: str, plan: WorldPlan, seed: int, script: list[tuple[str, int]], pace_s: float
) -> None:
    told, delegator = played(name, plan, seed, script, pace_s)
    actions = [action for some in told for action in some]
    answers = sum(isinstance(action, Assigned | GaveUp) for action in actions)
    assert answers == sum(verb == "site" for verb, _number in script)
    asks: dict[int, list[str]] = {}
    for action in actions:
        if isinstance(action, AskProbe):
            asks.setdefault(action.attempt, []).append(action.probe.crawler)
    for names in asks.values():
        assert len(names) == len(set(names)) <= 3
    assert repr(delegator).endswith("0 open>")


@policies
@at_most(25)
@given(plan=plans, seed=seeds, script=moves, pace_s=paces)
def test_same_events_give_the_same_actions(
    name: str, plan: WorldPlan, seed: int, script: list[tuple[str, int]], pace_s: float
) -> None:
    first, _delegator = played(name, plan, seed, script, pace_s)
    second, _delegator = played(name, plan, seed, script, pace_s)
    assert first == second


@at_most(25)
@given(plan=plans, seed=seeds)
@example(plan=CROWDED, seed=7707)
def test_everyone_is_optimal(plan: WorldPlan, seed: int) -> None:
    world, tree = invent(plan, np.random.default_rng(seed))
    config = DelegatorConfig(losses_allowed=plan.crawlers)
    outcomes = Replay(world, DelegationMachine(tree, Everyone(), config)).run(range(len(world.sites)))
    reached = [outcome for outcome in outcomes if not np.isnan(outcome.excess_ms)]
    assert all(outcome.excess_ms == 0 for outcome in reached)
    assert all(outcome.probes == plan.crawlers for outcome in outcomes if outcome.probes)


@at_most(25)
@given(plan=plans, seed=seeds)
@example(plan=CROWDED, seed=7707)
@example(plan=WorldPlan(crawlers=1, sites=254, subnets=1, countries=1, cities_per_country=1), seed=1)
def test_every_site_of_a_synthetic_world_has_an_address_of_its_own(plan: WorldPlan, seed: int) -> None:
    world, tree = invent(plan, np.random.default_rng(seed))
    assert len({site.address for site in world.sites}) == plan.sites
    assert all(tree.row_of(str(site.address)) in tree.rows for site in world.sites)


def test_more_sites_than_addresses_are_refused() -> None:
    with pytest.raises(InputError, match="plan more subnets"):
        invent(WorldPlan(sites=255, subnets=1), np.random.default_rng(1))


@at_most(25)
@given(plan=plans, seed=seeds)
def test_no_score_leaves_its_bounds(plan: WorldPlan, seed: int) -> None:
    world, tree = invent(plan, np.random.default_rng(seed))
    found = quality_of(Replay(world, DelegationMachine(tree, Predict())).run(range(len(world.sites))))
    assert 0 <= found.optimal <= found.within_2ms <= 1
    assert 0 <= found.probes_per_site <= plan.crawlers
    assert found.excess_of_suboptimal_ms >= found.mean_excess_ms >= 0
