"""The map of addresses: the curve, and what stands in its squares."""

from __future__ import annotations

import itertools
from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address

import numpy as np
import pytest

from ipmicra.app.report.columns import Columns
from ipmicra.app.report.config import ReportConfig
from ipmicra.app.report.data import ReportCrawler, ReportData, ReportSite
from ipmicra.app.report.plots.hilbert import COARSE, FINE, cells_of, choose_order, draw_hilbert, hilbert_point
from ipmicra.app.report.plots.scene import Rect
from tests.reference.slow_hilbert import hilbert_walk
from tests.report_world import invented_data


def test_smallest_curve_is_a_cup_from_upper_left_to_upper_right() -> None:
    x, y = hilbert_point(np.arange(4), 1)
    assert list(zip(x.tolist(), y.tolist(), strict=True)) == [(0, 0), (0, 1), (1, 1), (1, 0)]


@pytest.mark.parametrize("order", range(1, 7))
def test_curve_equals_the_one_drawn_by_hand(order: int) -> None:
    x, y = hilbert_point(np.arange(4**order), order)
    walk = hilbert_walk(order)
    assert list(zip(x.tolist(), y.tolist(), strict=True)) == walk
    steps = [abs(a - c) + abs(b - d) for (a, b), (c, d) in itertools.pairwise(walk)]
    assert set(steps) == {1}


def site(address: str, crawler: int | None = 0, organisation: str | None = None) -> ReportSite:
    parsed = IPv6Address(address) if ":" in address else IPv4Address(address)
    return ReportSite(host=f"h{address}", address=parsed, crawler=crawler, organisation=organisation)


def columns_of(sites: list[ReportSite]) -> Columns:
    crawlers = (ReportCrawler(name="ath"), ReportCrawler(name="nyc"))
    return Columns(ReportData(crawlers=crawlers, sites=tuple(sites)))


def test_squares_count_sites_crawlers_and_holders() -> None:
    sites = [
        site("10.1.0.1", 0, "A"),
        site("10.2.0.1", 1, "A"),
        site("10.2.0.2", 1, "B"),
        site("11.0.0.1", 0),
    ]
    cells = cells_of(columns_of([*sites, site("2001:db8::1"), site("10.0.0.1", None)]), 4)
    assert {number: cell.sites for number, cell in cells.items()} == {10: 3, 11: 1}
    assert cells[10].crawlers == {0: 1, 1: 2}
    assert cells[10].organisations == {"A": 2, "B": 1}


def test_square_has_the_colour_the_tip_and_the_search_of_its_main_crawler() -> None:
    crawlers = (ReportCrawler(name="ath"), ReportCrawler(name="nyc"))
    sites = (site("10.1.0.1", 0, "A"), site("10.1.0.2", 1, "A"), site("10.1.0.3", 1, "B"))
    whole = ReportConfig(whole_map_cells=0)
    scene = draw_hilbert(Columns(ReportData(crawlers=crawlers, sites=sites)), whole)
    assert scene is not None
    (squares,) = [layer for layer in scene.layers if layer.kind == "cell"]
    (square,) = squares.shapes
    assert isinstance(square, Rect)
    assert (squares.crawler, squares.style.fill) == (1, "c1")
    assert square.tip == "10.0.0.0/14\n3 sites: nyc 2, ath 1\nA, B"
    assert square.find == "10.0.0.0/14"


def test_whole_space_is_shown_only_where_enough_is_filled_and_the_file_stays_small() -> None:
    config = ReportConfig(whole_map_cells=3, max_cells=5)
    spread = [site(str(IPv4Address(i << 24))) for i in range(1, 20)]
    assert choose_order(columns_of(spread[:2]), config) is None
    assert choose_order(columns_of(spread[:4]), config) == FINE
    assert choose_order(columns_of(spread), config) == COARSE


def test_few_sites_are_shown_as_blocks_that_fill_the_map() -> None:
    scene = draw_hilbert(Columns(invented_data(300)), ReportConfig())
    assert scene is not None
    area = {
        kind: sum(
            one.width * one.height
            for part in scene.layers
            if part.kind == kind
            for one in part.shapes
            if isinstance(one, Rect)
        )
        for kind in ("ground", "cell")
    }
    assert area["cell"] >= 0.25 * area["ground"]
    names = [one for part in scene.layers if part.kind == "block" for one in part.shapes]
    assert 4 <= len(names) <= ReportConfig().map_blocks


def test_without_ipv4_addresses_there_is_no_map() -> None:
    data = invented_data(5)
    bare = tuple(replace(one, address=None) for one in data.sites)
    assert draw_hilbert(Columns(replace(data, sites=bare)), ReportConfig()) is None
