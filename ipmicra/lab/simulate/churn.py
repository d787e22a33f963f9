"""The churn experiment, from options to rows: what `ipmicra simulate churn` prints."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ipmicra.edge.files.matrices import read_matrix
from ipmicra.errors import InputError
from ipmicra.lab.churn.config import ChurnConfig
from ipmicra.lab.churn.experiment import Draw, Matrix, draw
from ipmicra.lab.churn.figures import SchemeRun
from ipmicra.lab.churn.published import published
from ipmicra.lab.churn.schemes.table import SCHEMES, scheme_named
from ipmicra.lab.churn.small_test import SmallConfig, small_choices, small_throughput, small_world
from ipmicra.lab.worlds.populations import king_like

Say = Callable[[str], None]
BOUND = "bound"
"""Name of the row with the upper bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChurnRun:
    """Arguments of `simulate_churn`."""

    schemes: Sequence[str] = tuple(SCHEMES)
    seeds: int = 3
    matrix: Path | None = None
    """Positions from a real matrix; None for a King-like world, drawn anew for each seed."""
    scales: Sequence[int] = ()
    """Numbers of crawlers for the test of scalability; empty for the experiment itself."""
    config: ChurnConfig = field(default_factory=ChurnConfig)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChurnReport:
    """All runs, by number of crawlers and scheme; one per seed."""

    world: str
    config: ChurnConfig
    runs: Mapping[tuple[int, str], list[SchemeRun]]
    bounds: Mapping[int, list[float]]
    """Bound of each seed, by number of crawlers."""

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per scheme (and number of crawlers), means over seeds; the bound comes last."""
        rows = []
        for crawlers, bounds in self.bounds.items():
            own = {scheme: runs for (count, scheme), runs in self.runs.items() if count == crawlers}
            means = {scheme: _means(runs) for scheme, runs in own.items()}
            rows += [self._row(scheme, crawlers, means, bounds) for scheme in own]
            rows.append(self._bound_row(crawlers, bounds))
        return rows

    def _row(
        self, scheme: str, crawlers: int, means: Mapping[str, dict[str, float | None]], bounds: list[float]
    ) -> dict[str, Any]:
        bound, own = float(np.mean(bounds)), means[scheme]
        good = own["goodput_mbps"] or 0.0
        return {
            "scheme": scheme,
            **own,
            "bound_mbps": bound,
            "of_bound": good / bound if bound else None,
            "over_dht": _above(good, means, "dht"),
            "over_lbi": _above(good, means, "lbi"),
            "over_lbi_split": _above(good, means, "lbi-split"),
            "published": published(scheme),
            "is_central": SCHEMES[scheme].is_central,
            "is_split": SCHEMES[scheme].is_split,
            **self._setting(crawlers, len(bounds)),
        }

    def _bound_row(self, crawlers: int, bounds: list[float]) -> dict[str, Any]:
        bound = float(np.mean(bounds))
        row = {"scheme": BOUND, "goodput_mbps": bound, "bound_mbps": bound, "of_bound": 1.0}
        return {**row, **self._setting(crawlers, len(bounds))}

    def _setting(self, crawlers: int, seeds: int) -> dict[str, Any]:
        shown = {"sites": self.config.sites, "steps": self.config.steps, "seeds": seeds}
        return {"world": self.world, "crawlers": crawlers, **shown}


def _above(good: float, means: Mapping[str, dict[str, float | None]], other: str) -> float | None:
    """Return by which part a goodput is above another scheme's, where that was run."""
    base = means.get(other, {}).get("goodput_mbps")
    return good / base - 1 if base else None


def _means(runs: Sequence[SchemeRun]) -> dict[str, float | None]:
    every = [asdict(run.figures) for run in runs]
    means = {name: float(np.mean([one[name] for one in every])) for name in every[0]}
    return {name: None if math.isnan(value) else value for name, value in means.items()}


def simulate_churn(run: ChurnRun, say: Say) -> ChurnReport:
    """Run the schemes; every seed is another world (or another draw of nodes) and another history."""
    schemes = [scheme_named(name) for name in dict.fromkeys(run.schemes)]
    if run.seeds < 1:
        raise InputError("at least one seed is needed")
    world, make = _matrix_maker(run.matrix)
    runs: dict[tuple[int, str], list[SchemeRun]] = {}
    bounds: dict[int, list[float]] = {}
    for seed in range(run.seeds):
        whole = draw(make, run.config, seed)
        for count in run.scales or [run.config.crawlers]:
            drawn = whole.limited(count) if run.scales else whole
            bounds.setdefault(count, []).append(drawn.bound_mbps())
            for scheme in schemes:
                say(f"seed {seed + 1} of {run.seeds}, {count} crawlers: {scheme.name}")
                runs.setdefault((count, scheme.name), []).append(_run(drawn, scheme.name))
    return ChurnReport(world=world, config=run.config, runs=runs, bounds=bounds)


def _run(drawn: Draw, scheme: str) -> SchemeRun:
    return drawn.run(scheme_named(scheme))


def _matrix_maker(path: Path | None) -> tuple[str, Callable[[np.random.Generator], Matrix]]:
    if path is None:
        return "king-like", lambda rng: king_like(rng).rtt_ms
    matrix = read_matrix(path)
    return path.stem, lambda _rng: matrix


def simulate_small_test(seeds: int, config: SmallConfig | None = None) -> list[dict[str, Any]]:
    """Run section 5.1's test: one row per scheme, means over seeds, worst first."""
    config = config or SmallConfig()
    if seeds < 1:
        raise InputError("at least one seed is needed")
    found: dict[str, list[tuple[float, float]]] = {}
    for seed in range(seeds):
        rng = np.random.default_rng([seed, 4])
        world = small_world(config, rng)
        for scheme, chosen in small_choices(world, config, rng).items():
            found.setdefault(scheme, []).append(small_throughput(world, chosen, config))
    rows = [
        {"scheme": scheme, "throughput_mbps": mean[0], "half_rtt_ms": mean[1], "seeds": seeds}
        for scheme, mean in ((name, np.mean(values, axis=0).tolist()) for name, values in found.items())
    ]
    return sorted(rows, key=lambda row: float(row["throughput_mbps"]))
