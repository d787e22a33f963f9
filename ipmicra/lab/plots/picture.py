"""Pictures, drawn with matplotlib: what every plot of the laboratory shares."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ipmicra.app.report.plots.palette import CRAWLERS, colours
from ipmicra.edge.hierarchy_file import write_atomically
from ipmicra.errors import InputError, MissingExtraError
from ipmicra.model.types import Floats

KINDS = (".png", ".svg", ".pdf")
Draw = Callable[[Any], None]
"""Draws on matplotlib's axes."""


def check_picture(path: Path) -> None:
    """Check that a picture can be drawn, before an hour is spent on its figures."""
    if path.suffix.lower() not in KINDS:
        raise InputError(f"{path.name}: a picture ends in {', '.join(KINDS)}")
    try:
        import matplotlib  # noqa: F401 - only to see that it is installed
    except ImportError as error:
        raise MissingExtraError("a picture", "matplotlib") from error


def draw_picture(path: Path, title: str, draw: Draw, *, projection: str | None = None) -> Path:
    """Draw one picture, in the format that its name ends in; return its path."""
    check_picture(path)
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(report_look()):
        figure = Figure(figsize=(7, 4.5), layout="constrained")
        axes = figure.add_subplot(projection=projection)
        draw(axes)
        axes.set_title(title, loc="left")
        if axes.get_legend_handles_labels()[1]:
            axes.legend()
        image = io.BytesIO()
        figure.savefig(image, format=path.suffix.lower()[1:], dpi=120)
    write_atomically(path, [image.getvalue()])
    return path


def report_look() -> Any:  # noqa: ANN401 - matplotlib names every key in the type
    """Return matplotlib's settings that give pictures the colours, grid and letters of a report."""
    from cycler import cycler

    known = colours()
    return {
        "axes.prop_cycle": cycler(color=CRAWLERS),
        "figure.facecolor": known["card"],
        "axes.facecolor": known["card"],
        "axes.edgecolor": known["line"],
        "axes.labelcolor": known["muted"],
        "axes.titlecolor": known["ink"],
        "axes.titlesize": 11.5,
        "axes.titleweight": "bold",
        "axes.labelsize": 9.5,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "axes.grid": True,
        "grid.color": known["line"],
        "grid.alpha": 1.0,
        "text.color": known["ink"],
        "xtick.color": known["line"],
        "ytick.color": known["line"],
        "xtick.labelcolor": known["muted"],
        "ytick.labelcolor": known["muted"],
        "xtick.labelsize": 9.0,
        "ytick.labelsize": 9.0,
        "lines.linewidth": 2.0,
        "legend.frameon": False,
        "legend.fontsize": 9.0,
    }


Curve = tuple[Sequence[float] | Floats, Sequence[float] | Floats]
"""Values of both axes."""


def draw_curves(path: Path, title: str, curves: Mapping[str, Curve], labels: tuple[str, str]) -> Path:
    """Draw curves by name; `labels` are those of the axes."""

    def draw(axes: Any) -> None:  # noqa: ANN401 - matplotlib's axes
        for name, (across, up) in curves.items():
            axes.plot(across, up, label=name)
        axes.set_xlabel(labels[0])
        axes.set_ylabel(labels[1])

    return draw_picture(path, title, draw)


def shares_below(values: Floats) -> Curve:
    """Return the curve of a cumulative distribution."""
    ordered = np.sort(values)
    return ordered, np.arange(1, len(ordered) + 1) / max(len(ordered), 1)
