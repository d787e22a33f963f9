"""`ipmicra simulate`: the papers' experiments, with their published figures beside ours."""

from __future__ import annotations

import typer

from ipmicra.cli.simulate_partition import partition

simulate = typer.Typer(
    name="simulate",
    help="Run the papers' experiments, seeded, with their published figures beside ours.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
simulate.command()(partition)


@simulate.callback()
def group() -> None:
    """Run the papers' experiments, seeded, with their published figures beside ours."""
