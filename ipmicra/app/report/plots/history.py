"""Plot: delegations, probes, round trips and moves over time, one strip each on the same axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from ipmicra.app.report.columns import Columns
from ipmicra.app.report.config import ReportConfig
from ipmicra.app.report.data import HistoryStep
from ipmicra.app.report.plots.axes import LABEL, Frame, short, ticks, vertical_axis
from ipmicra.app.report.plots.scene import Layer, Rect, Scene, Style, Text, layer, words

WIDTH, STRIP, BELOW = 800.0, 96.0, 26.0
LEFT, RIGHT = 52.0, 788.0
TITLE = 30.0
"""Room above each strip for its name."""
MOST_LABELS = 7
DAY_S = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class _Strip:
    name: str
    values: list[float | None]
    role: str


def draw_history(columns: Columns, config: ReportConfig) -> Scene | None:  # noqa: ARG001 - as the others
    """Draw the strips; None if everything happened in one step."""
    steps = columns.data.history
    if len(steps) < 2:  # noqa: PLR2004 - one bar is no history
        return None
    strips = [
        _Strip("new delegations", [float(one.delegations) for one in steps], "accent"),
        _Strip("probes", [float(one.probes) for one in steps], "accent"),
        _Strip("mean round trip of the probes, ms", [one.mean_rtt_ms for one in steps], "hash"),
        _Strip("subnets that moved to another crawler", [float(one.moves) for one in steps], "bad"),
    ]
    shown = [strip for strip in strips if any(strip.values)]
    tips = [_tip(one) for one in steps]
    layers = [one for i, strip in enumerate(shown) for one in _drawn(strip, i * STRIP, tips)]
    bottom = len(shown) * STRIP
    return Scene(
        name="history",
        title="What happened over time",
        alt=f"Over time, in {len(steps)} steps from {_when(steps[0])} to {_when(steps[-1])}: "
        + ", ".join(strip.name for strip in shown),
        width=WIDTH,
        height=bottom + BELOW,
        layers=(*layers, words(_labels(steps, bottom + 12))),
    )


def _drawn(strip: _Strip, top: float, tips: Sequence[str]) -> list[Layer]:
    frame = Frame(left=LEFT, top=top + TITLE, right=RIGHT, bottom=top + STRIP)
    values = ticks(max(one for one in strip.values if one is not None), 2)
    slot = frame.width / len(strip.values)

    def up(value: float) -> float:
        return frame.bottom - value / values[-1] * frame.height

    bars = [
        Rect(frame.left + i * slot, up(value), slot * 0.84, frame.bottom - up(value), tips[i])
        for i, value in enumerate(strip.values)
        if value
    ]
    return [
        *vertical_axis(frame, values, up, short, strip.name),
        layer(bars, Style(fill=strip.role), "bar", focusable=True),
    ]


def _labels(steps: Sequence[HistoryStep], y: float) -> list[Text]:
    slot = (RIGHT - LEFT) / len(steps)
    every = -(-len(steps) // MOST_LABELS)
    return [
        Text(LEFT + i * slot, y, _when(steps[i]), size=LABEL)
        for i in range(0, len(steps), every)
        if LEFT + i * slot < RIGHT - 80
    ]


def _when(step: HistoryStep) -> str:
    form = "%Y-%m-%d" if step.length_s >= DAY_S else "%m-%d %H:%M"
    return datetime.fromtimestamp(step.start_s, UTC).strftime(form)


def _tip(step: HistoryStep) -> str:
    trip = [] if step.mean_rtt_ms is None else [f"mean round trip {step.mean_rtt_ms:.1f} ms"]
    counts = [f"{step.delegations:,} new delegations", f"{step.probes:,} probes"]
    return "\n".join([f"from {_when(step)} UTC", *counts, *trip, f"{step.moves:,} moves"])
