"""`ipmicra simulate partition`: figures 4 to 7 of paper 001, and the two crawlers of paper 004."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ipmicra.cli.completion import RELOCATIONS, one_of
from ipmicra.cli.options import Format, FormatOption, JsonOption, chosen
from ipmicra.cli.output import Record, print_records, print_table, say
from ipmicra.cli.partition import figure_text


class Experiment(StrEnum):
    """Values of `--experiment`."""

    FIGURES = "figures"
    STABILITY = "stability"
    EXCHANGE = "exchange"


PartsOption = Annotated[
    str | None,
    typer.Option(metavar="N,N-N", help="Numbers of parts [default: 1-50; stability: 5,10,20,50]."),
]
RelocationOption = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        autocompletion=one_of(RELOCATIONS),
        help="What relocation counts: received or sent.",
    ),
]


def partition(
    experiment: Annotated[
        Experiment,
        typer.Option(
            help="figures: times by parts; stability: sites moved; exchange: two crawlers that send links."
        ),
    ] = Experiment.FIGURES,
    hosts: Annotated[int, typer.Option(min=50, help="Hosts of the synthetic national web.")] = 20_000,
    seed: Annotated[int, typer.Option(help="Random seed of the synthetic web.")] = 1,
    locality: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Share of links that stay in one place.")
    ] = 0.5,
    sites: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Use your own sites instead: a CSV.")
    ] = None,
    world: Annotated[Path | None, typer.Option(metavar="DIR", help="Use sites of a world instead.")] = None,
    parts: PartsOption = None,
    fixed_parts: Annotated[int, typer.Option(min=1, help="Parts of figure 7.")] = 20,
    relocation: RelocationOption = "received",
    pages: Annotated[int, typer.Option(min=100, help="For exchange: pages of the synthetic web.")] = 20_000,
    links_per_page: Annotated[float, typer.Option(min=1.0, help="For exchange: links per page.")] = 20.0,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="DIR", help="Draw figures 4 to 7 into this folder.")
    ] = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare geographic parts, a hash of hosts, and one crawler."""
    from ipmicra.lab.experiments.partition_figures import FiguresConfig
    from ipmicra.lab.simulate import partition as lab

    print_format = chosen(output_format, as_json)
    if relocation not in list(lab.Relocation):
        raise typer.BadParameter(f"--relocation is one of {', '.join(lab.Relocation)}")
    if plot and experiment is not Experiment.FIGURES:
        raise typer.BadParameter("--plot goes with --experiment figures")
    choice = lab.WebChoice(
        hosts=hosts,
        seed=seed,
        locality=locality,
        sites=sites,
        world=world,
        relocation=lab.Relocation(relocation),
    )
    if experiment is Experiment.EXCHANGE:
        rows = lab.exchange_rows(seed, pages, links_per_page)
    elif experiment is Experiment.STABILITY:
        rows = lab.stability_rows(choice, lab.read_counts(parts) if parts else lab.STABLE_PARTS)
    else:
        counts = lab.read_counts(parts or "1-50")
        rows, files = lab.figure_rows(choice, FiguresConfig(parts=counts, fixed_parts=fixed_parts), plot)
        for file in files:
            say(f"drawn: {file}")
    _print(rows, print_format)


def _print(rows: list[Record], print_format: Format) -> None:
    if print_format is not Format.TABLE:
        print_records(rows, print_format)
        return
    cells = [
        [figure_text(value) if isinstance(value, float | None) else value for value in row.values()]
        for row in rows
    ]
    print_table("", list(rows[0]), cells)
