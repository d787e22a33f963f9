"""`ipmicra simulate churn`: crawlers join, leave and fail while sites are crawled again and again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ipmicra.cli.completion import CHURN_SCHEMES, one_of
from ipmicra.cli.options import Format, FormatOption, JsonOption, chosen
from ipmicra.cli.output import Record, print_records, print_table, say, show_message
from ipmicra.cli.simulate.shared import SeedsOption, figure
from ipmicra.model.quantities import percent, plural

if TYPE_CHECKING:
    from ipmicra.lab.simulate.churn import ChurnReport

SHOWN = (
    "scheme",
    "goodput_mbps",
    "gross_mbps",
    "of_bound",
    "over_dht",
    "over_lbi",
    "half_rtt_ms",
    "load_variation",
    "recrawled_15_of_20",
    "elsewhere",
    "delay_most_h",
    "published",
)
"""Columns of the table; the other formats have all."""
SHARES = {"of_bound", "over_dht", "over_lbi", "recrawled_15_of_20", "elsewhere"}
SCALES = (20, 40, 60, 80, 100, 120, 140)
"""Numbers of crawlers in the paper's test of scalability."""


def churn(
    scheme: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            autocompletion=one_of(CHURN_SCHEMES),
            help="dht, chord, nc-can, lbi, lbi-rtt, lbi-split, balance-neighbours or balance; "
            "repeatable. Default: all.",
        ),
    ] = None,
    seeds: SeedsOption = 3,
    matrix: Annotated[
        Path | None,
        typer.Option(
            "--matrix",
            metavar="FILE",
            help="Positions from round trips: .npz with rtt_ms, or King text. Default: a King-like world.",
        ),
    ] = None,
    steps: Annotated[int, typer.Option(min=1, help="Number of steps of 20 s.")] = 10_000,
    crawlers: Annotated[int, typer.Option(min=2, help="Number of crawlers that come and go.")] = 140,
    sites: Annotated[int, typer.Option(min=1, help="Number of sites, crawled again and again.")] = 1_600,
    spread_pieces: Annotated[
        bool,
        typer.Option("--spread-pieces", help="Submit a site's pieces over the interval, not all at once."),
    ] = False,
    scale: Annotated[
        bool, typer.Option("--scale", help="Test scalability instead: 20, 40, … 140 crawlers.")
    ] = False,
    small_test: Annotated[
        bool, typer.Option("--small-test", help="Run the paper's small test (section 5.1) instead.")
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="DIR", help="Draw figures 15–22 of the paper into this folder."),
    ] = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let crawlers join, leave and fail while sites are crawled.

    Each scheme shares the load in its own way.
    """
    from ipmicra.lab.churn.config import ChurnConfig
    from ipmicra.lab.churn.schemes.table import SCHEMES
    from ipmicra.lab.simulate.churn import ChurnRun, simulate_churn, simulate_small_test

    print_format = chosen(output_format, as_json)
    if small_test:
        _print(f"section 5.1, {plural(seeds, 'seed')}", simulate_small_test(seeds), print_format)
        return
    config = ChurnConfig(steps=steps, crawlers=crawlers, sites=sites, are_pieces_spread=spread_pieces)
    scales = [count for count in SCALES if count <= crawlers] if scale else []
    run = ChurnRun(schemes=scheme or tuple(SCHEMES), seeds=seeds, matrix=matrix, scales=scales, config=config)
    report = simulate_churn(run, show_message)
    if plot is not None:
        _draw(plot, report)
    rows = report.rows()
    title = f"{report.world}: {plural(sites, 'site')}, {plural(steps, 'step')}, {plural(seeds, 'seed')}"
    _print(title, rows, print_format, ("crawlers", *SHOWN) if scale else SHOWN)


def _draw(folder: Path, report: ChurnReport) -> None:
    from ipmicra.lab.plots.churn import draw_churn

    for file in draw_churn(folder, report.world, report.config, report.runs):
        say(f"drew {file}")


def _print(
    title: str, rows: list[Record], print_format: Format, shown: tuple[str, ...] | None = None
) -> None:
    if print_format is not Format.TABLE:
        print_records(rows, print_format)
        return
    columns = shown or tuple(rows[0])
    print_table(title, columns, [[_cell(name, row.get(name)) for name in columns] for row in rows])


def _cell(name: str, value: object) -> object:
    """Round figures for a table; shares are per cent."""
    if isinstance(value, float):
        return percent(value) if name in SHARES else f"{value:.3g}"
    return figure(value)
