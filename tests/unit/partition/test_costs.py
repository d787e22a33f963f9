"""The time equations against plain loops and hand-worked cases."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.model.geo import distances_km
from ipmicra.partition.centres import centres
from ipmicra.partition.compare import costs_of, load_variation
from ipmicra.partition.config import CostConfig, Relocation
from ipmicra.partition.costs import download_s, exchange_s, relocation_s, site_rtt_s
from ipmicra.partition.crawlers import CrawlerTable
from ipmicra.partition.problem import Problem
from ipmicra.partition.sites import SiteTable
from tests.reference.slow_partition import slow_download_s, slow_exchange_s
from tests.unit.partition.problems import links_of

places = st.tuples(st.floats(-89, 89), st.floats(-180, 180))


def measured(pages: list[float], rtt_ms: list[list[float]], edges: list[tuple[int, int, float]]) -> Problem:
    sites = SiteTable.of([f"s{number}" for number in range(len(pages))], pages=pages)
    return Problem(
        sites=sites,
        crawlers=CrawlerTable.floating(len(rtt_ms[0])),
        links=links_of(edges),
        rtt_ms=np.array(rtt_ms),
    )


def test_download_time_of_one_site_is_as_worked_by_hand() -> None:
    """Ten pages fit one connection: 2 × 0.1 s + 10 × 80,000 bit ÷ 16,000 bit/s + 15 s, ÷ 10 connections."""
    problem = measured([10.0], [[100.0]], [])
    assert download_s(problem, np.zeros(1, np.int32))[0] == pytest.approx((0.2 + 50 + 15) / 10)


def test_lost_probe_counts_as_a_long_round_trip() -> None:
    problem = measured([1.0], [[float("nan")]], [])
    assert site_rtt_s(problem, np.zeros(1, np.int32)).tolist() == [0.1]


@given(st.data())
def test_times_equal_those_of_plain_loops(data: st.DataObject) -> None:
    count, parts = data.draw(st.integers(1, 8)), data.draw(st.integers(1, 4))
    pages = data.draw(st.lists(st.floats(0, 1e6), min_size=count, max_size=count))
    column = data.draw(st.lists(st.integers(0, parts - 1), min_size=count, max_size=count))
    spots = data.draw(st.lists(places, min_size=parts, max_size=parts))
    pair = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1), st.floats(0, 1e5))
    edges = data.draw(st.lists(pair, max_size=12))
    rtt_ms = np.random.default_rng(1).uniform(0, 300, (count, parts))
    problem = measured(pages, rtt_ms.tolist(), edges)
    crawlers = CrawlerTable.of(
        [str(one) for one in range(parts)], ([one[0] for one in spots], [one[1] for one in spots])
    )
    problem = replace(problem, crawlers=crawlers)
    config, chosen = problem.costs, np.array(column, np.int32)
    own_rtt = [rtt_ms[site, part] / 1000 for site, part in enumerate(column)]
    assert download_s(problem, chosen) == pytest.approx(
        slow_download_s(pages, own_rtt, column, parts, config)
    )
    between = [
        [
            (config.base_rtt_ms + config.rtt_ms_per_km * float(distances_km(*one, *other))) / 1000
            for other in spots
        ]
        for one in spots
    ]
    assert exchange_s(problem, chosen) == pytest.approx(slow_exchange_s(edges, column, between, config))


def test_centre_of_two_places_lies_between_them() -> None:
    latitude, longitude = centres(
        np.array([0, 0, 2]), 3, (np.array([0.0, 0, 5]), np.array([10.0, 20, 5])), np.ones(3)
    )
    assert latitude.tolist() == pytest.approx([0, np.nan, 5], nan_ok=True)
    assert longitude.tolist() == pytest.approx([15, np.nan, 5], nan_ok=True)


def relocated(same_scope: float, relocation: Relocation) -> list[float]:
    problem = measured([100.0, 300.0], [[1.0, 1.0]] * 2, [])
    costs = CostConfig(same_scope=same_scope, relocation=relocation)
    times: list[float] = relocation_s(replace(problem, costs=costs), np.array([0, 1], np.int32)).tolist()
    return times


def test_relocation_time_counts_what_comes_from_the_others() -> None:
    """Half of 300 pages come to the first crawler: 150 × 320 bit ÷ 16,000 bit/s = 3 s over 10 connections."""
    idle = relocated(1.0, Relocation.RECEIVED)
    first, second = relocated(0.5, Relocation.RECEIVED)
    assert (first - idle[0], second - idle[1]) == pytest.approx((0.3, 0.1))
    assert relocated(0.5, Relocation.SENT) == pytest.approx([second, first])


def test_relocation_time_falls_as_pages_stay_more_often() -> None:
    times = [max(relocated(step / 10, Relocation.RECEIVED)) for step in range(11)]
    assert times == sorted(times, reverse=True)
    assert times[0] > times[-1]


def test_one_crawler_neither_exchanges_nor_relocates() -> None:
    problem = measured([1.0, 1.0], [[1.0]] * 2, [(0, 1, 5.0)])
    costs = costs_of(problem, np.zeros(2, np.int32))
    assert (costs.exchange_s, costs.relocation_s, costs.edge_cut, costs.links_inside) == (0, 0, 0, 1)


def test_larger_crawler_is_done_earlier() -> None:
    problem = measured([100.0, 100.0], [[1.0, 1.0]] * 2, [])
    problem = replace(problem, crawlers=CrawlerTable.of(["a", "b"], capacity=[3.0, 1.0]))
    first, second = download_s(problem, np.array([0, 1], np.int32))
    assert second == pytest.approx(3 * first)


def test_load_variation_is_relative_to_capacity() -> None:
    problem = measured([300.0, 100.0], [[1.0, 1.0]] * 2, [])
    column = np.array([0, 1], np.int32)
    assert load_variation(problem, column) == pytest.approx(0.5)
    fair = replace(problem, crawlers=CrawlerTable.of(["a", "b"], capacity=[3.0, 1.0]))
    assert load_variation(fair, column) == 0
