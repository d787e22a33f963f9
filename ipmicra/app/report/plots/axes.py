"""Axes: the position of values, and the labels beside them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from ipmicra.app.report.plots.scene import Layer, Path, Style, Text, layer, words

LABEL = 11.5
SPELT_OUT = 1e4
"""Numbers below are written with all their digits."""
GRID = Style(stroke="line")


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """The rectangle of a plot's marks, in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """From left to right."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """From top to bottom."""
        return self.bottom - self.top


def nice_step(span: float, steps: int = 5) -> float:
    """Choose a round distance between ticks: 1, 2 or 5 times a power of ten."""
    if span <= 0:
        return 1.0
    rough = span / steps
    power = 10.0 ** math.floor(math.log10(rough))
    return next((factor * power for factor in (1, 2, 5) if factor * power >= rough * 0.999), 10 * power)


def ticks(top: float, steps: int = 5, *, whole: bool = False) -> list[float]:
    """Return round values from 0 to at least the top."""
    step = nice_step(top, steps)
    step = max(1.0, step) if whole else step
    return [i * step for i in range(math.ceil(top / step - 1e-9) + 1)] if top > 0 else [0.0, step]


def short(value: float) -> str:
    """Write a number in few characters: 1.2 k, 3 M."""
    for size, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if abs(value) >= max(size, SPELT_OUT):
            scaled = float(f"{value / size:.3g}")
            return f"{scaled:,.0f}{unit}" if scaled >= 100 else f"{scaled:g}{unit}"  # noqa: PLR2004
    return f"{value:,.0f}" if value == int(value) else f"{value:,.3g}"


def vertical_axis(
    frame: Frame,
    values: list[float],
    place: Callable[[float], float],
    text: Callable[[float], str],
    title: str,
) -> list[Layer]:
    """Draw lines across with their values at the left, and the title above."""
    lines = Path(tuple(((frame.left, place(value)), (frame.right, place(value))) for value in values))
    labels = [
        Text(frame.left - 7, place(value) + 4, text(value), size=LABEL, anchor="end") for value in values
    ]
    return [layer([lines], GRID), words([*labels, Text(2, frame.top - 12, title, size=LABEL)])]


def horizontal_axis(
    frame: Frame,
    values: list[float],
    place: Callable[[float], float],
    text: Callable[[float], str],
    title: str,
) -> list[Layer]:
    """Write values below, and the title under them."""
    below = frame.bottom + 16
    labels = [Text(place(value), below, text(value), size=LABEL, anchor="middle") for value in values]
    named = Text((frame.left + frame.right) / 2, below + 18, title, size=LABEL, anchor="middle")
    marks = Path(tuple(((place(value), frame.bottom), (place(value), frame.bottom + 4)) for value in values))
    return [layer([marks], GRID), words([*labels, named])]
