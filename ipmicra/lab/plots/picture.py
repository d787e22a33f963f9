"""Pictures, drawn with matplotlib: what every plot of the laboratory shares."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ipmicra.edge.hierarchy_file import write_atomically
from ipmicra.errors import InputError

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
        raise InputError("pictures need matplotlib: pip install 'ipmicra[plot]'") from error


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
