"""Plot: share of sites within a round trip, ours beside the other ways."""

from __future__ import annotations

import math

import numpy as np

from ipmicra.app.report.columns import Columns, Curve
from ipmicra.app.report.config import ReportConfig
from ipmicra.app.report.plots.axes import LABEL, Frame, horizontal_axis, vertical_axis
from ipmicra.app.report.plots.scene import Layer, Path, Rect, Scene, Style, Text, layer, words
from ipmicra.model.quantities import percent

WIDTH, HEIGHT = 380.0, 306.0
FRAME = Frame(left=46, top=66, right=362, bottom=262)
DASHES: dict[str, tuple[float, ...]] = {"ours": (), "oracle": (2, 3), "hash": (8, 4), "random": (8, 3, 2, 3)}
MOST_TICKS = 9
BANDS = 48
"""Vertical bands that show the shares at their place when pointed at."""
KEY_WIDTH, KEY_LETTERS = 200, 22
"""Of a name above the plot."""


def draw_curves(columns: Columns, config: ReportConfig) -> Scene | None:
    """Draw the curves; None if no round trip is known."""
    curves = columns.curves
    if not curves:
        return None
    low, high = _decades(curves)

    def across(rtt_ms: float) -> float:
        share = (math.log10(max(rtt_ms, low)) - math.log10(low)) / (math.log10(high) - math.log10(low))
        return FRAME.left + min(share, 1.0) * FRAME.width

    def up(share: float) -> float:
        return FRAME.bottom - share * FRAME.height

    def line(curve: Curve) -> Path:
        limits = np.geomspace(low, high, config.curve_points)
        return Path(
            (tuple((across(x), up(y)) for x, y in zip(limits, curve.share_within(limits), strict=True)),)
        )

    drawn = [
        layer([line(curve)], Style(stroke=curve.role, stroke_width=2.6, dash=DASHES[curve.role]), "curve")
        for curve in reversed(curves)
    ]
    axes = [
        *vertical_axis(FRAME, [0, 0.25, 0.5, 0.75, 1], up, lambda share: percent(share, 0), "share of sites"),
        *horizontal_axis(
            FRAME, _ticks(low, high), across, lambda ms: f"{ms:g}", "round trip to the crawler, ms"
        ),
    ]
    return Scene(
        name="rtt",
        title="Round trips, ours beside other ways",
        alt=_alt(curves),
        width=WIDTH,
        height=HEIGHT,
        layers=(*axes, *drawn, *_key(curves), _bands(curves, low, high)),
    )


def _decades(curves: tuple[Curve, ...]) -> tuple[float, float]:
    """Choose the ends of the axis: powers of ten, or two and five times one, that hold the values."""
    steps = [factor * 10.0**power for power in range(-2, 5) for factor in (1, 2, 5)]
    # The smallest values are in ours or in the nearest, which come first.
    least = max(min(float(np.quantile(curve.rtt_ms, 0.005)) for curve in curves[:2]), steps[1])
    most = max(float(curve.rtt_ms.max()) for curve in curves)
    low = max(step for step in steps if step <= least)
    high = min((step for step in steps if step >= most), default=steps[-1])
    return low, high if high > low else low * 10


def _ticks(low: float, high: float) -> list[float]:
    steps = [factor * 10.0**power for power in range(-2, 5) for factor in (1, 2, 5)]
    inside = [step for step in steps if low <= step <= high * 1.001]
    return (
        inside
        if len(inside) <= MOST_TICKS
        else [step for step in inside if round(math.log10(step), 6).is_integer()]
    )


def _key(curves: tuple[Curve, ...]) -> list[Layer]:
    """Name the curves above the plot, each with a piece of its line and its mean."""
    layers: list[Layer] = []
    for i, curve in enumerate(curves):
        x, y = 4 + (i % 2) * KEY_WIDTH, 14 + (i // 2) * 18
        name = curve.name if len(curve.name) <= KEY_LETTERS else curve.name[: KEY_LETTERS - 1] + "…"
        stroke = Style(stroke=curve.role, stroke_width=2.6, dash=DASHES[curve.role])
        layers += [
            layer([Path((((x, y - 4), (x + 24, y - 4)),))], stroke),
            words([Text(x + 30, y, f"{name}: {curve.mean_text}", size=LABEL)], "ink"),
        ]
    return layers


def _bands(curves: tuple[Curve, ...], low: float, high: float) -> Layer:
    edges = np.geomspace(low, high, BANDS + 1)
    shares = [curve.share_within(edges[1:]) for curve in curves]
    width = FRAME.width / BANDS
    rects = [
        Rect(
            FRAME.left + i * width,
            FRAME.top,
            width,
            FRAME.height,
            f"within {edges[i + 1]:.3g} ms\n"
            + "\n".join(
                f"{curve.name}: {percent(share[i])}" for curve, share in zip(curves, shares, strict=True)
            ),
            f"rtt>={float(f'{edges[i + 1]:.3g}'):g}",
        )
        for i in range(BANDS)
    ]
    return layer(rects, Style(fill="ink", opacity=0.0), "band")


def _alt(curves: tuple[Curve, ...]) -> str:
    parts = [f"{curve.name}: mean {curve.mean_text}" for curve in curves]
    return "Share of sites by round trip to their crawler. " + "; ".join(parts) + "."
