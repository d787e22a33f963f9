"""`ipmicra simulate partition`: figures 4 to 7 of paper 001, and the two crawlers of paper 004."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from ipmicra.cli.completion import RELOCATIONS, one_of
from ipmicra.cli.output import Format, FormatOption, JsonOption, chosen, print_records, print_table, say
from ipmicra.cli.partition import figure_text


class Experiment(StrEnum):
    """What `--experiment` takes."""

    FIGURES = "figures"
    STABILITY = "stability"
    EXCHANGE = "exchange"


def partition(
    experiment: Annotated[
        Experiment,
        typer.Option(
            help="figures: times by parts; stability: sites moved; exchange: two crawlers that send links."
        ),
    ] = Experiment.FIGURES,
    hosts: Annotated[int, typer.Option(min=50, help="Hosts of the invented national web.")] = 20_000,
    seed: Annotated[int, typer.Option(help="Seed of all that is invented.")] = 1,
    locality: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Share of links that stay in their place.")
    ] = 0.5,
    sites: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Your own sites instead, as CSV.")
    ] = None,
    world: Annotated[Path | None, typer.Option(metavar="DIR", help="The sites of a world instead.")] = None,
    parts: Annotated[
        str | None,
        typer.Option(metavar="N,N-N", help="Numbers of parts [default: 1-50; stability: 5,10,20,50]."),
    ] = None,
    fixed_parts: Annotated[int, typer.Option(min=1, help="Parts of figure 7.")] = 20,
    relocation: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            autocompletion=one_of(RELOCATIONS),
            help="Whose time relocation counts: received or sent.",
        ),
    ] = "received",
    pages: Annotated[int, typer.Option(min=100, help="Exchange: pages of the invented web.")] = 20_000,
    links_per_page: Annotated[float, typer.Option(min=1.0, help="Exchange: links on a page.")] = 20.0,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="DIR", help="Draw figures 4 to 7 into a folder.")
    ] = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare geographic parts, a hash of hosts and one crawler."""
    from ipmicra.lab.experiments.partition_figures import FiguresConfig
    from ipmicra.lab.simulate import partition as app
    from ipmicra.partition.config import Relocation

    print_format = chosen(output_format, as_json)
    if relocation not in list(Relocation):
        raise typer.BadParameter(f"--relocation is one of {', '.join(Relocation)}")
    if plot and experiment is not Experiment.FIGURES:
        raise typer.BadParameter("--plot goes with --experiment figures")
    choice = app.WebChoice(
        hosts=hosts, seed=seed, locality=locality, sites=sites, world=world, relocation=Relocation(relocation)
    )
    if experiment is Experiment.EXCHANGE:
        rows = app.exchange_rows(seed, pages, links_per_page)
    elif experiment is Experiment.STABILITY:
        rows = app.stability_rows(choice, app.read_counts(parts) if parts else app.STABLE_PARTS)
    else:
        counts = app.read_counts(parts or "1-50")
        rows, files = app.figure_rows(choice, FiguresConfig(parts=counts, fixed_parts=fixed_parts), plot)
        for file in files:
            say(f"drawn: {file}")
    _print(rows, print_format)


def _print(rows: list[dict[str, Any]], print_format: Format) -> None:
    if print_format is not Format.TABLE:
        print_records(rows, print_format)
        return
    cells = [
        [figure_text(value) if isinstance(value, float | None) else value for value in row.values()]
        for row in rows
    ]
    print_table("", list(rows[0]), cells)
