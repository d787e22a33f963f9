"""Draws nearness against load: round trips and pages per hour over evenness."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ipmicra.lab.plots.picture import draw_picture


def draw_trade_curve(rows: Sequence[dict[str, Any]], title: str, path: Path) -> None:
    """Draw mean round trip and pages per hour for each evenness."""

    def lines(axes: Any) -> None:  # noqa: ANN401 - matplotlib's axes
        levels = [row["evenness"] for row in rows]
        trips = axes.plot(levels, [row["mean_rtt_ms"] for row in rows], "o-", color="C0")
        axes.set(xlabel="evenness: 0 nearest crawler, 1 equal load", ylabel="mean round trip (ms)")
        axes.set_ylim(bottom=0)
        other = axes.twinx()
        rates = other.plot(levels, [row["pages_per_hour"] for row in rows], "s--", color="C1")
        other.set(ylabel="pages per hour")
        other.set_ylim(bottom=0)
        other.grid(visible=False)
        axes.legend([*trips, *rates], ["mean round trip", "pages per hour"], loc="lower right")

    draw_picture(path, title, lines)
