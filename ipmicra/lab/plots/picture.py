"""Pictures, drawn with matplotlib: what every plot of the laboratory shares."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

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
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot(projection=projection)
    draw(axes)
    axes.set_title(title)
    if axes.get_legend_handles_labels()[1]:
        axes.legend()
    image = io.BytesIO()
    figure.savefig(image, format=path.suffix.lower()[1:], dpi=120)
    write_atomically(path, [image.getvalue()])
    return path


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
