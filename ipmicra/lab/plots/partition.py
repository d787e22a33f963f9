"""Draws figures 4 to 7 of paper 001."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ipmicra.errors import InputError
from ipmicra.lab.experiments.partition_figures import TITLES, FigurePoint

_MARKS = {"metis-geo": "o-", "hash": "s--", "centralised": "^:"}


def draw_figures(points: Sequence[FigurePoint], folder: Path) -> list[Path]:
    """Draw each figure that has points into a PNG file of its own; give the files."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise InputError("plots need matplotlib: pip install 'ipmicra[plot]'") from error
    folder.mkdir(parents=True, exist_ok=True)
    files: list[Path] = []
    for number, title in TITLES.items():
        some = [point for point in points if point.figure == number]
        if not some:
            continue
        picture = Figure(figsize=(6.4, 4.2), layout="constrained")
        FigureCanvasAgg(picture)
        axes = picture.add_subplot()
        for method in dict.fromkeys(point.method for point in some):
            own = [point for point in some if point.method == method]
            where = [point.parts if point.same_scope is None else point.same_scope for point in own]
            style = _MARKS.get(method, ".-")
            axes.plot(where, [point.value for point in own], style, label=method, markersize=3)
        axes.set_xlabel("probability p of the same scope" if number == 7 else "parts n")  # noqa: PLR2004
        axes.set_ylabel(title)
        axes.set_ylim(bottom=0)
        axes.legend()
        files.append(folder / f"figure-{number}.png")
        picture.savefig(files[-1], dpi=120)
    return files
