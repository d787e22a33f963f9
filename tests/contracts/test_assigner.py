"""What every assigner promises, whatever its method."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ipmicra.app.assign.backends import BACKENDS, CUTTING, AssignReport, assign
from ipmicra.assign.balance.config import AuctionConfig, PieceConfig
from ipmicra.errors import InputError
from ipmicra.model.crawler import Capacity
from tests.assigning_worlds import PointWorld

FLEET = 6
every_backend = pytest.mark.parametrize("backend", BACKENDS)
worlds = st.builds(PointWorld, st.integers(0, 50), st.just(FLEET), st.integers(1, 30))
page_counts = st.one_of(st.none(), st.floats(), st.sampled_from([0.0, -1.0, 1e12, 7.0]))


def crawlers_of(report: AssignReport) -> list[str | None]:
    return [one.crawler for one in report.assignments]


@every_backend
@given(world=worlds, data=st.data())
@settings(max_examples=15)
def test_every_site_gets_one_crawler_of_the_fleet_and_a_reason(
    backend: str, world: PointWorld, data: st.DataObject
) -> None:
    """Some sites have no sample, and page counts are anything."""
    counts = data.draw(st.lists(page_counts, min_size=len(world.sites), max_size=len(world.sites)))
    hosts = [site.host for site in world.sites]
    world.unprobed = frozenset(site.address for site in data.draw(st.sets(st.sampled_from(world.sites))))
    pages = {host: count for host, count in zip(hosts, counts, strict=True) if count is not None}
    report = assign(world.problem(backend, sites=[*world.sites, world.sites[0]], pages=pages))
    assert [one.host for one in report.assignments] == hosts
    assert set(crawlers_of(report)) <= {crawler.name for crawler in world.crawlers[:FLEET]}
    assert all(one.reason and one.backend == backend for one in report.assignments)
    assert all(one.expected_ms is None or one.expected_ms >= 0 for one in report.assignments)


@every_backend
@given(world=worlds)
@settings(max_examples=8)
def test_the_same_input_gives_the_same_answer(backend: str, world: PointWorld) -> None:
    first, second = (assign(world.problem(backend)) for _ in range(2))
    assert first.assignments == second.assignments
    assert (first.overlay and first.overlay.to_bytes()) == (second.overlay and second.overlay.to_bytes())


@every_backend
@given(world=worlds, idle=st.sets(st.integers(0, FLEET - 1), max_size=FLEET))
@settings(max_examples=10)
def test_who_has_no_capacity_gets_nothing(backend: str, world: PointWorld, idle: set[int]) -> None:
    fleet = [
        replace(crawler, capacity=Capacity(bandwidth_mbps=0.0)) if number in idle else crawler
        for number, crawler in enumerate(world.crawlers[:FLEET])
    ]
    report = assign(world.problem(backend, crawlers=fleet))
    assert not {f"c{number}" for number in idle} & set(crawlers_of(report))
    if len(idle) == FLEET:
        assert {one.reason for one in report.assignments} == {"no crawler has any capacity"}
    else:
        assert report.unassigned == 0


@given(world=worlds, units=st.lists(st.integers(1, 5), min_size=FLEET, max_size=FLEET))
@settings(max_examples=15)
def test_balance_keeps_everybody_within_one_site_of_their_share(world: PointWorld, units: list[int]) -> None:
    fleet = [
        replace(crawler, capacity=Capacity(bandwidth_mbps=float(unit)))
        for crawler, unit in zip(world.crawlers, units, strict=False)
    ]
    pages = {site.host: 1.0 for site in world.sites}
    held = Counter(crawlers_of(assign(world.problem("balance", crawlers=fleet, pages=pages))))
    for crawler, unit in zip(fleet, units, strict=False):
        share = len(world.sites) * unit / sum(units)
        assert held[crawler.name] <= share * (1 + AuctionConfig().slack) + 1


@every_backend
@given(seed=st.integers(0, 20), leaver=st.integers(0, FLEET - 1))
@settings(max_examples=6)
def test_a_second_call_moves_nothing_and_a_leaver_leaves_nothing_behind(
    backend: str, seed: int, leaver: int
) -> None:
    world = PointWorld(seed, FLEET, 40)
    first = assign(world.problem(backend))
    saved = first.overlay.to_bytes() if first.overlay else None
    again = assign(world.problem(backend, saved, before=first.assignments))
    assert crawlers_of(again) == crawlers_of(first)
    assert again.moved_load == 0
    rest = [crawler for number, crawler in enumerate(world.crawlers[:FLEET]) if number != leaver]
    after = assign(world.problem(backend, saved, crawlers=rest, before=first.assignments))
    assert after.unassigned == 0
    assert f"c{leaver}" not in crawlers_of(after)


@every_backend
def test_a_large_site_is_cut_only_by_backends_that_cut(backend: str) -> None:
    world = PointWorld(1, FLEET, 5)
    urls = {"s0.example": [f"https://s0.example/{name}/{i}" for name in "abc" for i in range(10)]}
    config = PieceConfig(most=3, least_pages=10)
    report = assign(world.problem(backend, urls=urls, pieces=config))
    pieces = [(one.piece, one.of) for one in report.assignments if one.host == "s0.example"]
    assert pieces == ([(1, 3), (2, 3), (3, 3)] if backend in CUTTING else [(1, 1)])
    again = assign(world.problem(backend, pieces=config, before=report.assignments))
    assert [(one.piece, one.of, one.filters) for one in again.assignments] == [
        (one.piece, one.of, one.filters) for one in report.assignments
    ]


@every_backend
def test_no_sites_are_no_mistake_and_no_crawlers_are(backend: str) -> None:
    world = PointWorld(1, FLEET, 3)
    assert assign(world.problem(backend, sites=[])).assignments == []
    with pytest.raises(InputError, match="ipmicra crawler add"):
        assign(world.problem(backend, crawlers=[]))
