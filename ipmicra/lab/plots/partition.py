"""Draws figures 4 to 7 of paper 001."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ipmicra.lab.experiments.partition_figures import TITLES, FigurePoint
from ipmicra.lab.plots.picture import draw_picture

_MARKS = {"metis-geo": "o-", "hash": "s--", "centralised": "^:"}


def draw_figures(points: Sequence[FigurePoint], folder: Path) -> list[Path]:
    """Draw each figure that has points into a PNG file of its own; return the files."""
    found = {number: [point for point in points if point.figure == number] for number in TITLES}
    return [
        draw_picture(folder / f"figure-{number}.png", "", partial(_lines, points=own))
        for number, own in found.items()
        if own
    ]


def _lines(axes: Any, points: Sequence[FigurePoint]) -> None:  # noqa: ANN401 - matplotlib's axes
    for method in dict.fromkeys(point.method for point in points):
        own = [point for point in points if point.method == method]
        where = [point.parts if point.same_scope is None else point.same_scope for point in own]
        axes.plot(where, [point.value for point in own], _MARKS.get(method, ".-"), label=method, markersize=3)
    is_by_scope = points[0].same_scope is not None
    axes.set_xlabel("probability p of the same scope" if is_by_scope else "parts n")
    axes.set_ylabel(TITLES[points[0].figure])
    axes.set_ylim(bottom=0)
