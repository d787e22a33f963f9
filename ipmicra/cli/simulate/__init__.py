"""`ipmicra simulate`: the papers' experiments, with their published figures beside ours."""

from __future__ import annotations

import typer

from ipmicra.cli.simulate.churn import churn
from ipmicra.cli.simulate.coordinates import coordinates
from ipmicra.cli.simulate.crawl import crawl
from ipmicra.cli.simulate.delegation import delegation
from ipmicra.cli.simulate.partition import partition
from ipmicra.cli.simulate.pieces import pieces
from ipmicra.cli.simulate.splitting import splitting
from ipmicra.cli.simulate.variation import variation

simulate = typer.Typer(
    name="simulate",
    help="Run the papers' experiments, with their figures beside ours.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
for _command in (delegation, partition, churn, splitting, coordinates, pieces, variation, crawl):
    simulate.command()(_command)
