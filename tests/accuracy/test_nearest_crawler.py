"""How well coordinates and schemes do in worlds whose truth is known."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from ipmicra.assign.overlay.options import Half, OverlayOptions
from ipmicra.lab.experiments.coordinates import Accuracy, Trial, try_method
from ipmicra.lab.experiments.published import claims
from ipmicra.lab.experiments.splitting import (
    SplittingOptions,
    SplittingOutcome,
    SplittingStage,
    prepare,
    run_scheme,
)
from ipmicra.lab.worlds.populations import KingLike, TransitStub, king_like, transit_stub

TRIAL = Trial(crawlers=30, landmarks=12)


def scored(method: str, trial: Trial = TRIAL) -> Accuracy:
    ticks = itertools.count()
    rtt = king_like(np.random.default_rng(7), KingLike(nodes=200)).rtt_ms
    scores = [try_method(rtt, method, trial, seed, lambda: float(next(ticks))) for seed in range(2)]
    names = ("top1", "top5", "mean_excess_ms", "median_relative_error", "hosts_per_second")
    means: dict[str, Any] = {name: float(np.mean([getattr(one, name) for one in scores])) for name in names}
    return replace(scores[0], **means)


def test_blend_names_nearest_crawlers_better_than_gnp_and_ridge_helps_the_top_five() -> None:
    gnp, ridge, blend = scored("gnp"), scored("ridge"), scored("blend")
    assert ridge.top5 >= gnp.top5
    assert blend.top1 > gnp.top1 + 0.03
    assert blend.mean_excess_ms < gnp.mean_excess_ms
    assert blend.median_relative_error < gnp.median_relative_error
    assert blend.hosts_per_second == 170  # one tick of the clock for 170 hosts


def test_all_landmarks_leave_nothing_to_guess() -> None:
    everybody = Trial(crawlers=30, landmarks=30, chooses_landmarks=False)
    assert (scored("gnp", everybody).top1, scored("gnp", everybody).mean_excess_ms) == (1.0, 0.0)


@cache
def stages(hosts: int) -> list[SplittingStage]:
    """Populations of 66 or 200 crawlers, the same for all schemes."""
    found = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        found.append(prepare(transit_stub(rng, TransitStub(hosts=hosts)), rng, SplittingOptions()))
    return found


def outcomes(scheme: str, half: Half, hosts: int = 10) -> list[SplittingOutcome]:
    options = SplittingOptions(overlay=OverlayOptions(half=half))
    return [
        run_scheme(stage, scheme, np.random.default_rng(seed), options)
        for seed, stage in enumerate(stages(hosts))
    ]


def mean(runs: list[SplittingOutcome], name: str) -> float:
    return float(np.mean([getattr(run, name) for run in runs]))


def test_middle_point_keeps_all_crawlers_in_their_zones_and_sites_near() -> None:
    middle, loop = outcomes("MP", Half.HOLDING), outcomes("DL", Half.HOLDING)
    assert mean(middle, "in_zone") == 1
    assert mean(middle, "average_prd") < 0.75 * mean(loop, "average_prd")


@pytest.mark.slow
def test_nearer_side_beats_middle_point_in_distance_at_no_higher_load_diversity() -> None:
    middle, nearer = outcomes("MP", Half.HOLDING, 30), outcomes("NS", Half.HOLDING, 30)
    assert mean(nearer, "average_prd") < mean(middle, "average_prd")
    assert mean(nearer, "load_diversity") <= mean(middle, "load_diversity")
    assert mean(nearer, "in_zone") == 1


@pytest.mark.parametrize(("scheme", "published"), [("DL", 0.30), ("MPP", 0.35), ("NH", 0.07), ("GH", 0.03)])
def test_random_halves_give_the_published_in_zone_shares(scheme: str, published: float) -> None:
    assert mean(outcomes(scheme, Half.RANDOM), "in_zone") == pytest.approx(published, abs=0.10)


def test_every_site_is_counted_once_and_runs_repeat() -> None:
    one, again = outcomes("NH", Half.RANDOM), outcomes("NH", Half.RANDOM)
    assert [run.average_prd for run in one] == [run.average_prd for run in again]
    assert all(len(run.prd_of_sites) == 1000 - 66 for run in one)


def test_claims_without_their_schemes_are_left_out() -> None:
    assert claims("ts", {}) == []
