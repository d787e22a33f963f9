"""`ipmicra evaluate`: policies side by side on a world with known round trips."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ipmicra.cli.completion import LOCATIONS, POLICIES, one_of
from ipmicra.cli.options import (
    Format,
    FormatOption,
    HierarchyOption,
    JsonOption,
    TableOption,
    chosen,
    file_option,
    home_of,
)
from ipmicra.cli.output import print_records, print_table, progress_bar, say, say_some
from ipmicra.errors import InputError
from ipmicra.model.quantities import percent, plural

if TYPE_CHECKING:
    from ipmicra.lab.evaluate.evaluate import EvaluateOptions, Evaluation
    from ipmicra.lab.evaluate.inputs import WorldSource

FINDINGS_SHOWN = 10

Cell = Callable[[dict[str, Any]], str]
UNKNOWN = "–"
WORLD_PLACES = "world"
"""The location that is true by definition."""


def _share(key: str) -> Cell:
    """Write a share as per cent."""
    return lambda row: UNKNOWN if row.get(key) is None else percent(row[key])


def _number(key: str, digits: int = 2) -> Cell:
    """Write a number."""
    return lambda row: UNKNOWN if row.get(key) is None else f"{row[key]:.{digits}f}"


def _with_spread(one: Cell, spread: Cell) -> Cell:
    """Write a mean with the spread of the orders."""
    return lambda row: f"{one(row)} ±{spread(row)}"


OPTIMAL = _with_spread(_share("optimal"), lambda row: f"{100 * row['optimal_spread']:.1f}")
PROBES = _with_spread(_number("probes_per_site"), _number("probes_spread"))
NAMES: dict[str, Cell] = {"policy": lambda row: row["policy"], "setting": lambda row: row["setting"]}
COLUMNS: dict[str, Cell] = {
    **NAMES,
    "optimal": OPTIMAL,
    "within 2 ms": _share("within_2ms"),
    "probes/site": PROBES,
    "excess ms": _number("mean_excess_ms"),
    "if sub-optimal": _number("excess_of_suboptimal_ms"),
    "in training": _number("training_probes_per_site"),
}
"""Columns for a world with known round trips."""
LOAD_ENDS = {1.0: " equal load", 0.0: " nearest"}
TODAY, JUDGED = "ms saved\non today", "judged"
SAVINGS: dict[str, Cell] = {
    "policy": lambda row: f"{row['policy']} {row['setting']}".removesuffix("default").strip(),
    "optimal": _share("optimal"),
    "probes\nper site": _number("probes_per_site"),
    "in\ntraining": _number("training_probes_per_site"),
    "probes\nsaved": _share("probes_saved"),
    "mean\nms": _number("mean_rtt_ms", 1),
    "ms saved\non hash": _number("saved_vs_hash_ms", 1),
    TODAY: _number("saved_vs_today_ms", 1),
    JUDGED: _share("judged"),
}
"""Columns for a user's own measurements: what each policy would save."""
LOAD: dict[str, Cell] = {
    "evenness": lambda row: f"{row['evenness']:g}" + LOAD_ENDS.get(row["evenness"], ""),
    "mean ms": _number("mean_rtt_ms", 1),
    "busiest crawler,\nfair shares": _number("busiest"),
    "pages/h to\nthe end": lambda row: (
        UNKNOWN if row["pages_per_hour"] is None else f"{row['pages_per_hour']:,.0f}"
    ),
    "of best": _share("of_best"),
}
"""Columns of nearness against load."""

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
    file_option(
        "--crawlers", "For measurements: the crawlers' addresses and locations, as for `crawler import`."
    ),
]
SitesOption = Annotated[
    Path | None,
    file_option("--sites", "For measurements: CSV of host,address[,latitude,longitude,country,pages]."),
]
ResolveOption = Annotated[
    bool, typer.Option("--resolve", help="For measurements: ask the DNS for addresses that are in no file.")
]
PolicyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--policy",
        metavar="NAME",
        autocompletion=one_of(POLICIES),
        help="predict, paper, geo, everyone, random or hash; repeatable. Default: all.",
    ),
]
LocationOption = Annotated[
    str | None,
    typer.Option(
        metavar="SOURCE",
        autocompletion=one_of(LOCATIONS),
        help="Source of the sites' locations: world, country, locate, none. Default: world; locate for "
        "measurements without locations, if the crawlers have some.",
    ),
]
TrainOption = Annotated[
    int | None, typer.Option(metavar="N", help="Sites for training, which do not count; default: 65 %.")
]
SeedsOption = Annotated[int, typer.Option(metavar="K", help="Number of random orders of arrival.")]
ThresholdOption = Annotated[
    list[float] | None,
    typer.Option("--threshold-ms", metavar="MS", help="For paper; repeatable. Default: 50 and 10."),
]
BeyondOption = Annotated[
    bool,
    typer.Option(
        "--beyond-organisation", help="For paper: add the reading that climbs beyond the organisation."
    ),
]
PriceOption = Annotated[
    list[float] | None,
    typer.Option(
        "--probe-price-ms",
        metavar="MS",
        help="For predict: fixed price of a probe; repeatable. Default: two named settings.",
    ),
]
NearestOption = Annotated[
    list[int] | None,
    typer.Option("--nearest", metavar="K", min=1, help="For geo; repeatable. Default: 1 and 2."),
]
BudgetOption = Annotated[int | None, typer.Option(metavar="N", min=0, help="Most probes for one subnet.")]
PlotOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Draw probes against optimal, as PNG, SVG or PDF.")
]
LoadOption = Annotated[
    bool,
    typer.Option(
        "--load",
        help="Instead of policies, show nearness against load: what each evenness of `assign` would mean.",
    ),
]
EvennessOption = Annotated[
    list[float] | None,
    typer.Option(
        "--evenness", metavar="E", min=0, max=1, help="For --load; repeatable. Default: a curve from 1 to 0."
    ),
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
    table: TableOption = None,
    train: TrainOption = None,
    seeds: SeedsOption = 20,
    thresholds_ms: ThresholdOption = None,
    beyond_organisation: BeyondOption = False,
    prices_ms: PriceOption = None,
    nearest: NearestOption = None,
    probe_budget: BudgetOption = None,
    load: LoadOption = False,
    evenness: EvennessOption = None,
    plot: PlotOption = None,
    report: ReportOption = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Replay policies on a world with known round trips.

    Each policy delegates the same sites in the same random orders. The first sites are for training: they
    are delegated with the policy's own probes, and do not count. With a file of your own measurements as
    WORLD the table shows what each policy would save you.
    """
    from ipmicra.lab.evaluate.evaluate import EvaluateOptions
    from ipmicra.lab.evaluate.inputs import WorldSource

    print_format = chosen(output_format, as_json)
    if load or evenness:
        if policies or report:
            raise InputError("--load replays no policy: leave out --policy and --report")
        source = WorldSource(world=world, crawlers=crawlers, sites=sites, resolves=resolve)
        return _run_load(source, evenness or (), plot, print_format)
    options = EvaluateOptions(
        world=world,
        hierarchy=home_of(context, hierarchy=hierarchy_file).hierarchy_if_any,
        crawlers=crawlers,
        sites=sites,
        resolves=resolve,
        policies=policies or (),
        location=_location_of(location),
        tables=tuple(table or ()),
        train=train,
        seeds=seeds,
        thresholds_ms=thresholds_ms or (50.0, 10.0),
        is_read_both_ways=beyond_organisation,
        prices_ms=prices_ms or (),
        nearest=nearest or (1, 2),
        probe_budget=probe_budget,
        is_reported=report is not None,
    )
    return _run(options, plot, report, print_format)


def _location_of(word: str | None) -> Any:  # noqa: ANN401 - a noun of the replay, which commands do not import
    from ipmicra.lab.evaluate.evaluate import read_location

    try:
        return read_location(word) if word else None
    except InputError as error:
        raise typer.BadParameter(str(error), param_hint="--location") from error


def _run_load(source: WorldSource, levels: Sequence[float], plot: Path | None, print_format: Format) -> None:
    from ipmicra.lab.evaluate.load import evaluate_load
    from ipmicra.lab.plots.picture import check_picture
    from ipmicra.lab.plots.trade import draw_trade_curve

    if plot is not None:
        check_picture(plot)
    found = evaluate_load(source, levels)
    for note in found.notes:
        say(note)
    say_some(found.findings, FINDINGS_SHOWN, "rows left out")
    sites, fleet = plural(found.sites, "site"), plural(found.crawlers, "crawler")
    title = f"{found.world}: {sites} on {fleet}, by true round trips"
    if print_format is Format.TABLE:
        cells = [[cell(row) for cell in LOAD.values()] for row in found.rows]
        print_table(title, list(LOAD), cells)
    else:
        print_records(found.rows, print_format)
    if plot is not None:
        draw_trade_curve(found.rows, title, plot)
        say(f"drawn: {plot}")


def _run(options: EvaluateOptions, plot: Path | None, report: Path | None, print_format: Format) -> None:
    from ipmicra.app.report.write import check_page, write_page
    from ipmicra.lab.evaluate.evaluate import evaluate as run
    from ipmicra.lab.plots.picture import check_picture
    from ipmicra.lab.plots.policies import draw_policies

    # What cannot be written in the end is refused before the replays, which take minutes.
    if plot is not None:
        check_picture(plot)
    if report is not None:
        check_page(report)
    with progress_bar() as show:
        evaluation = run(options, show)
    for note in evaluation.notes:
        say(note)
    say_some(evaluation.findings, FINDINGS_SHOWN, "rows left out")
    if print_format is Format.TABLE:
        _print(evaluation)
        _print_trust(evaluation)
        _print_places(evaluation)
    else:
        print_records(evaluation.rows, print_format)
    if saving := _saving(evaluation):
        say(saving)
    if plot is not None:
        draw_policies(evaluation.rows, _title(evaluation), plot)
        say(f"drawn: {plot}")
    if report is not None and evaluation.data is not None:
        write_page(evaluation.data, report, f"ipmicra evaluate {options.world}")
        say(f"report: {report}")
    else:
        say("to see the sites on a map, with their round trips: add --report FILE")
        say("to see what fair load costs here: add --load")


def _print(evaluation: Evaluation) -> None:
    columns = dict(SAVINGS if evaluation.is_measured else COLUMNS)
    rows = evaluation.rows
    if not any("saved_vs_today_ms" in row for row in rows):
        columns.pop(TODAY, None)
    if all(row["judged"] == 1 for row in rows):
        columns.pop(JUDGED, None)
    print_table(_title(evaluation), list(columns), [[cell(row) for cell in columns.values()] for row in rows])


def _print_trust(evaluation: Evaluation) -> None:
    """Print what answers without a probe were worth, and whether policies are as sure as they should be."""
    cells = [
        [SAVINGS["policy"](row), _share("unprobed")(row), _share("unprobed_right")(row), _by_evidence(row)]
        for row in evaluation.rows
        if row.get("unprobed")
    ]
    if cells:
        print_table("answers without a probe", ["policy", "of all", "right", "by evidence"], cells)
    said = [
        [SAVINGS["policy"](row), *(_share(key)(one) for key in ("said", "right")), f"{one['answers']:,}"]
        for row in evaluation.rows
        for one in row.get("calibration", ())
    ]
    if said:
        print_table("how sure, how often right", ["policy", "said", "right in", "answers"], said)


def _print_places(evaluation: Evaluation) -> None:
    """Print where places come from, and how many are far from the true ones."""
    cells = [
        [
            one["source"],
            f"{one['sites']:,}",
            f"{one['far']:,} of {one['checked']:,}" if one["checked"] else UNKNOWN,
        ]
        for one in evaluation.places
    ]
    if cells and evaluation.location != WORLD_PLACES:
        print_table("places by source", ["source", "sites", "off by over 500 km"], cells)


def _by_evidence(row: dict[str, Any]) -> str:
    found = row["unprobed_by_evidence"].items()
    return ", ".join(f"{name} {_share('right')(one)} of {one['answers']:,}" for name, one in found)


def _title(evaluation: Evaluation) -> str:
    return (
        f"{evaluation.world}: {plural(evaluation.seeds, 'order')} of arrival, "
        f"{plural(evaluation.train, 'site')} of training, "
        f"places: {evaluation.location}"
    )


def _saving(evaluation: Evaluation) -> str | None:
    """Say what the first setting of predict, or else the first policy that probes, would save."""
    probing = [row for row in evaluation.rows if row["probes_per_site"]]
    row = next((one for one in probing if one["policy"] == "predict"), probing[0] if probing else None)
    if row is None or row["mean_rtt_ms"] is None or row["policy"] == "everyone":
        return None
    ways = {"by site hash": row.get("hash_mean_rtt_ms"), "today": row.get("today_mean_rtt_ms")}
    others = [f"{way} {mean_ms:.0f} ms" for way, mean_ms in ways.items() if mean_ms is not None]
    text = ", ".join([f"mean round trip {row['mean_rtt_ms']:.0f} ms", *others])
    before = f" ({row['training_probes_per_site']:.1f} in training)" if evaluation.train else ""
    rest = f" ({percent(row['judged'], 0)} of the answers can be judged)" if row["judged"] < 1 else ""
    return (
        f"With {row['policy']}: {row['probes_per_site']:.1f} probes per site{before} instead of "
        f"{row['everyone_probes_per_site']:.3g}; {text}{rest}."
    )
