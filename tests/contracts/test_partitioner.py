"""What every method of partitioning promises, whatever it looks at."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ipmicra.partition.compare import result_of
from ipmicra.partition.crawlers import CrawlerTable
from ipmicra.partition.methods.registry import METHODS, Method, Need, given_column, partition
from ipmicra.partition.problem import Problem
from ipmicra.partition.sites import SiteTable
from tests.unit.partition.problems import clustered, links_of

RUNNABLE = [method for method in METHODS.values() if Need.DECIDER not in method.needs]


def complete(problem: Problem) -> Problem:
    """Give a problem everything that any method needs."""
    sites = replace(
        problem.sites,
        country=np.full(len(problem.sites), 0x4752),
        holder=np.arange(len(problem.sites)) % 3,
    )
    chance = np.random.default_rng(5)
    crawlers = replace(
        problem.crawlers,
        latitude=chance.uniform(-60, 60, problem.parts),
        longitude=chance.uniform(-180, 180, problem.parts),
    )
    return replace(
        problem,
        sites=sites,
        crawlers=crawlers,
        rtt_ms=chance.uniform(1, 200, (len(sites), problem.parts)),
        links=problem.links or links_of([]),
    )


@pytest.fixture(params=RUNNABLE, ids=lambda method: method.name)
def method(request: pytest.FixtureRequest) -> Method:
    chosen: Method = request.param
    return chosen


def assert_sound(column: np.ndarray, problem: Problem) -> None:
    assert len(column) == len(problem.sites)
    assert column.dtype == np.int32
    assert column.min(initial=0) >= 0
    assert column.max(initial=0) < problem.parts


def test_every_site_gets_a_crawler_of_the_fleet(method: Method) -> None:
    problem = complete(clustered(4, 12, 5))
    assert_sound(partition(method, problem), problem)


def test_same_problem_gives_the_same_parts(method: Method) -> None:
    problem = complete(clustered(4, 12, 5))
    assert partition(method, problem).tolist() == partition(method, problem).tolist()


def test_one_part_takes_all(method: Method) -> None:
    problem = complete(clustered(2, 6, 1))
    assert set(partition(method, problem).tolist()) == {0}


def test_more_parts_than_sites_leave_some_crawlers_without_work(method: Method) -> None:
    problem = complete(clustered(1, 3, 8))
    column = partition(method, problem)
    assert_sound(column, problem)
    assert result_of(method, problem).costs.parts <= 3


def test_no_sites_give_no_parts(method: Method) -> None:
    problem = Problem(sites=SiteTable.of([]), crawlers=CrawlerTable.floating(3))
    bare = replace(method, needs=())
    assert len(partition(bare, problem)) == 0


def test_sites_of_no_pages_are_parted_too(method: Method) -> None:
    problem = complete(clustered(3, 8, 3))
    problem = replace(problem, sites=replace(problem.sites, pages=np.zeros(24)))
    assert_sound(partition(method, problem), problem)
    assert result_of(method, problem).costs.download_s == 0


def test_graph_without_links_is_parted(method: Method) -> None:
    problem = complete(replace(clustered(3, 8, 3), links=links_of([])))
    column = partition(method, problem)
    assert_sound(column, problem)
    assert result_of(method, problem).costs.links_inside is None


def test_graph_in_pieces_is_parted(method: Method) -> None:
    edges = [(site, site + 1, 1.0) for site in range(0, 24, 2)]
    problem = complete(replace(clustered(3, 8, 4), links=links_of(edges)))
    assert_sound(partition(method, problem), problem)


def test_heavy_site_does_not_upset_the_others(method: Method) -> None:
    problem = complete(clustered(3, 10, 4))
    pages = np.ones(30)
    pages[7] = 1e7
    problem = replace(problem, sites=replace(problem.sites, pages=pages))
    assert_sound(partition(method, problem), problem)


def test_crawlers_that_stand_somewhere_are_named_by_number(method: Method) -> None:
    problem = complete(clustered(4, 12, 4))
    crawlers = CrawlerTable.of(["a", "b", "c", "d"], ([-40, -20, 0, 20], [-150, -75, 0, 75]), [1, 1, 2, 1])
    problem = replace(problem, crawlers=crawlers)
    assert_sound(partition(method, problem), problem)
    assert 0 <= (result_of(method, problem).moved_on_join or 0.0) <= 1


def test_row_has_the_promised_figures(method: Method) -> None:
    row = result_of(method, complete(clustered(4, 12, 5))).row()
    assert list(row) == [
        "method",
        "parts",
        "download_s",
        "exchange_s",
        "relocation_s",
        "edge_cut",
        "load_variation",
        "links_inside",
        "moved_on_join",
    ]


def test_given_column_is_a_method_like_the_others() -> None:
    problem = complete(clustered(2, 5, 2))
    given = given_column("mine", np.array([0, 1] * 5, np.int32))
    assert partition(given, problem).tolist() == [0, 1] * 5
    assert result_of(given, problem).moved_on_join is None
