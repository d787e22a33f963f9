"""Drawings as plain data: one description for the page, for SVG files and for PNG."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

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


Shape = Rect | Circle | Path | Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """Shapes of one look."""

    shapes: tuple[Shape, ...]
    style: Style
    crawler: int | None = None
    """The crawler that these stand for: the legend can pick it out."""
    kind: str = ""
    """Word by which the page finds the layer."""
    is_focusable: bool = False
    """Its shapes can be reached by keyboard."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A drawing."""

    name: str
    title: str
    alt: str
    """What somebody who cannot see it must be told."""
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
) -> Layer:
    """Make a layer."""
    return Layer(shapes=tuple(shapes), style=style, kind=kind, crawler=crawler, is_focusable=focusable)


def words(
    texts: Iterable[Text], role: str = "muted", kind: str = "label", *, crawler: int | None = None
) -> Layer:
    """Make a layer of texts."""
    return layer(texts, Style(fill=role), kind, crawler=crawler)
