"""Joins and leaves move little, whatever backend assigns."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.app.assign.backends import BACKENDS, AssignReport, assign
from ipmicra.model.site import Site
from tests.assigning_worlds import PointWorld
from tests.examples import at_most

FLEET, SITES = 12, 400
BOUNDED = [backend for backend in BACKENDS if backend != "can"]
"""In a CAN a newcomer takes all that lies in its half of a zone, however much that is."""


@cache
def first_call(seed: int, backend: str) -> tuple[PointWorld, AssignReport, bytes | None]:
    world = PointWorld(seed, FLEET, SITES)
    report = assign(world.problem(backend))
    return world, report, report.overlay.to_bytes() if report.overlay else None


def moved(world: PointWorld, before: AssignReport, after: AssignReport) -> float:
    """Return the load that changed crawlers, in shares of one crawler."""
    had = {one.host: one.crawler for one in before.assignments}
    load = sum(world.pages[one.host] for one in after.assignments if had[one.host] != one.crawler)
    return FLEET * load / sum(world.pages.values())


def held(world: PointWorld, report: AssignReport, name: str) -> float:
    own = sum(world.pages[one.host] for one in report.assignments if one.crawler == name)
    return FLEET * own / sum(world.pages.values())


@pytest.mark.parametrize("backend", BACKENDS)
@given(seed=st.integers(0, 3), leaver=st.integers(0, FLEET - 1))
@at_most(6)
def test_a_leave_moves_what_the_leaver_held_and_a_second_call_nothing(
    backend: str, seed: int, leaver: int
) -> None:
    world, first, saved = first_call(seed, backend)
    again = assign(world.problem(backend, saved, before=first.assignments))
    assert moved(world, first, again) == again.moved_load == 0
    rest = [one for number, one in enumerate(world.crawlers[:FLEET]) if number != leaver]
    after = assign(world.problem(backend, saved, crawlers=rest, before=first.assignments))
    own = held(world, first, world.crawlers[leaver].name)
    if backend == "balance":
        assert moved(world, first, after) <= 2 + 1e-9
    else:
        assert moved(world, first, after) == pytest.approx(own)


@pytest.mark.parametrize("backend", BACKENDS)
@given(seed=st.integers(0, 7))
@at_most(5)
def test_a_join_moves_at_most_two_shares_and_only_to_the_newcomer(backend: str, seed: int) -> None:
    world, first, saved = first_call(seed, backend)
    after = assign(world.problem(backend, saved, crawlers=world.crawlers, before=first.assignments))
    had = {one.host: one.crawler for one in first.assignments}
    takers = {one.crawler for one in after.assignments if one.crawler != had[one.host]}
    if backend != "balance":
        assert takers <= {world.crawlers[FLEET].name}
        assert after.moved_load * FLEET == pytest.approx(moved(world, first, after))
    if backend in BOUNDED:
        assert moved(world, first, after) <= 2


def test_a_crawler_without_capacity_leaves_its_zone() -> None:
    world, first, saved = first_call(0, "can")
    idle = replace(world.crawlers[0], capacity=replace(world.crawlers[0].capacity, bandwidth_mbps=0.0))
    fleet = [idle, *world.crawlers[1:FLEET]]
    after = assign(world.problem("can", saved, crawlers=fleet, before=first.assignments))
    assert "c0" not in {one.crawler for one in after.assignments}


def test_an_entirely_different_fleet_draws_new_zones() -> None:
    world, first, saved = first_call(0, "lbi")
    other = PointWorld(1, FLEET, SITES)
    strangers = [replace(one, name=f"x{one.name}") for one in other.crawlers]
    sites = [Site(f"t{number}.example", ip_address((11 << 24) + number)) for number in range(20, 60)]
    after = assign(
        world.problem("lbi", saved, sites=sites, crawlers=strangers, trips=other, before=first.assignments)
    )
    assert after.unassigned == 0
    assert after.overlay is not None
    assert set(after.overlay.crawlers) == {one.name for one in strangers}
