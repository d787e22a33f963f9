"""Replaying policies on a world with known round trips."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ipmicra.app.report.data import ReportData
from ipmicra.app.report.loaders.holders import with_hierarchy
from ipmicra.app.report.loaders.replayed import ReplayedWorld
from ipmicra.delegate.config import DelegatorConfig
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.world_folder import load_world
from ipmicra.errors import InputError
from ipmicra.simulate.contest import Contest, Contestant, Standing, contestants
from ipmicra.simulate.replay import Score
from ipmicra.simulate.world import LocationKind, World, locations_of

POLICIES = ("predict", "paper", "geo", "everyone", "random", "hash")
"""In the order in which they are shown."""
PUBLISHED_TRAIN = 650 / 1000
"""Share of the sites that the paper trained with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateOptions:
    """What is replayed, and how."""

    world: Path
    hierarchy: Path
    policies: Sequence[str] = POLICIES
    location: LocationKind = LocationKind.WORLD
    train: int | None = None
    """Sites before those that count; the paper's share of the world if not given."""
    seeds: int = 20
    thresholds_ms: Sequence[float] = (50.0, 10.0)
    prices_ms: Sequence[float] = ()
    """Fixed prices of a probe; the default and the frugal setting if there are none."""
    nearest: Sequence[int] = (1, 2)
    probe_budget: int | None = None
    is_reported: bool = False
    """Whether the first policy's delegation is wanted site by site, for a report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """Rows by contestant, and what was wrong with the world."""

    world: str
    train: int
    seeds: int
    location: LocationKind
    rows: list[dict[str, Any]]
    findings: list[str] = field(default_factory=list)
    data: ReportData | None = None
    """Of the first policy, if it was asked for."""


Progress = Callable[[str, int, int], None]
"""Told the contestant, orders of arrival done and in all."""


def evaluate(options: EvaluateOptions, progress: Progress = lambda *_: None) -> Evaluation:
    """Replay every policy on the same random orders of arrival."""
    findings: list[str] = []
    world = load_world(options.world, findings)
    train = round(len(world.sites) * PUBLISHED_TRAIN) if options.train is None else options.train
    _check(options, world, train)
    with Hierarchy.open(options.hierarchy) as tree:
        contest = Contest(
            world=world,
            tree=tree,
            locations=locations_of(world, options.location, _middles(options.location)),
            train=train,
            seeds=options.seeds,
            config=DelegatorConfig(probe_budget=options.probe_budget),
        )
        rows = [_row(standing) for standing in _standings(contest, options, progress)]
        data = _replayed(contest, options, tree) if options.is_reported else None
    return Evaluation(
        world=world.name,
        train=train,
        seeds=options.seeds,
        location=options.location,
        rows=rows,
        findings=findings,
        data=data,
    )


def _contestants(options: EvaluateOptions) -> list[Contestant]:
    return contestants(
        options.policies,
        thresholds_ms=options.thresholds_ms,
        prices_ms=options.prices_ms,
        nearest=options.nearest,
    )


def _replayed(contest: Contest, options: EvaluateOptions, hierarchy: Hierarchy) -> ReportData:
    """Give the first policy's delegation of the whole world, in its own order of arrival."""
    data = ReplayedWorld(contest=contest, contestant=_contestants(options)[0], folder=options.world).load()
    return with_hierarchy(data, hierarchy)


def _standings(contest: Contest, options: EvaluateOptions, progress: Progress) -> list[Standing]:
    standings = []
    for one in _contestants(options):
        scores: list[tuple[Score, Score]] = []
        for pair in contest.run(one):
            scores.append(pair)
            progress(f"{one.policy} {one.setting}".strip(), len(scores), contest.seeds)
        training, test = zip(*scores, strict=True)
        standings.append(Standing(policy=one.policy, setting=one.setting, training=training, test=test))
    return standings


def _middles(kind: LocationKind) -> dict[str, Any]:
    if kind is not LocationKind.COUNTRY:
        return {}
    from ipmicra.edge.countries import country_middles

    return country_middles()


def _check(options: EvaluateOptions, world: World, train: int) -> None:
    """Refuse numbers that leave nothing to measure."""
    if not 0 <= train < len(world.sites):
        message = (
            f"{train} sites of training leave none of {len(world.sites)} to test: give a smaller --train"
        )
        raise InputError(message)
    if options.seeds < 1:
        raise InputError(f"{options.seeds} orders of arrival are none: give --seeds 1 or more")
    unknown = sorted(set(options.policies) - set(POLICIES))
    if unknown:
        raise InputError(f"no policy {', '.join(unknown)}: there are {', '.join(POLICIES)}")
    if any(value <= 0 for value in (*options.thresholds_ms, *options.prices_ms)):
        raise InputError("thresholds and prices are milliseconds above 0")


def _row(standing: Standing) -> dict[str, Any]:
    """Give means over the orders of arrival, and how far the orders differ."""

    def mean(name: str) -> float:
        return round(float(np.mean([getattr(one, name) for one in standing.test])), 4)

    def spread(name: str) -> float:
        return round(float(np.std([getattr(one, name) for one in standing.test])), 4)

    return {
        "policy": standing.policy,
        "setting": standing.setting,
        "optimal": mean("optimal"),
        "within_2ms": mean("within_2ms"),
        "probes_per_site": mean("probes_per_site"),
        "mean_excess_ms": mean("mean_excess_ms"),
        "excess_of_suboptimal_ms": mean("excess_of_suboptimal_ms"),
        "training_probes_per_site": round(
            float(np.mean([one.probes_per_site for one in standing.training])), 4
        ),
        "optimal_spread": spread("optimal"),
        "probes_spread": spread("probes_per_site"),
        "unreached": int(sum(one.unreached for one in standing.test)),
    }
