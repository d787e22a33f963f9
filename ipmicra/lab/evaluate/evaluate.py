"""Replaying policies on a world with known round trips."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ipmicra.app.report.data import ReportData
from ipmicra.app.report.loaders.holders import with_hierarchy
from ipmicra.delegate.config import DelegatorConfig
from ipmicra.delegate.policies.registry import POLICIES, READINGS, PolicyVariant, policy_variants
from ipmicra.delegate.replay.answers import trust_of
from ipmicra.delegate.replay.quality import Quality, SiteOutcome
from ipmicra.delegate.replay.world import LocationKind, World
from ipmicra.edge.geodata.countries import CountrySettlements
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.errors import InputError
from ipmicra.lab.evaluate.comparison import Comparison, PolicyResult, other_ways
from ipmicra.lab.evaluate.inputs import Places, WorldSource, choose_kind, count_places, open_tree
from ipmicra.lab.evaluate.report import ReplayedWorld

TODAY = "today"
"""The row of the crawlers that sites have today, where a file of measurements has them."""
PUBLISHED_TRAIN = 650 / 1000
"""Share of the sites that the paper trained with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateOptions:
    """What is replayed, and how."""

    world: Path
    """A folder, or a file of measurements: see `docs/your-own-measurements.md`."""
    hierarchy: Path | None
    """Without one, prefixes of fixed lengths stand for subnets."""
    crawlers: Path | None = None
    """Places of the crawlers in a file of measurements; as `ipmicra crawler import` reads them."""
    sites: Path | None = None
    """Hosts, addresses and places of its sites."""
    resolves: bool = False
    """Ask the DNS for addresses of hosts that no file has."""
    policies: Sequence[str] = ()
    """By name; all of them if none is named."""
    location: LocationKind | None = None
    """What is known of places; by default the world's own, or what can be located."""
    tables: Sequence[Path] = ()
    """Known places, such as a GeoIP export, for places by `locate`, which is then the default."""
    train: int | None = None
    """Sites before those that count; the paper's share of the world if not given."""
    seeds: int = 20
    thresholds_ms: Sequence[float] = (50.0, 10.0)
    is_read_both_ways: bool = False
    """Whether `paper` is also replayed as one that climbs on beyond the organisation."""
    prices_ms: Sequence[float] = ()
    """Fixed prices of a probe; the default and the frugal setting if there are none."""
    nearest: Sequence[int] = (1, 2)
    probe_budget: int | None = None
    is_reported: bool = False
    """Whether the first policy's delegation is wanted site by site, for a report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """Rows by variant, and what was wrong with the world."""

    world: str
    train: int
    seeds: int
    location: LocationKind
    rows: list[dict[str, Any]]
    places: list[dict[str, Any]] = field(default_factory=list)
    """Sites by the source of their place: how many are compared with the true place, and far from it."""
    findings: list[str] = field(default_factory=list)
    """Rows left out, a line each."""
    notes: list[str] = field(default_factory=list)
    """How a file of measurements was understood, and what is missing."""
    is_measured: bool = False
    """Whether the world is a file of measurements."""
    data: ReportData | None = None
    """Of the first policy, if it was asked for."""


def read_location(text: str) -> LocationKind:
    """Read the name of a source of locations."""
    if text not in list(LocationKind):
        raise InputError(f"{text!r} is none of {', '.join(LocationKind)}")
    return LocationKind(text)


Progress = Callable[[str, int, int], None]
"""Called with the variant, orders of arrival done and in all."""


def evaluate(options: EvaluateOptions, progress: Progress = lambda *_: None) -> Evaluation:
    """Replay every policy on the same random orders of arrival."""
    findings: list[str] = []
    notes: list[str] = []
    source = WorldSource(
        world=options.world, crawlers=options.crawlers, sites=options.sites, resolves=options.resolves
    )
    # before the world is read, which may take long
    _check_numbers(options)
    world = source.load(findings, notes)
    train = round(len(world.sites) * PUBLISHED_TRAIN) if options.train is None else options.train
    _check_train(train, world)
    with open_tree(options.hierarchy, world, notes) as tree:
        kind = options.location or _default_kind(options, source, world, notes)
        locations = Places(kind=kind, tables=options.tables).load(world, tree, findings, notes)
        places = count_places(world, kind, locations)
        comparison = Comparison(
            world=world,
            tree=tree,
            locations=locations,
            train=train,
            seeds=options.seeds,
            config=DelegatorConfig(probe_budget=options.probe_budget),
            others_ms=other_ways(world),
        )
        known: dict[str, Any] = {"location": str(kind), "places": places}
        rows = [_row(result) | known for result in _results(comparison, options, progress)]
        data = _replayed(comparison, options) if options.is_reported else None
    return Evaluation(
        world=world.name,
        train=train,
        seeds=options.seeds,
        location=kind,
        rows=rows,
        places=places,
        findings=findings,
        notes=notes,
        is_measured=source.is_measured,
        data=data,
    )


def _default_kind(
    options: EvaluateOptions, source: WorldSource, world: World, notes: list[str]
) -> LocationKind:
    return LocationKind.LOCATE if options.tables else choose_kind(source, world, notes)


def _variants(options: EvaluateOptions) -> list[PolicyVariant]:
    return policy_variants(
        options.policies or POLICIES,
        thresholds_ms=options.thresholds_ms,
        prices_ms=options.prices_ms,
        nearest=options.nearest,
        paper=READINGS if options.is_read_both_ways else READINGS[:1],
        settlements=CountrySettlements(),
    )


def _replayed(comparison: Comparison, options: EvaluateOptions) -> ReportData:
    """Return the first policy's delegation of the whole world, in its own order of arrival."""
    data = ReplayedWorld(comparison=comparison, variant=_variants(options)[0], folder=options.world).load()
    return with_hierarchy(data, comparison.tree) if isinstance(comparison.tree, Hierarchy) else data


def _results(comparison: Comparison, options: EvaluateOptions, progress: Progress) -> list[PolicyResult]:
    results = []
    for one in _variants(options):
        scores: list[tuple[Quality, Quality]] = []
        answers: list[list[SiteOutcome]] = []
        for training, outcomes, test in comparison.run_answers(one):
            scores.append((training, test))
            answers.append(outcomes)
            progress(f"{one.policy} {one.setting}".strip(), len(scores), comparison.seeds)
        results.append(replace(_result(one.policy, one.setting, scores), trust=trust_of(answers)))
    if comparison.world.today is not None:
        results.append(_result(TODAY, "", list(comparison.run_given(comparison.world.today))))
    return results


def _result(policy: str, setting: str, scores: list[tuple[Quality, Quality]]) -> PolicyResult:
    training, test = zip(*scores, strict=True)
    return PolicyResult(policy=policy, setting=setting, training=training, test=test)


def _check_train(train: int, world: World) -> None:
    """Refuse a number that leaves nothing to measure."""
    if not 0 <= train < len(world.sites):
        raise InputError(
            f"{train} sites of training leave none of {len(world.sites)} to test: use a smaller --train"
        )


def _check_numbers(options: EvaluateOptions) -> None:
    """Refuse what makes no sense in any world."""
    if options.seeds < 1:
        raise InputError(f"{options.seeds} orders of arrival are none: use --seeds 1 or more")
    if options.tables and options.location not in {None, LocationKind.LOCATE}:
        raise InputError(
            f"a table of places is not used with places by {options.location}: use --location locate"
        )
    unknown = sorted(set(options.policies) - set(POLICIES))
    if unknown:
        raise InputError(f"no policy {', '.join(unknown)}: there are {', '.join(POLICIES)}")
    if any(value <= 0 for value in (*options.thresholds_ms, *options.prices_ms)):
        raise InputError("thresholds and prices are milliseconds above 0")


def _row(result: PolicyResult) -> dict[str, Any]:
    """Return means over the orders of arrival, and how far the orders differ."""

    def mean(name: str) -> float | None:
        return _mean([getattr(one, name) for one in result.test])

    def spread(name: str) -> float:
        return round(float(np.std([getattr(one, name) for one in result.test])), 4)

    others = sorted({name for one in result.test for name in one.saved_ms})
    return {
        "policy": result.policy,
        "setting": result.setting,
        "optimal": mean("optimal"),
        "within_2ms": mean("within_2ms"),
        "probes_per_site": mean("probes_per_site"),
        "mean_excess_ms": mean("mean_excess_ms"),
        "excess_of_suboptimal_ms": mean("excess_of_suboptimal_ms"),
        "mean_rtt_ms": mean("mean_rtt_ms"),
        **{f"saved_vs_{name}_ms": _mean([one.saved_ms[name] for one in result.test]) for name in others},
        **{f"{name}_mean_rtt_ms": _mean([one.others_ms[name] for one in result.test]) for name in others},
        "probes_saved": _probes_saved(result.test),
        "everyone_probes_per_site": mean("everyone_probes_per_site"),
        "judged": mean("judged"),
        "training_probes_per_site": _mean([one.probes_per_site for one in result.training]),
        "optimal_spread": spread("optimal"),
        "probes_spread": spread("probes_per_site"),
        **result.trust.record(),
        "unreached": int(sum(one.unreached for one in result.test)),
    }


def _mean(values: Sequence[float]) -> float | None:
    """Return the mean of what is known; None if nothing is."""
    known = [value for value in values if np.isfinite(value)]
    return round(float(np.mean(known)), 4) if known else None


def _probes_saved(scores: Sequence[Quality]) -> float | None:
    """Return the share of everybody's probes that was not needed."""
    everyone = [one.everyone_probes_per_site for one in scores]
    used = [one.probes_per_site for one in scores]
    return round(1 - float(np.sum(used)) / float(np.sum(everyone)), 4) if np.sum(everyone) > 0 else None
