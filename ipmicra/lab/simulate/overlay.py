"""The papers' experiments, from options to rows: what `ipmicra simulate` prints."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from ipmicra.assign.coordinate.coordinates import METHODS
from ipmicra.assign.overlay.options import CutRule, Half, OverlayOptions
from ipmicra.assign.overlay.schemes import scheme_named
from ipmicra.edge.files.matrices import read_matrix
from ipmicra.errors import InputError
from ipmicra.lab.churn.small_test import SmallConfig, small_world
from ipmicra.lab.experiments.coordinates import Accuracy, Trial, try_method
from ipmicra.lab.experiments.published import DIVERSITY_BELOW, IN_ZONE, PRD_BELOW_DL, Claim, Figures, claims
from ipmicra.lab.experiments.splitting import (
    SplittingOptions,
    SplittingOutcome,
    SplittingStage,
    prepare,
    run_scheme,
)
from ipmicra.lab.plots.picture import draw_curves, shares_below
from ipmicra.lab.worlds.populations import Population, king_like, of_matrix, transit_stub
from ipmicra.model.types import Floats

__all__ = [
    "METHODS",
    "CoordinatesRun",
    "SplittingReport",
    "Switches",
    "simulate_coordinates",
    "simulate_splitting",
]
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Switches:
    """How zones are split, as a user names it."""

    half: str
    cut: str
    moves_sites: bool
    is_torus: bool


def splitting_options(switches: Switches, moved: float) -> SplittingOptions:
    """Make the options of an experiment; a word that is unknown is an error."""
    if switches.half not in list(Half):
        raise InputError(f"--half is one of {', '.join(Half)}")
    if switches.cut not in list(CutRule):
        raise InputError(f"--cut is one of {', '.join(CutRule)}")
    overlay = OverlayOptions(
        half=Half(switches.half),
        cut=CutRule(switches.cut),
        moves_sites=switches.moves_sites,
        is_torus=switches.is_torus,
    )
    return SplittingOptions(overlay=overlay, moved=moved)


@dataclass(frozen=True, slots=True, kw_only=True)
class SplittingReport:
    """Outcomes of every scheme and seed."""

    population: str
    options: SplittingOptions
    stages: list[SplittingStage]
    outcomes: Mapping[str, list[SplittingOutcome]]

    def means(self) -> dict[str, Figures]:
        """Return the mean figures of each scheme."""
        return {
            scheme: Figures(
                average_prd=float(np.mean([one.average_prd for one in runs])),
                in_zone=float(np.mean([one.in_zone for one in runs])),
                load_diversity=float(np.mean([one.load_diversity for one in runs])),
                hops=float(np.mean([one.hops for one in runs])),
            )
            for scheme, runs in self.outcomes.items()
        }

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per scheme, with what was published beside."""
        described = {**self.options.described(), "seeds": len(self.stages)}
        return [
            {
                "population": self.population,
                "scheme": scheme,
                **asdict(figures),
                "published": _published(self.population, scheme),
                "options": described,
            }
            for scheme, figures in self.means().items()
        ]

    def claims(self) -> list[Claim]:
        """Return the paper's claims beside what was measured."""
        by_crawler = {
            scheme: np.stack([one.prd_of_crawlers for one in runs]) for scheme, runs in self.outcomes.items()
        }
        return claims(self.population, self.means(), by_crawler)


def _published(population: str, scheme: str) -> dict[str, float]:
    """Return what the paper says of a scheme; relative figures by the scheme they are relative to."""
    paper = "king-like" if population.startswith("king") else population
    published: dict[str, float] = {}
    if scheme in IN_ZONE:
        published["in_zone"] = IN_ZONE[scheme]
    if scheme == "MP" and paper in PRD_BELOW_DL:
        published["average_prd_below_dl"] = PRD_BELOW_DL[paper]
    if scheme in DIVERSITY_BELOW.get(paper, {}):
        before = scheme.split("_", maxsplit=1)[0].lower()
        published[f"load_diversity_below_{before}"] = DIVERSITY_BELOW[paper][scheme]
    return published


def simulate_splitting(
    population: str, schemes: Sequence[str], seeds: int, options: SplittingOptions, say: Say
) -> SplittingReport:
    """Run schemes on a population (`ts`, `king` or the path of a matrix); every seed is another draw."""
    for scheme in schemes:
        scheme_named(scheme)
    if seeds < 1:
        raise InputError("at least one seed is needed")
    make = _population_maker(population)
    stages, outcomes = [], {scheme: list[SplittingOutcome]() for scheme in schemes}
    for seed in range(seeds):
        say(f"seed {seed + 1} of {seeds}")
        rng = np.random.default_rng(seed)
        stage = prepare(make(rng), rng, options)
        stages.append(stage)
        for scheme in schemes:
            # Every scheme draws from the same stream, so that only the scheme differs.
            outcomes[scheme].append(run_scheme(stage, scheme, np.random.default_rng([seed, 1]), options))
    return SplittingReport(
        population=stages[0].population.name, options=options, stages=stages, outcomes=outcomes
    )


def _population_maker(name: str) -> Callable[[np.random.Generator], Population]:
    if name in {"ts", "king"}:
        return transit_stub if name == "ts" else king_like
    path = Path(name)
    if not path.exists():
        raise InputError(f"no population named {name!r}: use ts, king, or the path of a matrix")
    matrix = read_matrix(path)
    return lambda _rng: of_matrix(path.stem, matrix)


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatesRun:
    """Arguments of `simulate_coordinates`."""

    matrix: Path | None = None
    """Round trips; without them an invented world."""
    is_small: bool = False
    """Whether the invented world is that of the small test, ten crawlers and 203 sites; else King-like."""
    plot: Path | None = None
    """Folder for the distribution of relative errors."""
    methods: Sequence[str] = METHODS
    seeds: int = 5
    trial: Trial = field(default_factory=Trial)


def simulate_coordinates(run: CoordinatesRun, say: Say) -> tuple[list[dict[str, Any]], list[Path]]:
    """Try methods on a matrix; return a row per method, means over seeds, and the plots that were drawn."""
    unknown = [method for method in run.methods if method not in METHODS]
    if unknown:
        raise InputError(f"no method named {unknown[0]!r}; there are {', '.join(METHODS)}")
    if run.seeds < 1:
        raise InputError("at least one seed is needed")
    given = None if run.matrix is None else read_matrix(run.matrix)
    matrices = [
        _invented(seed, is_small=run.is_small) if given is None else given for seed in range(run.seeds)
    ]
    rows, errors = [], {}
    for method in run.methods:
        say(method)
        scores = [
            try_method(matrix, method, run.trial, seed, time.perf_counter)
            for seed, matrix in enumerate(matrices)
        ]
        rows.append({"method": method, **_mean(scores), "seeds": run.seeds, **asdict(run.trial)})
        errors[method] = shares_below(np.concatenate([one.errors for one in scores]))
    if run.plot is None:
        return rows, []
    name, labels = "fig08" if run.is_small else "fig13", ("relative error", "share of the round trips")
    file = run.plot / f"{name}-relative-errors.png"
    return rows, [draw_curves(file, "Relative errors of coordinates", errors, labels)]


def _invented(seed: int, *, is_small: bool) -> Floats:
    """Invent a matrix for a seed."""
    rng = np.random.default_rng([seed, 8])
    return small_world(SmallConfig(), rng).rtt_ms if is_small else king_like(rng).rtt_ms


def _mean(scores: Sequence[Accuracy]) -> dict[str, float]:
    names = [one.name for one in fields(Accuracy) if one.name != "errors"]
    return {name: float(np.mean([getattr(one, name) for one in scores])) for name in names}
