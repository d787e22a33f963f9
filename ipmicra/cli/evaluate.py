"""`ipmicra evaluate`: policies side by side on a world with known round trips."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from ipmicra.cli.hierarchy_option import HierarchyOption, hierarchy_path
from ipmicra.cli.output import Format, FormatOption, JsonOption, chosen, print_records, print_table, say
from ipmicra.cli.reporting import check_report, report_written

if TYPE_CHECKING:
    from ipmicra.app.evaluate import EvaluateOptions, Evaluation
    from ipmicra.simulate.world import LocationKind

FINDINGS_SHOWN = 10
COLUMNS = {
    "policy": "policy",
    "setting": "setting",
    "optimal": "optimal",
    "within_2ms": "within 2 ms",
    "probes_per_site": "probes/site",
    "mean_excess_ms": "excess ms",
    "excess_of_suboptimal_ms": "if sub-optimal",
    "training_probes_per_site": "in training",
}


WorldArgument = Annotated[
    Path, typer.Argument(metavar="WORLD", help="Folder with crawlers.csv, sites.csv and rtt.csv.")
]
PolicyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--policy",
        metavar="NAME",
        help="predict, paper, geo, everyone, random or hash; all if none is named. May be repeated.",
    ),
]
LocationOption = Annotated[
    str, typer.Option(metavar="SOURCE", help="What is known of the sites' places: world, country, none.")
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
    policies: PolicyOption = None,
    location: LocationOption = "world",
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
    """Replay policies on a world with known round trips, side by side.

    Each policy delegates the same sites in the same random orders. The first ones are training: they are
    delegated with the policy's own probes, and do not count.
    """
    from ipmicra.app.evaluate import POLICIES, EvaluateOptions

    print_format = chosen(output_format, as_json)
    options = EvaluateOptions(
        world=world,
        hierarchy=hierarchy_path(context, hierarchy_file),
        policies=policies or POLICIES,
        location=_location(location),
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
    from ipmicra.app.evaluate import evaluate as run
    from ipmicra.edge.plot import check_plot, plot_policies

    if plot is not None:
        check_plot(plot)
    if report is not None:
        check_report(report)
    with _bar() as show:
        evaluation = run(options, show)
    _tell(evaluation.findings)
    _print(evaluation, print_format)
    if plot is not None:
        plot_policies(evaluation.rows, _title(evaluation), plot)
        say(f"drawn: {plot}")
    if report is not None and evaluation.data is not None:
        report_written(evaluation.data, report, f"evaluate {options.world}")
    else:
        say("to see the sites on a map, with their round trips: the same with --report FILE")


def _location(text: str) -> LocationKind:
    from ipmicra.simulate.world import LocationKind

    try:
        return LocationKind(text)
    except ValueError as error:
        message = f"{text!r} is none of {', '.join(LocationKind)}"
        raise typer.BadParameter(message, param_hint="--location") from error


def _print(evaluation: Evaluation, print_format: Format) -> None:
    if print_format is Format.TABLE:
        print_table(_title(evaluation), list(COLUMNS.values()), [_cells(row) for row in evaluation.rows])
    else:
        print_records(evaluation.rows, print_format)


def _title(evaluation: Evaluation) -> str:
    return (
        f"{evaluation.world}: {evaluation.seeds} orders of arrival, {evaluation.train} sites of training, "
        f"places: {evaluation.location}"
    )


def _cells(row: dict[str, Any]) -> list[str]:
    """Write a row for people: shares as per cent with the spread of the orders."""
    return [
        row["policy"],
        row["setting"],
        f"{100 * row['optimal']:.1f} % ±{100 * row['optimal_spread']:.1f}",
        f"{100 * row['within_2ms']:.1f} %",
        f"{row['probes_per_site']:.2f} ±{row['probes_spread']:.2f}",
        f"{row['mean_excess_ms']:.2f}",
        f"{row['excess_of_suboptimal_ms']:.2f}",
        f"{row['training_probes_per_site']:.2f}",
    ]


def _tell(findings: Sequence[str]) -> None:
    """Say what was left out of the world."""
    for finding in findings[:FINDINGS_SHOWN]:
        say(finding)
    if len(findings) > FINDINGS_SHOWN:
        say(f"… and {len(findings) - FINDINGS_SHOWN} more rows left out")


@contextmanager
def _bar() -> Iterator[Callable[[str, int, int], None]]:
    """Show progress on a terminal, nothing elsewhere."""
    console = Console(stderr=True)
    columns = TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn()
    with Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("evaluating", total=None)

        def show(what: str, done: int, total: int) -> None:
            progress.update(task, description=what, completed=done, total=total)

        yield show
