"""Plots of the splitting experiment, drawn with matplotlib; each answers to a figure of Xu et al."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ipmicra.lab.experiments.splitting import SplittingOutcome, SplittingStage
from ipmicra.lab.plots.picture import Draw, draw_picture

TENTHS = 10
"""Groups into which crawlers are sorted by when they joined."""
Outcomes = Mapping[str, list[SplittingOutcome]]


def draw_splitting(
    folder: Path, population: str, stages: Sequence[SplittingStage], outcomes: Outcomes
) -> list[Path]:
    """Draw every plot of one population as PNG; return the files."""
    drawings: dict[str, Draw] = {
        "fig06-in-zone-and-distance": lambda axes: _in_zone(axes, outcomes),
        "fig09-average-distance": lambda axes: _bars(
            axes,
            {name: one for name, one in outcomes.items() if "_" not in name},
            "average_prd",
            "average PRD (ms)",
        ),
        "fig10-distribution": lambda axes: _distribution(axes, outcomes),
        "fig11-load-diversity": lambda axes: _bars(axes, outcomes, "load_diversity", "load diversity"),
        "fig12-by-time-of-joining": lambda axes: _tenths(axes, outcomes),
        "fig13-average-distance-switch": lambda axes: _bars(
            axes, outcomes, "average_prd", "average PRD (ms)"
        ),
        "nodes-before": lambda axes: _nodes(axes, stages[0], is_clamped=False),
        "nodes-after": lambda axes: _nodes(axes, stages[0], is_clamped=True),
    }
    return [
        draw_picture(
            folder / f"{population}-{name}.png",
            f"{population}: {name.replace('-', ' ')}",
            draw,
            projection="3d" if name.startswith("nodes") else None,
        )
        for name, draw in drawings.items()
    ]


def _mean(runs: Sequence[SplittingOutcome], name: str) -> float:
    return float(np.mean([getattr(run, name) for run in runs]))


def _bars(axes: Any, outcomes: Outcomes, name: str, label: str) -> None:  # noqa: ANN401 - matplotlib's axes
    axes.bar(list(outcomes), [_mean(runs, name) for runs in outcomes.values()])
    axes.tick_params(axis="x", rotation=30)
    axes.set_ylabel(label)


def _in_zone(axes: Any, outcomes: Outcomes) -> None:  # noqa: ANN401
    for scheme, runs in outcomes.items():
        place = 100 * _mean(runs, "in_zone"), _mean(runs, "average_prd")
        axes.plot(*place, "o")
        axes.annotate(scheme, place)
    axes.set(xlabel="crawlers in their own zone (%)", ylabel="average PRD (ms)")


def _distribution(axes: Any, outcomes: Outcomes) -> None:  # noqa: ANN401
    for scheme, runs in outcomes.items():
        values = np.sort(
            np.concatenate([run.prd_of_crawlers[np.isfinite(run.prd_of_crawlers)] for run in runs])
        )
        axes.plot(values, np.linspace(0, 100, len(values)), label=scheme)
    axes.set(xlabel="mean distance to its sites (ms)", ylabel="crawlers (%)")


def _tenths(axes: Any, outcomes: Outcomes) -> None:  # noqa: ANN401
    for scheme, runs in outcomes.items():
        groups = [np.array_split(run.prd_of_crawlers, TENTHS) for run in runs]
        together = [np.concatenate(parts) for parts in zip(*groups, strict=True)]
        known = [part[np.isfinite(part)] for part in together]
        heights = [part.mean() if part.size else np.nan for part in known]
        axes.plot(np.arange(1, TENTHS + 1), heights, marker=".", label=scheme)
    axes.set(xlabel="tenth of the crawlers by time of joining", ylabel="average PRD (ms)")


def _nodes(axes: Any, stage: SplittingStage, *, is_clamped: bool) -> None:  # noqa: ANN401
    points = np.concatenate([stage.crawlers, stage.sites])
    shown = stage.space.clamped(points) if is_clamped else points
    axes.scatter(*shown.T[:3], s=2)
