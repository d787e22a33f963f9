"""Plot: how many sites took how many probes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ipmicra.app.report.columns import Columns
from ipmicra.app.report.config import ReportConfig
from ipmicra.app.report.plots.axes import LABEL, Frame, horizontal_axis, short, ticks, vertical_axis
from ipmicra.app.report.plots.scene import Path, Rect, Scene, Style, Text, layer, words
from ipmicra.model.quantities import percent, plural
from ipmicra.model.types import NOBODY

WIDTH, HEIGHT = 380.0, 306.0
FRAME = Frame(left=52, top=34, right=362, bottom=262)
FEWEST_BARS = 5


def draw_probes(columns: Columns, config: ReportConfig) -> Scene | None:
    """Draw the histogram; None if probes were not counted."""
    known = columns.probes[columns.probes != NOBODY]
    if not len(known):
        return None
    names, counts = count_probes(known, config.last_probes)
    values = ticks(float(counts.max()), 4, whole=True)
    slot = FRAME.width / len(counts)

    def up(count: float) -> float:
        return FRAME.bottom - count / values[-1] * FRAME.height

    def middle(i: float) -> float:
        return FRAME.left + (i + 0.5) * slot

    bars = [
        Rect(middle(i) - slot * 0.38, up(count), slot * 0.76, FRAME.bottom - up(count), tip, _find(names[i]))
        for i, (count, tip) in enumerate(zip(counts, _tips(names, counts), strict=True))
        if count
    ]
    mean = float(known.mean())
    at = middle(min(mean, len(counts) - 1.0))
    return Scene(
        name="probes",
        title="Probes per site",
        alt=f"Probes per site: mean {mean:.2f} over {plural(len(known), 'site')}. "
        + "; ".join(tip for count, tip in zip(counts, _tips(names, counts), strict=True) if count),
        width=WIDTH,
        height=HEIGHT,
        layers=(
            *vertical_axis(FRAME, values, up, short, "sites"),
            layer(bars, Style(fill="accent"), "bar", focusable=True),
            *horizontal_axis(
                FRAME,
                [float(i) for i in range(len(counts))],
                middle,
                lambda i: names[int(i)],
                "probes spent on a site",
            ),
            layer(
                [Path((((at, FRAME.top), (at, FRAME.bottom)),))],
                Style(stroke="ink", stroke_width=1.4, dash=(4, 3)),
            ),
            words([Text(FRAME.right, FRAME.top - 12, f"mean {mean:.2f}", size=LABEL, anchor="end")], "ink"),
        ),
    )


def count_probes(known: NDArray[np.int64], last: int) -> tuple[list[str], NDArray[np.int64]]:
    """Count sites by probes, those with more than `last` together; return the bars' names and the counts."""
    last = min(last, max(int(known.max()), FEWEST_BARS - 1))
    counts = np.bincount(np.minimum(known, last + 1), minlength=last + 2)
    names = [*(str(i) for i in range(last + 1)), f">{last}"]
    return (names, counts) if counts[-1] else (names[:-1], counts[:-1])


def _find(name: str) -> str:
    """Write the search for the sites of a bar: `probes=3`, or `probes>12` for the last one."""
    return f"probes{name.replace(' ', '')}" if name.startswith(">") else f"probes={name}"


def _tips(names: list[str], counts: NDArray[np.int64]) -> list[str]:
    total = int(counts.sum())
    return [
        f"{name} probe{'' if name == '1' else 's'}: {plural(sites, 'site')} ({percent(sites / total)})"
        for name, sites in zip(names, counts.tolist(), strict=True)
    ]
