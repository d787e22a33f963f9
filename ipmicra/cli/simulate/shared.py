"""What the experiments share."""

from __future__ import annotations

from typing import Annotated

import typer

from ipmicra.model.quantities import percent

SeedsOption = Annotated[int, typer.Option("--seeds", min=1, help="Number of random seeds to average over.")]
WHOLE = 1000
"""From here on figures are written without a fraction."""


def figure(value: object) -> object:
    """Round a figure for a table."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.0f}" if value >= WHOLE else f"{value:.3g}"
    if isinstance(value, dict):
        return ", ".join(f"{name} {percent(share, 0)}" for name, share in value.items())
    return value


def share_or_figure(value: object) -> object:
    """Round a figure for a table in which fractions are shares."""
    return percent(value) if isinstance(value, float) and value <= 1 else figure(value)
