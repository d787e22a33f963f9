"""`ipmicra evaluate`: policies side by side on a world with known round trips."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ipmicra.cli.completion import LOCATIONS, POLICIES, one_of
from ipmicra.cli.evaluate_table import print_evaluation, saving_in_words, title_of
from ipmicra.cli.hierarchy_option import HierarchyOption, hierarchy_path
from ipmicra.cli.output import Format, FormatOption, JsonOption, chosen, print_records, say
from ipmicra.cli.reporting import check_report, report_written

if TYPE_CHECKING:
    from ipmicra.delegate.replay.world import LocationKind
    from ipmicra.lab.evaluate.evaluate import EvaluateOptions, Evaluation

FINDINGS_SHOWN = 10

WorldArgument = Annotated[
    Path,
    typer.Argument(
        metavar="WORLD",
        help="Folder with crawlers.csv, sites.csv and rtt.csv; or your own measurements: a CSV of crawler, "
        "address and rtt_ms (also JSON lines, gzip, Parquet), - for standard input.",
    ),
]
CrawlersOption = Annotated[
    Path | None,
    typer.Option(
        "--crawlers",
        metavar="FILE",
        exists=True,
        dir_okay=False,
        help="For measurements: the crawlers' addresses and places, as `crawler import` reads them.",
    ),
]
SitesOption = Annotated[
    Path | None,
    typer.Option(
        "--sites",
        metavar="FILE",
        exists=True,
        dir_okay=False,
        help="For measurements: CSV of host,address[,latitude,longitude,country,pages].",
    ),
]
ResolveOption = Annotated[
    bool, typer.Option("--resolve", help="For measurements: ask the DNS for addresses that no file tells.")
]
PolicyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--policy",
        metavar="NAME",
        autocompletion=one_of(POLICIES),
        help="predict, paper, geo, everyone, random or hash; all if none is named. May be repeated.",
    ),
]
LocationOption = Annotated[
    str | None,
    typer.Option(
        metavar="SOURCE",
        autocompletion=one_of(LOCATIONS),
        help="What is known of the sites' places: world, country, locate, none. By default world; for "
        "measurements without places locate, if the crawlers have some.",
    ),
]
TrainOption = Annotated[
    int | None, typer.Option(metavar="N", help="Sites that arrive before those that count; by default 65 %.")
]
SeedsOption = Annotated[int, typer.Option(metavar="K", help="Random orders of arrival.")]
ThresholdOption = Annotated[
    list[float] | None,
    typer.Option("--threshold-ms", metavar="MS", help="For paper; may be repeated. By default 50 and 10."),
]
PriceOption = Annotated[
    list[float] | None,
    typer.Option(
        "--probe-price-ms",
        metavar="MS",
        help="For predict: a fixed price of a probe; may be repeated. By default two named settings.",
    ),
]
NearestOption = Annotated[
    list[int] | None,
    typer.Option("--nearest", metavar="K", min=1, help="For geo; may be repeated. By default 1 and 2."),
]
BudgetOption = Annotated[int | None, typer.Option(metavar="N", min=0, help="Most probes for one subnet.")]
PlotOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Draw probes against optimal, as PNG, SVG or PDF.")
]
ReportOption = Annotated[
    Path | None,
    typer.Option(
        "--report", metavar="FILE", help="Write an HTML report on the first policy, with all sites."
    ),
]


def evaluate(
    context: typer.Context,
    world: WorldArgument,
    hierarchy_file: HierarchyOption = None,
    crawlers: CrawlersOption = None,
    sites: SitesOption = None,
    resolve: ResolveOption = False,
    policies: PolicyOption = None,
    location: LocationOption = None,
    train: TrainOption = None,
    seeds: SeedsOption = 20,
    thresholds_ms: ThresholdOption = None,
    prices_ms: PriceOption = None,
    nearest: NearestOption = None,
    probe_budget: BudgetOption = None,
    plot: PlotOption = None,
    report: ReportOption = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Replay policies on a world with known round trips.

    Each policy delegates the same sites in the same random orders. The first ones are training: they are
    delegated with the policy's own probes, and do not count.

    With a file of your own measurements as WORLD the table shows what each policy would save you.
    """
    from ipmicra.lab.evaluate.evaluate import POLICIES, EvaluateOptions

    print_format = chosen(output_format, as_json)
    hierarchy = hierarchy_path(context, hierarchy_file)
    options = EvaluateOptions(
        world=world,
        hierarchy=hierarchy if hierarchy_file or hierarchy.is_file() else None,
        crawlers=crawlers,
        sites=sites,
        resolves=resolve,
        policies=policies or POLICIES,
        location=_location(location) if location else None,
        train=train,
        seeds=seeds,
        thresholds_ms=thresholds_ms or (50.0, 10.0),
        prices_ms=prices_ms or (),
        nearest=nearest or (1, 2),
        probe_budget=probe_budget,
        is_reported=report is not None,
    )
    _run(options, plot, report, print_format)


def _run(options: EvaluateOptions, plot: Path | None, report: Path | None, print_format: Format) -> None:
    from ipmicra.lab.evaluate.evaluate import evaluate as run
    from ipmicra.lab.plots.curve import check_plot, plot_policies

    if plot is not None:
        check_plot(plot)
    if report is not None:
        check_report(report)
    with _bar() as show:
        evaluation = run(options, show)
    _tell(evaluation)
    if print_format is Format.TABLE:
        print_evaluation(evaluation)
    else:
        print_records(evaluation.rows, print_format)
    if words := saving_in_words(evaluation):
        say(words)
    if plot is not None:
        plot_policies(evaluation.rows, title_of(evaluation), plot)
        say(f"drawn: {plot}")
    if report is not None and evaluation.data is not None:
        report_written(evaluation.data, report, f"evaluate {options.world}")
    else:
        say("to see the sites on a map, with their round trips: the same with --report FILE")


def _location(text: str) -> LocationKind:
    from ipmicra.delegate.replay.world import LocationKind

    try:
        return LocationKind(text)
    except ValueError as error:
        message = f"{text!r} is none of {', '.join(LocationKind)}"
        raise typer.BadParameter(message, param_hint="--location") from error


def _tell(evaluation: Evaluation) -> None:
    """Say how the world was understood, and what was left out of it."""
    findings = evaluation.findings
    for finding in (*evaluation.notes, *findings[:FINDINGS_SHOWN]):
        say(finding)
    if len(findings) > FINDINGS_SHOWN:
        say(f"… and {len(findings) - FINDINGS_SHOWN} more rows left out")


@contextmanager
def _bar() -> Iterator[Callable[[str, int, int], None]]:
    """Show progress on a terminal, nothing elsewhere."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    console = Console(stderr=True)
    columns = TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn()
    with Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("evaluating", total=None)

        def show(what: str, done: int, total: int) -> None:
            progress.update(task, description=what, completed=done, total=total)

        yield show
