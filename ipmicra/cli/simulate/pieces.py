"""`ipmicra simulate pieces`: what cutting large sites into pieces costs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ipmicra.cli.options import FormatOption, JsonOption, chosen
from ipmicra.cli.output import print_rows, say, show_message
from ipmicra.cli.simulate.shared import share_or_figure


def pieces(
    links: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Links of your own site: a table with source and target, page by page. "
            "Default: invented sites.",
        ),
    ] = None,
    most: Annotated[int, typer.Option(min=2, help="Largest number of pieces that is tried.")] = 6,
    sites: Annotated[int, typer.Option(min=1, help="Number of invented sites.")] = 200,
    pages: Annotated[int, typer.Option(min=50, help="Pages of an invented site.")] = 1000,
    seed: Annotated[int, typer.Option(help="Random seed of the invented sites.")] = 1,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="DIR", help="Draw figure 11 into this folder.")
    ] = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Cut sites into pieces and crawl each piece by itself.

    Prints how many pages are downloaded twice, and how many are found by no piece.
    """
    from ipmicra.lab.simulate.pieces import PiecesRun, simulate_pieces

    print_format = chosen(output_format, as_json)
    run = PiecesRun(links=links, most=most, sites=sites, pages=pages, seed=seed, plot=plot)
    rows, files = simulate_pieces(run, show_message)
    for file in files:
        say(f"drew {file}")
    title = links.name if links else f"{sites} invented sites of {pages} pages"
    print_rows(rows, list(rows[0]), print_format, title=title, cell=share_or_figure)
