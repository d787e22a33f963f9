"""`ipmicra report`: one page that shows which crawler has which site."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ipmicra.cli.hierarchy_option import HierarchyOption, hierarchy_path
from ipmicra.cli.output import (
    DONE_IN_PART,
    Format,
    FormatOption,
    JsonOption,
    chosen,
    print_object,
    print_table,
    say,
)
from ipmicra.cli.reporting import now_text
from ipmicra.cli.store_option import StoreOption, store_url
from ipmicra.errors import InputError

if TYPE_CHECKING:
    from ipmicra.app.report.loaders.choose import ReportInput

ResultsArgument = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[RESULTS]...",
        help="Results of `ipmicra delegate` (JSON, JSON lines or CSV), or - for standard input.",
    ),
]
CrawlersOption = Annotated[
    Path | None,
    typer.Option(
        "--crawlers",
        metavar="FILE",
        exists=True,
        dir_okay=False,
        help="Crawlers of the results, with their places (CSV or JSON).",
    ),
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
    typer.Option(
        "--assignment",
        metavar="FILE",
        exists=True,
        dir_okay=False,
        help="Results on the world's sites; by default each has its nearest crawler.",
    ),
]
LastOption = Annotated[
    bool, typer.Option("--last", help="Of the store, only the sites of the last `ipmicra delegate`.")
]
OutputOption = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Page to write.")]
PlotsOption = Annotated[
    Path | None,
    typer.Option("--plots", metavar="DIR", help="Also write each plot into this folder, as SVG and PNG."),
]


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
    """Write one HTML page that shows who has which site.

    It can be read offline. By default from the store: who was delegated or assigned to whom. Else from
    results of a delegation with its crawlers, or from a world with known round trips. Prints the figures
    of the summary.
    """
    from ipmicra.app.report.loaders.choose import ReportInput

    print_format = chosen(output_format, as_json)
    hierarchy = hierarchy_path(context, hierarchy_file)
    given = ReportInput(
        results=tuple(results or ()),
        crawlers=crawlers,
        world=world,
        assignment=assignment,
        hierarchy=hierarchy if hierarchy_file or hierarchy.is_file() else None,
        store=store_url(context, store),
        only_last=last,
    )
    _print(_written(given, output, plots, title), print_format)
    for note in given.problems.notes:
        say(note)
    if given.problems.count:
        raise typer.Exit(DONE_IN_PART)


def _written(given: ReportInput, output: Path, plots: Path | None, title: str | None) -> dict[str, Any]:
    """Write page and plots; give what is printed of them."""
    from ipmicra.app.report.write import has_png, write_plots, write_report

    if output.resolve() in {path.resolve() for path in given.files}:
        raise InputError(f"{output} is one of the inputs: name another file with -o")
    data = given.load()
    data = replace(data, when=now_text(), command=_command(given, output), title=title or data.title)
    done = write_report(data, output)
    files = write_plots(done, plots) if plots else []
    if plots and not has_png():
        say("plots were written as SVG only; PNG needs matplotlib: pip install 'ipmicra[plot]'")
    return {
        "report": str(output),
        "size_bytes": output.stat().st_size,
        **done.summary.as_record(),
        "plots": [str(path) for path in files],
    }


def _command(given: ReportInput, output: Path) -> str:
    """Write the command that makes this report again."""
    words = ["ipmicra", "report", *map(str, given.results), *(["--last"] if given.only_last else [])]
    for option in ("crawlers", "world", "assignment", "hierarchy"):
        if path := getattr(given, option):
            words += [f"--{option}", str(path)]
    if given.store and not (given.results or given.world):
        words += ["--store", given.store]
    return shlex.join([*words, "-o", str(output)])


def _print(record: dict[str, Any], print_format: Format) -> None:
    if print_format is not Format.TABLE:
        print_object(record, print_format)
        return
    rows = [(name.replace("_", " "), value) for name, value in record.items() if value not in (None, [])]
    print_table("", ("figure", "value"), [(name, _shown(value)) for name, value in rows])


def _shown(value: object) -> object:
    return "\n".join(map(str, value)) if isinstance(value, list) else value
