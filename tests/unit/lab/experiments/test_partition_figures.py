"""Invented webs and the papers' experiments on them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.lab.experiments.partition_figures import FigurePoint, FiguresConfig, figures, stability, wins
from ipmicra.lab.experiments.two_crawlers import TwoCrawlersConfig, simulate_two_crawlers
from ipmicra.lab.worlds.national_web import NationalWeb, NationalWebConfig, national_web
from ipmicra.partition.compare import result_of
from ipmicra.partition.config import CostConfig
from ipmicra.partition.crawlers import CrawlerTable
from ipmicra.partition.exchange.exchange import ExchangeConfig, Mode
from ipmicra.partition.links.invented import LinkConfig, generate_links
from ipmicra.partition.links.scale_free import attach
from ipmicra.partition.methods.registry import METHODS
from ipmicra.partition.problem import Problem


def web_of(hosts: int, seed: int = 11, locality: float = 0.5) -> NationalWeb:
    config = NationalWebConfig(hosts=hosts, links=LinkConfig(locality=locality))
    return national_web(config, CostConfig(), np.random.default_rng(seed))


@pytest.fixture(scope="module")
def problem() -> Problem:
    web = web_of(12_000)
    return Problem(sites=web.sites, links=web.links, crawlers=CrawlerTable.floating(1))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), max_size=40), st.integers(0, 99))
def test_links_stay_in_their_group(members: list[tuple[int, int]], seed: int) -> None:
    group = np.array([one[0] for one in members], np.int64)
    degree = np.array([one[1] for one in members], np.int64)
    source, target = attach(group, degree, np.random.default_rng(seed))
    assert group[source].tolist() == group[target].tolist()
    assert np.bincount(source, minlength=len(group)).tolist() == degree.tolist()


def test_links_are_scale_free() -> None:
    """In-degrees of preferential attachment fall off with an exponent near 2 (cumulative)."""
    count = 20_000
    _, target = attach(np.zeros(count, np.int64), np.full(count, 5), np.random.default_rng(1))
    degree = np.sort(np.bincount(target, minlength=count))[::-1]
    tail = degree[:1000]
    hill = 1 / np.mean(np.log(tail / tail[-1]))
    assert 1.5 < hill < 2.6
    assert degree[0] > 30 * degree.mean()


def test_same_seed_gives_the_same_web() -> None:
    first, second, other = web_of(500, 1), web_of(500, 1), web_of(500, 2)
    assert first.sites.pages.tolist() == second.sites.pages.tolist() != other.sites.pages.tolist()
    assert first.links.target.tolist() == second.links.target.tolist()


def test_web_has_the_shape_that_was_asked_for() -> None:
    sites = web_of(20_000).sites
    assert len(sites) / (sites.address.max() + 1) == pytest.approx(5, abs=3)
    assert len(set(sites.hosts.texts())) == 20_000
    assert sites.pages.max() > 20 * np.median(sites.pages)
    assert sites.pages.max() <= 0.003 * 20_000 * 170
    assert sites.pages.mean() == pytest.approx(170, rel=0.02)
    assert sites.has_location.all()
    assert set(np.unique(sites.address)) == set(range(int(sites.address.max()) + 1))


def test_locality_keeps_links_in_their_place() -> None:
    web = web_of(3000, locality=0.9)
    place = web.sites.latitude
    inside = place[web.links.source] == place[web.links.target]
    share = np.average(inside, weights=web.links.count)
    far = web_of(3000, locality=0.0)
    by_chance = np.mean(far.sites.latitude[far.links.source] == far.sites.latitude[far.links.target])
    assert share > by_chance + 0.5


def test_a_site_sends_as_many_links_as_its_pages_have() -> None:
    web = web_of(2000)
    sent = np.bincount(web.links.source, web.links.count, 2000)
    has_any = sent > 0
    assert sent[has_any] == pytest.approx(web.sites.pages[has_any])
    assert has_any.mean() > 0.9


def test_links_can_be_drawn_for_sites_without_places() -> None:
    web = web_of(300)
    sites = web.sites.placed_at(np.full(300, np.nan), np.full(300, np.nan))
    assert len(generate_links(sites, LinkConfig(locality=1.0), CostConfig(), np.random.default_rng(1)))


@pytest.fixture(scope="module")
def points(problem: Problem) -> list[FigurePoint]:
    return list(figures(problem, FiguresConfig(parts=(1, 5, 8, 12, 20))))


@pytest.mark.parametrize("figure", [5, 6])
def test_geography_beats_the_hash_from_five_parts_on(points: list[FigurePoint], figure: int) -> None:
    """Figures 5 and 6 of paper 001."""
    ratios = wins(points, figure, "metis-geo", "hash")
    assert sorted(ratios) == [1, 5, 8, 12, 20]
    assert all(ratio > 1 for parts, ratio in ratios.items() if parts >= 5)


def test_more_parts_download_faster_than_one_crawler(points: list[FigurePoint]) -> None:
    for method in ("metis-geo", "hash"):
        assert all(ratio > 2 for parts, ratio in wins(points, 5, method, "centralised").items() if parts > 1)


def test_relocation_falls_with_the_probability_of_the_same_scope(points: list[FigurePoint]) -> None:
    """Figure 7 of paper 001."""
    for method in ("metis-geo", "hash"):
        values = [point.value for point in points if point.figure == 7 and point.method == method]
        assert len(values) == 11
        assert values == sorted(values, reverse=True)


def test_stable_methods_move_little(problem: Problem) -> None:
    for moves in stability(problem, ("two-level", "consistent"), (5, 20)):
        assert moves.moved_on_join is not None
        assert moves.moved_on_join <= 1.5 / moves.parts
        assert moves.moved_on_leave is not None


def test_both_objectives_stay_near_the_better_parent(problem: Problem) -> None:
    some = Problem(sites=problem.sites, links=problem.links, crawlers=CrawlerTable.floating(10))
    geo, links, multi = (
        result_of(METHODS[name], some).costs for name in ("metis-geo", "metis-links", "metis-multi")
    )
    assert multi.download_s <= 1.1 * min(geo.download_s, links.download_s)
    assert multi.edge_cut is not None
    assert links.edge_cut is not None
    assert multi.edge_cut <= 1.1 * links.edge_cut


# --- two crawlers


def test_exchange_finds_every_page_once() -> None:
    result = simulate_two_crawlers(TwoCrawlersConfig(pages=3000, hosts=60), np.random.default_rng(1))
    assert sum(one.pages for one in result.crawlers) == result.reachable
    assert result.fetched_twice == 0
    assert all(one.tally.sent == one.tally.foreign > 0 for one in result.crawlers)
    for one in result.crawlers:
        assert one.tally.sent / 500 <= one.tally.batches <= one.tally.sent


def test_larger_interval_sends_fewer_messages() -> None:
    rng = np.random.default_rng
    quick, slow = (
        simulate_two_crawlers(
            TwoCrawlersConfig(pages=3000, hosts=60, exchange=ExchangeConfig(flush_after_s=wait)), rng(1)
        )
        for wait in (0.1, 10.0)
    )
    assert (
        sum(one.tally.batches for one in slow.crawlers) < sum(one.tally.batches for one in quick.crawlers) / 3
    )
    assert slow.reachable == quick.reachable == sum(one.pages for one in slow.crawlers)


def test_firewall_misses_pages_and_cross_over_fetches_them_twice() -> None:
    results = {
        mode: simulate_two_crawlers(
            TwoCrawlersConfig(pages=1500, hosts=200, links_per_page=5.0, exchange=ExchangeConfig(mode=mode)),
            np.random.default_rng(3),
        )
        for mode in Mode
    }
    dropped, crossed = results[Mode.DROP], results[Mode.CROSS_OVER]
    assert sum(one.pages for one in dropped.crawlers) < dropped.reachable
    assert crossed.fetched_twice > 0
    assert all(one.tally.batches == 0 for one in (*dropped.crawlers, *crossed.crawlers))


def test_foreign_share_is_what_the_hash_makes_of_leaving_links() -> None:
    """A tenth of the links leave their host, and about half of those their crawler."""
    result = simulate_two_crawlers(TwoCrawlersConfig(pages=4000, hosts=400), np.random.default_rng(2))
    share = sum(one.foreign_seen for one in result.crawlers) / sum(one.links_seen for one in result.crawlers)
    assert share == pytest.approx(0.05, abs=0.01)
