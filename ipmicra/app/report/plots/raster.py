"""Scenes as PNG, drawn by matplotlib from the same shapes as the SVG."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from ipmicra.app.report.plots.palette import colours
from ipmicra.app.report.plots.scene import Circle, Layer, Mark, Path, Rect, Scene, Shape, Style, Text
from ipmicra.app.report.plots.svg import plain
from ipmicra.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INCH = 100.0
"""Pixels of a scene to the inch."""
DPI = 200
"""Dots to the inch of the picture: two for each pixel of the scene."""
_POINTS = 72 / INCH


def to_png(scene: Scene) -> bytes:
    """Draw a scene in light colours, twice as fine as its pixels."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("PNG", "matplotlib") from error
    figure = Figure(figsize=(scene.width / INCH, scene.height / INCH), dpi=DPI, facecolor=colours()["card"])
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, scene.width)
    axes.set_ylim(scene.height, 0)
    axes.axis("off")
    for order, layer in enumerate(layer for layer in scene.layers if not layer.is_hidden):
        _draw(axes, layer, order)
    picture = io.BytesIO()
    figure.savefig(picture, format="png", metadata={"Software": None, "Title": plain(scene.title)})
    return picture.getvalue()


def _draw(axes: Axes, layer: Layer, order: int) -> None:
    from matplotlib.collections import PatchCollection

    texts = [shape for shape in layer.shapes if isinstance(shape, Text)]
    for text in texts:
        _write(axes, text, layer.style, order)
    if len(texts) < len(layer.shapes) and layer.style.opacity:
        patches = [_patch(shape) for shape in layer.shapes if not isinstance(shape, Text)]
        collection = PatchCollection(patches, **_look(layer.style), zorder=order)
        if layer.style.dash:
            width = max(layer.style.stroke_width, 0.1)
            collection.set_linestyle((0, tuple(length / width for length in layer.style.dash)))
        axes.add_collection(collection)


def _look(style: Style) -> dict[str, Any]:
    known = colours()
    return {
        "facecolor": known[style.fill] if style.fill else "none",
        "edgecolor": known[style.stroke] if style.stroke else "none",
        "linewidth": style.stroke_width * _POINTS if style.stroke else 0.0,
        "alpha": style.opacity,
        "capstyle": "butt",
    }


def _patch(shape: Shape) -> Any:  # noqa: ANN401 - a patch of matplotlib
    from matplotlib import patches
    from matplotlib.path import Path as Outline

    if isinstance(shape, Rect):
        return patches.Rectangle((shape.x, shape.y), shape.width, shape.height)
    if isinstance(shape, Circle):
        return patches.Circle((shape.x, shape.y), shape.radius)
    if isinstance(shape, Mark):
        shape = shape.outline
    if not isinstance(shape, Path):
        raise TypeError(f"{type(shape).__name__} has no outline")
    points: list[tuple[float, float]] = []
    codes: list[int] = []
    for line in shape.lines:
        points += line
        codes += [int(Outline.MOVETO), *([int(Outline.LINETO)] * (len(line) - 1))]
        if shape.is_closed:
            points.append(line[0])
            codes.append(int(Outline.CLOSEPOLY))
    return patches.PathPatch(Outline(points, codes))


def _write(axes: Axes, text: Text, style: Style, order: int) -> None:
    """Write a text; a halo is drawn first where the style has a stroke."""
    from matplotlib.patheffects import Normal, Stroke

    known = colours()
    sides = {"start": "left", "middle": "center", "end": "right"}
    written = axes.text(
        text.x,
        text.y,
        # A dollar sign would begin a formula.
        plain(text.text).replace("$", r"\$"),
        fontsize=text.size * _POINTS,
        horizontalalignment=sides[text.anchor],
        verticalalignment="baseline",
        rotation=0 if text.is_upright else 90,
        rotation_mode="anchor",
        color=known[style.fill or "ink"],
        fontweight="bold" if text.is_bold else "normal",
        zorder=order,
        clip_on=True,
    )
    if style.stroke:
        halo = Stroke(linewidth=style.stroke_width * _POINTS, foreground=known[style.stroke])
        written.set_path_effects([halo, Normal()])
