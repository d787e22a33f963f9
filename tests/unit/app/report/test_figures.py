"""The figures on top, against worked cases and slow counting."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.app.report.columns import Columns, crawler_by_hash, tally
from ipmicra.app.report.config import ReportConfig
from ipmicra.app.report.data import ORACLE, Baselines, Flag, ReportCrawler, ReportData, ReportSite
from ipmicra.app.report.figures import Summary, page_rates, summarise
from ipmicra.app.report.tiles import tiles
from ipmicra.assign.balance.config import PageCost
from ipmicra.model.crawler import Capacity
from tests.report_world import invented_data

NAN = float("nan")
CRAWLERS = (ReportCrawler(name="ath"), ReportCrawler(name="nyc"))
TRUE = np.array([[10.0, 50.0, 30.0, NAN, NAN], [40.0, 20.0, 29.0, 5.0, NAN]])


def figures(data: ReportData) -> Summary:
    return summarise(Columns(data), ReportConfig())


def small(*crawlers: int | None, **more: object) -> ReportData:
    sites = tuple(
        ReportSite(host=f"s{i}", crawler=crawler, probes=i, pages=10) for i, crawler in enumerate(crawlers)
    )
    return replace(ReportData(crawlers=CRAWLERS, sites=sites, true_rtt_ms=TRUE), **more)  # type: ignore[arg-type]


def test_optimal_counts_sites_whose_nearest_crawler_is_known() -> None:
    """Two are best, the third is 1 ms off, the fourth gets no answer; nobody knows the fifth."""
    summary = figures(small(0, 1, 0, 0, 1))
    assert summary.optimal == 2 / 4
    assert summary.within_2ms == 3 / 4
    assert (summary.sites, summary.assigned) == (5, 5)


def test_tie_for_the_nearest_is_optimal_and_nobody_is_not() -> None:
    true = np.array([[7.0, 7.0], [7.0, 8.0]])
    sites = (ReportSite(host="a", crawler=1), ReportSite(host="b", crawler=None))
    assert figures(ReportData(crawlers=CRAWLERS, sites=sites, true_rtt_ms=true)).optimal == 0.5


def test_probes_are_counted_where_somebody_counted() -> None:
    data = small(0, 1, 0, 0, 1)
    sites = (*data.sites[:4], replace(data.sites[4], probes=None))
    summary = figures(replace(data, sites=sites))
    assert (summary.probes, summary.probes_per_site) == (6, 1.5)


def test_ways_are_compared_on_the_same_sites() -> None:
    data = small(0, 1, 0, 0, 1)
    columns = Columns(data)
    by_hash = crawler_by_hash([site.host for site in data.sites], 2)
    both = [
        i
        for i in range(5)
        if np.isfinite(TRUE[data.sites[i].crawler, i]) and np.isfinite(TRUE[by_hash[i], i])
    ]
    assert np.flatnonzero(columns.compared).tolist() == both
    summary = figures(data)
    assert summary.compared == len(both)
    assert summary.mean_rtt_ms == pytest.approx(np.mean([TRUE[data.sites[i].crawler, i] for i in both]))
    assert summary.hash_rtt_ms == pytest.approx(np.mean([TRUE[by_hash[i], i] for i in both]))
    assert summary.random_rtt_ms == pytest.approx(np.mean([np.nanmean(TRUE[:, i]) for i in both]))
    assert summary.oracle_rtt_ms == pytest.approx(np.mean([np.nanmin(TRUE[:, i]) for i in both]))


def test_without_truth_only_what_was_told_is_shown() -> None:
    sites = (ReportSite(host="a", crawler=0, rtt_ms=4.0), ReportSite(host="b", crawler=1))
    summary = figures(ReportData(crawlers=CRAWLERS, sites=sites))
    assert (summary.mean_rtt_ms, summary.compared) == (4.0, 1)
    assert [summary.optimal, summary.hash_rtt_ms, summary.oracle_rtt_ms, summary.pages] == [None] * 4
    assert summary.pages_per_hour is not None, "without counts all sites count the same"
    assert summary.probes_per_site is None


def test_columns_that_others_worked_out_take_the_place_of_truth() -> None:
    sites = (ReportSite(host="a", crawler=0, rtt_ms=4.0), ReportSite(host="b", crawler=1, rtt_ms=9.0))
    baselines = Baselines(oracle_ms=np.array([4.0, 5.0]), hash_ms=np.array([8.0, NAN]))
    summary = figures(ReportData(crawlers=CRAWLERS, sites=sites, baselines=baselines))
    assert (summary.optimal, summary.compared) == (0.5, 1)
    assert (summary.hash_rtt_ms, summary.random_rtt_ms) == (8.0, None)


def test_pages_an_hour_by_hand() -> None:
    """Ten pages over one connection: 2 × 10 ms + 0.8 s of transfer + 0.1 s of wait = 0.92 s."""
    crawlers = (ReportCrawler(name="a", capacity=Capacity(connections=1)), ReportCrawler(name="b"))
    sites = (
        ReportSite(host="x", crawler=0, pages=10, rtt_ms=10.0),
        ReportSite(host="y", crawler=0, pages=30, rtt_ms=10.0),
    )
    columns = Columns(ReportData(crawlers=crawlers, sites=sites))
    rates = page_rates(columns, columns.ours_ms, columns.crawler, PageCost())
    assert rates is not None
    assert rates.busy == pytest.approx(40 / (4 * 0.92) * 6 * 3600)
    assert rates.to_the_end == pytest.approx(40 / (4 * 0.92) * 3600)


def test_hash_is_the_same_on_every_machine() -> None:
    """The first 16 digits that sha256sum prints for the name, modulo the number of crawlers."""
    assert crawler_by_hash(["example.org", "EXAMPLE.org", "example.net"], 1000).tolist() == [862, 862, 195]


@given(st.lists(st.floats(0.1, 900), min_size=1, max_size=40), st.floats(0.1, 1000))
def test_share_within_equals_counting(values: list[float], limit: float) -> None:
    sites = tuple(ReportSite(host=str(i), crawler=0, rtt_ms=value) for i, value in enumerate(values))
    (curve,) = Columns(ReportData(crawlers=CRAWLERS, sites=sites)).curves
    counted = sum(value <= limit for value in values) / len(values)
    assert float(curve.share_within(np.array([limit]))[0]) == pytest.approx(counted)


def test_flags_and_sites_without_a_crawler_are_told_on_top() -> None:
    data = invented_data(200)
    sites = (*data.sites[:-1], replace(data.sites[-1], crawler=None, flag=None))
    summary = figures(replace(data, sites=sites))
    assert summary.anycast == sum(site.flag is Flag.ANYCAST for site in sites)
    assert summary.unprobeable == sum(site.flag is Flag.UNPROBEABLE for site in sites)
    assert "1 without a crawler" in {name: note for name, _, note in tiles(summary)}["special sites"]


def test_oracle_does_not_boast_of_being_optimal() -> None:
    data = small(0, 1, 1, 1, None, policy=ORACLE)
    assert figures(data).optimal == 1.0
    assert [curve.role for curve in Columns(data).curves] == ["oracle", "hash", "random"]
    assert "nearest crawler" not in [name for name, _, _ in tiles(figures(data), is_oracle=True)]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(-1, 6))))
def test_tally_equals_counting_one_by_one(pairs: list[tuple[int, int]]) -> None:
    groups, values = (np.array([pair[i] for pair in pairs], np.int64) for i in (0, 1))
    slow: dict[int, Counter[int]] = {}
    for group, value in pairs:
        slow.setdefault(group, Counter())[value] += 1
    assert tally(groups, values) == slow
