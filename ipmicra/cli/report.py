"""`ipmicra report`: one page that shows which crawler has which site."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ipmicra.cli.options import (
    Format,
    FormatOption,
    HierarchyOption,
    JsonOption,
    StoreOption,
    chosen,
    file_option,
    home_of,
)
from ipmicra.cli.output import DONE_IN_PART, Record, print_object, print_table, say
from ipmicra.model.quantities import percent

ResultsArgument = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[RESULTS]...",
        help="Results of `ipmicra delegate` (JSON, JSON lines or CSV), or - for standard input.",
    ),
]
CrawlersOption = Annotated[
    Path | None,
    file_option("--crawlers", "Crawlers of the results, with their locations (CSV or JSON)."),
]
WorldOption = Annotated[
    Path | None,
    typer.Option(
        "--world",
        metavar="WORLD",
        exists=True,
        help="A world with known round trips, instead of RESULTS: a folder, or a file of your measurements.",
    ),
]
AssignmentOption = Annotated[
    Path | None,
    file_option("--assignment", "Results for the world's sites; default: each has its nearest crawler."),
]
LastOption = Annotated[
    bool, typer.Option("--last", help="From the store, only the sites of the last `ipmicra delegate`.")
]
OutputOption = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="HTML file to write.")]
PlotsOption = Annotated[
    Path | None,
    typer.Option("--plots", metavar="DIR", help="Also write each plot to this folder, as SVG and PNG."),
]
SHARES = {"optimal", "within 2ms"}
WHOLE = 1000
"""From here on figures are written without a fraction."""


def report(
    context: typer.Context,
    results: ResultsArgument = None,
    crawlers: CrawlersOption = None,
    world: WorldOption = None,
    assignment: AssignmentOption = None,
    output: OutputOption = Path("report.html"),
    plots: PlotsOption = None,
    last: LastOption = False,
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT", help="Title of the page.")] = None,
    hierarchy_file: HierarchyOption = None,
    store: StoreOption = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write an HTML page that shows which crawler has which site.

    The page needs no network. By default it shows the store: what was delegated or assigned to whom.
    Otherwise the results of a delegation with its crawlers, or a world with known round trips. Prints the
    figures of the summary.
    """
    from ipmicra.app.report.loaders.choose import ReportInput
    from ipmicra.app.report.write import has_png, write_input

    print_format = chosen(output_format, as_json)
    home = home_of(context, store=store, hierarchy=hierarchy_file)
    given = ReportInput(
        results=tuple(results or ()),
        crawlers=crawlers,
        world=world,
        assignment=assignment,
        hierarchy=home.hierarchy_if_any,
        store=home.store,
        only_last=last,
    )
    _print(write_input(given, output, plots, title), print_format)
    if plots and not has_png():
        say("plots were written as SVG only; PNG needs matplotlib: pip install 'ipmicra[plot]'")
    for note in given.problems.notes:
        say(note)
    if given.problems.count:
        raise typer.Exit(DONE_IN_PART)


def _print(record: Record, print_format: Format) -> None:
    if print_format is not Format.TABLE:
        print_object(record, print_format)
        return
    rows = [
        (name.replace("_", " "), one)
        for name, value in record.items()
        for one in (value if isinstance(value, list) else [value])
        if one is not None
    ]
    print_table("", ("figure", "value"), [(name, _shown(name, value)) for name, value in rows])


def _shown(name: str, value: object) -> object:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, float):
        return value
    if name in SHARES:
        return percent(value)
    return f"{value:,.0f}" if value >= WHOLE else f"{value:.2f}"
