"""Draws policies side by side: what their probes buy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ipmicra.lab.plots.picture import draw_picture


def draw_policies(rows: Sequence[dict[str, Any]], title: str, path: Path) -> None:
    """Draw probes per site against the share of optimal answers, a line for each policy."""

    def lines(axes: Any) -> None:  # noqa: ANN401 - matplotlib's axes
        for policy in dict.fromkeys(row["policy"] for row in rows):
            points = sorted(
                (row["probes_per_site"], 100 * row["optimal"]) for row in rows if row["policy"] == policy
            )
            axes.plot(*zip(*points, strict=True), marker="o", label=policy)
        axes.set(xlabel="probes per site", ylabel="sites with their nearest crawler, %", ylim=(0, 102))

    draw_picture(path, title, lines)
