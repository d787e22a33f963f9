"""How well a site was delegated, where round trips are known, lost or were never measured."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv4Address
from math import inf, isnan, nan

import numpy as np
import pytest

from ipmicra.delegate.replay.quality import GroundTruth, quality_of
from ipmicra.delegate.replay.world import World
from ipmicra.model.crawler import Crawler
from ipmicra.model.site import Site

RTT_MS = np.array([[10.0, nan, nan, 30.0], [11.5, 20.0, nan, nan]])
"""Crawlers a and b; the third site is reached by nobody."""
WORLD = World(
    "hand-made",
    tuple(Crawler(name=name, address=IPv4Address(f"192.0.2.{i}")) for i, name in enumerate("ab")),
    tuple(Site(f"s{i}.example", IPv4Address(f"198.51.100.{i}")) for i in range(4)),
    RTT_MS,
    (None,) * 4,
    (None,) * 4,
)


def test_nearest_crawler_has_no_excess_and_another_the_difference() -> None:
    truth = GroundTruth(WORLD)
    assert truth.outcome(0, 0, 2).excess_ms == 0
    assert truth.outcome(0, 1, 2).excess_ms == pytest.approx(1.5)


def test_crawler_that_misses_a_site_which_another_reaches_has_infinite_excess() -> None:
    assert GroundTruth(WORLD).outcome(1, 0, 1).excess_ms == inf
    assert GroundTruth(WORLD).outcome(1, None, 1).excess_ms == inf


def test_site_that_nobody_reaches_counts_for_nothing() -> None:
    outcome = GroundTruth(WORLD).outcome(2, 0, 1)
    assert isnan(outcome.excess_ms)
    assert outcome.is_measured


def test_pair_that_was_never_measured_is_neither_right_nor_wrong() -> None:
    world = replace(WORLD, measured=np.array([[True, True, True, True], [True, True, True, False]]))
    outcome = GroundTruth(world).outcome(3, 1, 1)
    assert isnan(outcome.excess_ms)
    assert not outcome.is_measured
    assert outcome.askable == 1


def test_shares_count_misses_and_means_leave_them_out() -> None:
    truth = GroundTruth(WORLD)
    quality = quality_of([truth.outcome(0, 1, 3), truth.outcome(1, 0, 1), truth.outcome(2, 0, 2)])
    assert quality.sites == 3
    assert quality.optimal == 0
    assert quality.within_2ms == 0.5  # of the two sites that anybody reaches
    assert quality.mean_excess_ms == quality.excess_of_suboptimal_ms == pytest.approx(1.5)
    assert quality.unreached == 1
    assert quality.probes_per_site == 2
