"""Plots of the churn experiment, drawn with matplotlib; each answers to a figure of Xu et al. 2010."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ipmicra.lab.churn.config import ChurnConfig
from ipmicra.lab.churn.counts import Snapshot
from ipmicra.lab.churn.figures import SchemeRun
from ipmicra.lab.plots.picture import Draw, draw_picture

Runs = Mapping[tuple[int, str], list[SchemeRun]]
Lines = Mapping[str, Sequence[SchemeRun]]


def draw_churn(folder: Path, world: str, config: ChurnConfig, runs: Runs) -> list[Path]:
    """Draw figures 15 to 22 as PNG (22 where several numbers of crawlers were run); return the files."""
    most = max((crawlers for crawlers, _ in runs), default=0)
    lines = {scheme: own for (crawlers, scheme), own in runs.items() if crawlers == most}
    drawings: dict[str, Draw] = {
        "fig15-throughput": lambda axes: _throughput(axes, lines, config),
        "fig16-half-rtt": lambda axes: _course(axes, lines, "half_rtt_ms", "RTT/2 of executing tasks (ms)"),
        "fig17a-executing-tasks": lambda axes: _course(axes, lines, "executing_tasks", "executing tasks"),
        "fig17b-executing-pages": lambda axes: _course(axes, lines, "executing_pages", "executing pages"),
        "fig18a-queued-tasks": lambda axes: _course(axes, lines, "queued_tasks", "queued tasks"),
        "fig18b-queued-pages": lambda axes: _course(axes, lines, "queued_pages", "queued pages"),
        "fig19a-load-variation": lambda axes: _course(axes, lines, "variation", "variation of tasks"),
        "fig19b-executing-variation": lambda axes: _course(
            axes, lines, "executing_variation", "variation of executing tasks"
        ),
        "fig20a-migrated-tasks": lambda axes: _course(axes, lines, "migrated_tasks", "migrated tasks"),
        "fig20b-migrated-pages": lambda axes: _course(axes, lines, "migrated_pages", "migrated pages"),
        "fig21-recrawls": lambda axes: _recrawls(axes, lines),
    }
    if len({crawlers for crawlers, _ in runs}) > 1:
        drawings["fig22a-scalability"] = lambda axes: _scales(axes, runs, is_each=False)
        drawings["fig22b-scalability-each"] = lambda axes: _scales(axes, runs, is_each=True)
    return [
        draw_picture(folder / f"{world}-{name}.png", f"{world}: {name.replace('-', ' ')}", draw)
        for name, draw in drawings.items()
    ]


def _over_seeds(
    runs: Sequence[SchemeRun], value: Callable[[Snapshot], float]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the steps of the snapshots and the mean over seeds of a value at each."""
    steps = np.array([snapshot.step for snapshot in runs[0].snapshots])
    return steps, np.mean([[value(snapshot) for snapshot in run.snapshots] for run in runs], axis=0)


def _course(axes: Any, lines: Lines, name: str, label: str) -> None:  # noqa: ANN401 - matplotlib's axes
    for scheme, runs in lines.items():
        axes.plot(
            *_over_seeds(runs, lambda snapshot: float(getattr(snapshot, name))), label=scheme, linewidth=0.8
        )
    axes.set(xlabel="step", ylabel=label)


def _throughput(axes: Any, lines: Lines, config: ChurnConfig) -> None:  # noqa: ANN401
    """Draw the goodput between snapshots one interval apart; less if pages are lost meanwhile."""
    width = max(1, config.recrawl_steps // config.sampled_steps)
    for scheme, runs in lines.items():
        steps, pages = _over_seeds(runs, lambda snapshot: snapshot.good_pages)
        rate = (pages[width:] - pages[:-width]) / np.maximum(steps[width:] - steps[:-width], 1)
        axes.plot(steps[width:], [config.mbps(one * config.steps) for one in rate], label=scheme)
    axes.set(xlabel="step", ylabel="goodput over one interval (Mb/s)")


def _recrawls(axes: Any, lines: Lines) -> None:  # noqa: ANN401
    for scheme, runs in lines.items():
        crawls = np.sort(np.concatenate([run.site_crawls for run in runs]))
        axes.step(crawls, np.arange(1, len(crawls) + 1) / len(crawls), where="post", label=scheme)
    axes.set(xlabel="times crawled", ylabel="part of the sites crawled so often at most")


def _scales(axes: Any, runs: Runs, *, is_each: bool) -> None:  # noqa: ANN401
    counts = sorted({crawlers for crawlers, _ in runs})
    for scheme in dict.fromkeys(scheme for _, scheme in runs):
        good = [np.mean([run.figures.goodput_mbps for run in runs[count, scheme]]) for count in counts]
        axes.plot(counts, np.array(good) / (np.array(counts) if is_each else 1), marker=".", label=scheme)
    axes.set(xlabel="crawlers", ylabel="goodput of a crawler (Mb/s)" if is_each else "goodput (Mb/s)")
