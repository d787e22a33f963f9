"""Curves as pictures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ipmicra.errors import InputError

KINDS = (".png", ".svg", ".pdf")


def check_plot(path: Path) -> None:
    """See that a picture can be drawn, before an hour is spent on its figures."""
    if path.suffix.lower() not in KINDS:
        raise InputError(f"{path.name}: a picture ends in {', '.join(KINDS)}")
    try:
        import matplotlib  # noqa: F401 - only to see that it is there
    except ImportError as error:
        raise InputError("pictures need matplotlib: pip install 'ipmicra[plot]'") from error


def plot_policies(rows: Sequence[dict[str, Any]], title: str, path: Path) -> None:
    """Draw probes per site against the share of optimal answers, a line for each policy."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    for policy in dict.fromkeys(row["policy"] for row in rows):
        points = sorted(
            (row["probes_per_site"], 100 * row["optimal"]) for row in rows if row["policy"] == policy
        )
        axes.plot(*zip(*points, strict=True), marker="o", label=policy)
    axes.set(xlabel="probes per site", ylabel="optimal (%)", title=title, ylim=(0, 102))
    axes.grid(visible=True, alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=150)
