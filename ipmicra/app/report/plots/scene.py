"""Drawings as plain data: one description for the page, for SVG files and for PNG.

A plot is worked out once, as a `Scene` of layers of shapes in pixels from the upper left corner. Three
writers draw it: `svg.to_inline` for the page, `svg.to_svg` for files, `raster.to_png` for pictures.

- A layer has one look, and names colours by role (`ink`, `c3`), never by value: the page chooses light or
  dark by its style sheet, a file takes the light ones. Thousands of shapes share the attributes of their
  group, which keeps the page small.
- A layer may belong to a crawler: the button of that crawler in the legend hides all other such layers. A
  shape must therefore never be in a layer with shapes of another crawler.
- Later layers are drawn over earlier ones.

Why not matplotlib for all? Its SVG writes every glyph as a path, has no tips and no classes, so that a page
could neither be searched nor follow the surroundings' colours; and it would be needed for every report.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from ipmicra.app.report.plots.palette import Form

Anchor = Literal["start", "middle", "end"]
Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How a shape looks; colours are roles of `palette.py`."""

    fill: str | None = None
    stroke: str | None = None
    stroke_width: float = 1.0
    opacity: float = 1.0
    dash: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Rect:
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float
    tip: str = ""
    """What is shown when it is pointed at."""
    find: str = ""
    """Search of the table of sites that a click leads to."""
    span: tuple[int, int, int] | None = None
    """In nested boxes: the first site, the number of sites and the depth, so that the page can zoom in."""


@dataclass(frozen=True, slots=True)
class Circle:
    """A circle."""

    x: float
    y: float
    radius: float
    tip: str = ""


@dataclass(frozen=True, slots=True)
class Path:
    """Lines through points, one or several at a time."""

    lines: tuple[Points, ...]
    tip: str = ""
    is_closed: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """A small closed shape round a point, about as large as a circle of that radius."""

    x: float
    y: float
    radius: float
    form: Form
    tip: str = ""

    @property
    def outline(self) -> Path:
        """The shape as lines; a circle has many corners."""
        lines = tuple(
            (self.x + self.radius * dx, self.y + self.radius * dy) for dx, dy in _CORNERS[self.form]
        )
        return Path((lines,), self.tip, is_closed=True)


_CORNERS: dict[Form, Points] = {
    "circle": tuple((math.cos(math.pi * i / 12), math.sin(math.pi * i / 12)) for i in range(24)),
    "square": ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    "triangle": ((0, -1.25), (1.15, 0.85), (-1.15, 0.85)),
    "diamond": ((0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)),
}


@dataclass(frozen=True, slots=True)
class Text:
    """A line of text; `y` is its baseline."""

    x: float
    y: float
    text: str
    size: float = 12.0
    anchor: Anchor = "start"
    is_bold: bool = False
    is_upright: bool = True
    """Otherwise turned a quarter to the left."""


Shape = Rect | Circle | Path | Mark | Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """Shapes of one look."""

    shapes: tuple[Shape, ...]
    style: Style
    crawler: int | None = None
    """The crawler that these represent: the legend can show it alone."""
    kind: str = ""
    """Word by which the page finds the layer."""
    is_focusable: bool = False
    """Its shapes can be reached by keyboard."""
    is_hidden: bool = False
    """Only the page has it, and shows it when it is asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A drawing."""

    name: str
    title: str
    alt: str
    """Text for readers who cannot see it."""
    width: float
    height: float
    layers: tuple[Layer, ...]


def layer(
    shapes: Iterable[Shape],
    style: Style,
    kind: str = "",
    *,
    crawler: int | None = None,
    focusable: bool = False,
    hidden: bool = False,
) -> Layer:
    """Make a layer."""
    return Layer(
        shapes=tuple(shapes),
        style=style,
        kind=kind,
        crawler=crawler,
        is_focusable=focusable,
        is_hidden=hidden,
    )


def words(
    texts: Iterable[Text], role: str = "muted", kind: str = "label", *, crawler: int | None = None
) -> Layer:
    """Make a layer of texts."""
    return layer(texts, Style(fill=role), kind, crawler=crawler)
