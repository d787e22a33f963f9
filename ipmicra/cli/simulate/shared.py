"""What the experiments share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Annotated

import typer

from ipmicra.cli.output import console
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


def print_claims(title: str, claims: Sequence[Mapping[str, object]]) -> None:
    """Print claims of a paper, each with what was measured, as text: sentences do not fit into columns."""
    width = console().width
    typer.echo(title)
    for one in claims:
        verdict = "reproduced" if one["is_reproduced"] else "not reproduced"
        facts = [f"{name} {figure(one[name])}" for name in ("published", "measured", "note") if one.get(name)]
        text = f"{verdict}: {one['claim']} ({'; '.join(facts)})"
        typer.echo("\n".join(wrap(text, width, subsequent_indent="  ", break_long_words=False)))


def share_or_figure(value: object) -> object:
    """Round a figure for a table in which fractions are shares."""
    return percent(value) if isinstance(value, float) and value <= 1 else figure(value)
