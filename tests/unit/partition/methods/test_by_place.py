"""Methods by place: country, city, and holder with city."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.errors import InputError
from ipmicra.partition.crawlers import CrawlerTable
from ipmicra.partition.methods.registry import METHODS, missing, partition
from ipmicra.partition.problem import Problem
from ipmicra.partition.sites import SiteTable, country_code
from tests.reference.slow_geodesy import slow_distance_km

spots = st.tuples(st.floats(-80, 80), st.floats(-179, 179))


def placed(sites: list[tuple[float, float]], crawlers: list[tuple[float, float]]) -> Problem:
    return Problem(
        sites=SiteTable.of(
            [f"s{number}" for number in range(len(sites))],
            places=([one[0] for one in sites], [one[1] for one in sites]),
        ),
        crawlers=CrawlerTable.of(
            [f"c{number}" for number in range(len(crawlers))],
            ([one[0] for one in crawlers], [one[1] for one in crawlers]),
        ),
    )


@given(st.lists(spots, min_size=1, max_size=8), st.lists(spots, min_size=1, max_size=5))
def test_city_gives_the_nearest_crawler(
    sites: list[tuple[float, float]], crawlers: list[tuple[float, float]]
) -> None:
    column = partition(METHODS["city"], placed(sites, crawlers))
    for site, chosen in zip(sites, column.tolist(), strict=True):
        nearest = min(slow_distance_km(*site, *crawler) for crawler in crawlers)
        assert slow_distance_km(*site, *crawlers[chosen]) <= nearest + 1.0


def test_country_gives_a_crawler_of_the_same_country() -> None:
    problem = placed([(0.0, 0.0)] * 40, [(0.0, 0.0)] * 3)
    gr, de = country_code("GR"), country_code("de")
    sites = replace(problem.sites, country=np.array([gr, de, 0, country_code("FR")] * 10))
    crawlers = replace(problem.crawlers, country=np.array([gr, gr, de]))
    column = partition(METHODS["country"], replace(problem, sites=sites, crawlers=crawlers))
    assert set(column[0::4].tolist()) == {0, 1}
    assert set(column[1::4].tolist()) == {2}
    assert set(column[2::4].tolist()) == {0, 1, 2}


def test_holder_counts_before_distance() -> None:
    problem = placed([(0.0, 0.0)] * 2, [(0.0, 0.1), (50.0, 0.0), (60.0, 0.0)])
    sites = replace(problem.sites, holder=np.array([7, -1]))
    crawlers = replace(problem.crawlers, holder=np.array([3, 7, 7]))
    column = partition(METHODS["isp-city"], replace(problem, sites=sites, crawlers=crawlers))
    assert column.tolist() == [1, 0]


def test_floating_crawlers_stand_where_most_pages_are() -> None:
    problem = placed([(10.0, 10.0), (10.0, 10.0), (20.0, 20.0), (30.0, 30.0)], [(0.0, 0.0)])
    sites = replace(problem.sites, pages=np.array([5.0, 5.0, 8.0, 1.0]))
    problem = Problem(sites=sites, crawlers=CrawlerTable.floating(2))
    assert partition(METHODS["city"], problem).tolist() == [0, 0, 1, 1]


def test_geographic_methods_say_what_they_need() -> None:
    problem = Problem(sites=SiteTable.of(["a", "b"]), crawlers=CrawlerTable.floating(2))
    with pytest.raises(InputError, match=r"metis-multi needs locations of sites .* and links"):
        partition(METHODS["metis-multi"], problem)
    assert missing(METHODS["hash"], problem) == []
