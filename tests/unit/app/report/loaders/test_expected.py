"""Baselines by the model: what a hash and a random crawler would have got, where nobody measured it."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_address

import numpy as np
import pytest

from ipmicra.app.report.columns import Columns, crawler_by_hash
from ipmicra.app.report.data import ReportCrawler, ReportData, ReportSite
from ipmicra.app.report.loaders.expected import reported_trips, with_expected_baselines
from ipmicra.app.report.page import render
from ipmicra.model.location import Location
from tests.report_world import CITIES, Spot

NAMES = ("Athens", "New York", "Tokyo")
PLACES = [
    Location(latitude=CITIES[n][0], longitude=CITIES[n][1], radius_km=20.0, country=CITIES[n][2])
    for n in NAMES
]


def true_ms(crawler: int, site: int) -> float:
    """A round trip at two thirds of the speed of light, half as long again, and an access line."""
    spots = [Spot(CITIES[name][0], CITIES[name][1]) for name in NAMES]
    return 4.0 + spots[crawler].km_to(spots[site % 3]) / 100 * 1.5


@pytest.fixture(scope="module")
def data() -> ReportData:
    """Sixty sites that were probed by their nearest crawler alone."""
    crawlers = tuple(
        ReportCrawler(name=name, address=ip_address(f"192.0.2.{i + 1}"), place=PLACES[i])
        for i, name in enumerate(NAMES)
    )
    sites = tuple(
        ReportSite(
            host=f"s{i}.example",
            address=ip_address(f"10.{i}.0.1"),
            place=PLACES[i % 3],
            crawler=i % 3,
            rtt_ms=true_ms(i % 3, i),
        )
        for i in range(60)
    )
    return ReportData(crawlers=crawlers, sites=sites)


def test_hash_and_random_are_expected_about_where_they_truly_are(data: ReportData) -> None:
    found = with_expected_baselines(data, None, reported_trips(data)).baselines
    assert found.is_expected
    assert found.hash_ms is not None
    assert found.random_ms is not None
    picked = crawler_by_hash([site.host for site in data.sites], 3).tolist()
    truly = np.mean([true_ms(crawler, i) for i, crawler in enumerate(picked)])
    assert float(found.hash_ms.mean()) == pytest.approx(truly, rel=0.35)
    at_random = np.mean([true_ms(crawler, i) for i in range(60) for crawler in range(3)])
    assert float(found.random_ms.mean()) == pytest.approx(at_random, rel=0.35)


def test_report_says_what_was_saved_and_that_nobody_measured_it(data: ReportData) -> None:
    report = render(with_expected_baselines(data, None, reported_trips(data)))
    summary = report.summary
    assert summary.are_baselines_expected
    assert summary.saved_rtt_ms is not None
    assert summary.hash_rtt_ms is not None
    assert summary.mean_rtt_ms == pytest.approx(4.0)
    assert summary.saved_rtt_ms == pytest.approx(summary.hash_rtt_ms - 4.0)
    assert summary.saved_pages_per_hour is not None
    assert summary.saved_pages_per_hour > 0
    for text in ("expected by the model, not measured", "site hash: ≈ ", "all sites counted alike"):
        assert text in report.html


def test_true_round_trips_need_no_model(data: ReportData) -> None:
    true = np.array([[true_ms(crawler, i) for i in range(60)] for crawler in range(3)])
    known = replace(data, true_rtt_ms=true)
    assert with_expected_baselines(known, None, {}) is known
    assert not any(curve.is_expected for curve in Columns(known).curves)


def test_sites_without_address_stay_without_a_baseline(data: ReportData) -> None:
    nameless = replace(data, sites=tuple(replace(site, address=None) for site in data.sites))
    assert with_expected_baselines(nameless, None, {}).baselines.hash_ms is None
