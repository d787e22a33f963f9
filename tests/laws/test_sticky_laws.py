"""Joins and leaves move little, whatever backend assigns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from ipaddress import ip_address

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.app.assign.backends import BACKENDS, AssignReport, assign
from ipmicra.app.assign.problem import AssignProblem
from ipmicra.assign.overlay.kept import KeptOverlay
from ipmicra.model.address import Address
from ipmicra.model.crawler import Crawler
from ipmicra.model.site import Site
from tests.examples import at_most

FLEET, SITES = 12, 400
BOUNDED = [backend for backend in BACKENDS if backend != "can"]
"""In a CAN a newcomer takes all that lies in its half of a zone, however much that is."""


class PointWorld:
    """Crawlers and sites in a box of 100 ms; round trips are distances with 10 % of noise."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.points = rng.uniform(0, 100, (FLEET + 1 + SITES, 3))
        self.seed = seed
        sizes = np.exp(rng.normal(8.0, 1.0, SITES)).round()
        self.sites = [Site(f"s{number}.example", address_of(FLEET + 1 + number)) for number in range(SITES)]
        hosts = [site.host for site in self.sites]
        self.pages: dict[str, float] = dict(zip(hosts, sizes.tolist(), strict=True))
        self.crawlers = [
            Crawler(name=f"c{number}", address=address_of(number)) for number in range(FLEET + 1)
        ]

    def expected_ms(self, addresses: Sequence[Address], crawlers: Sequence[Crawler]) -> np.ndarray:
        rows = [int(address) & 0xFFFF for address in addresses]
        columns = [int(crawler.address) & 0xFFFF for crawler in crawlers]
        far = np.linalg.norm(self.points[rows][:, None] - self.points[columns][None], axis=2)
        mixed = np.array(rows)[:, None] * 7919 + np.array(columns) * 104729 + self.seed
        told: np.ndarray = 5 + far * (0.9 + mixed % 21 / 100)
        return told


def address_of(number: int) -> Address:
    return ip_address((10 << 24) + number)


@cache
def first_call(seed: int, backend: str) -> tuple[PointWorld, AssignReport, bytes | None]:
    world = PointWorld(seed)
    report = assign(problem(world, backend))
    return world, report, report.overlay.to_bytes() if report.overlay else None


def problem(world: PointWorld, backend: str, saved: bytes | None = None, **more: object) -> AssignProblem:
    """Everything in a world, but for the last crawler, unless told otherwise."""
    kept = KeptOverlay.from_bytes(saved) if saved is not None else None
    plain = AssignProblem(
        sites=world.sites,
        crawlers=world.crawlers[:FLEET],
        trips=world,
        backend=backend,
        pages=world.pages,
        overlay=kept,
    )
    return replace(plain, **more)  # type: ignore[arg-type]


def moved(world: PointWorld, before: AssignReport, after: AssignReport) -> float:
    """Give the load that changed crawlers, in shares of one crawler."""
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
    again = assign(problem(world, backend, saved, before=first.assignments))
    assert moved(world, first, again) == again.moved_load == 0
    rest = [one for number, one in enumerate(world.crawlers[:FLEET]) if number != leaver]
    after = assign(problem(world, backend, saved, crawlers=rest, before=first.assignments))
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
    after = assign(problem(world, backend, saved, crawlers=world.crawlers, before=first.assignments))
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
    after = assign(problem(world, "can", saved, crawlers=fleet, before=first.assignments))
    assert "c0" not in {one.crawler for one in after.assignments}


def test_another_fleet_altogether_draws_zones_anew() -> None:
    world, first, saved = first_call(0, "lbi")
    other = PointWorld(1)
    strangers = [replace(one, name=f"x{one.name}") for one in other.crawlers]
    sites = [Site(f"t{number}.example", ip_address((11 << 24) + number)) for number in range(20, 60)]
    after = assign(
        problem(world, "lbi", saved, sites=sites, crawlers=strangers, trips=other, before=first.assignments)
    )
    assert after.unassigned == 0
    assert after.overlay is not None
    assert set(after.overlay.crawlers) == {one.name for one in strangers}
