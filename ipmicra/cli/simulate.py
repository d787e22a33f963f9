"""`ipmicra simulate`: the papers' experiments, with their published figures beside ours."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ipmicra.cli import simulate_churn, simulate_partition
from ipmicra.cli.completion import (
    COORDINATE_METHODS,
    CUTS,
    HALVES,
    POPULATIONS,
    SPLITTING_SCHEMES,
    one_of,
)
from ipmicra.cli.output import Format, FormatOption, JsonOption, chosen, print_records, print_table, say

if TYPE_CHECKING:
    from ipmicra.lab.simulate.overlay import SplittingReport

simulate = typer.Typer(
    name="simulate",
    help="Run the papers' experiments, with their figures beside ours.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
simulate.command()(simulate_partition.partition)
simulate.command()(simulate_churn.churn)
PopulationOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        autocompletion=one_of(POPULATIONS),
        help="ts, king, or a matrix (.npz with rtt_ms, or King text); may be repeated. "
        "By default ts and king.",
    ),
]
SchemeOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        autocompletion=one_of(SPLITTING_SCHEMES),
        help="DL, MPP, NH, GH, MP, NS, or two joined as MP_30_NH; may be repeated. By default all.",
    ),
]
HalfOption = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        autocompletion=one_of(HALVES),
        help="Half that a newcomer takes: holding (where it stands) or random.",
    ),
]
CutOption = Annotated[
    str,
    typer.Option(metavar="NAME", autocompletion=one_of(CUTS), help="Where NH and GH cut: middle or median."),
]
SeedsOption = Annotated[int, typer.Option("--seeds", min=1, help="Draws to average over.")]


@simulate.command()
def splitting(
    population: PopulationOption = None,
    scheme: SchemeOption = None,
    seeds: SeedsOption = 5,
    half: HalfOption = "holding",
    migration: Annotated[
        bool, typer.Option(help="Whether sites move with their part of a zone that is split.")
    ] = True,
    cut: CutOption = "middle",
    moved: Annotated[
        float, typer.Option(help="Share of hosts that the bounds of the space move.", min=0, max=0.5)
    ] = 0.05,
    torus: Annotated[bool, typer.Option("--torus", help="Let opposite ends of the space touch.")] = False,
    claims: Annotated[
        bool, typer.Option("--claims", help="Print the paper's claims beside what was measured instead.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="DIR", help="Draw the papers' figures into a folder.")
    ] = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Split coordinate space among crawlers by each scheme.

    Measures distance, in-zone share, load diversity and hops.
    """
    from ipmicra.lab.experiments.splitting import SCHEME_NAMES
    from ipmicra.lab.simulate.overlay import simulate_splitting

    print_format = chosen(output_format, as_json)
    options = _splitting_options(half, cut, moved, (migration, torus))
    names = [name.upper() for name in scheme] if scheme else list(SCHEME_NAMES)
    reports = [
        simulate_splitting(name, names, seeds, options, _progress) for name in population or ["ts", "king"]
    ]
    if plot is not None:
        from ipmicra.lab.plots.splitting import draw_splitting

        for report in reports:
            for file in draw_splitting(plot, report.population, report.stages, report.outcomes):
                say(f"drew {file}")
    _print_splitting(reports, print_format, is_claims=claims)


def _splitting_options(half: str, cut: str, moved: float, flags: tuple[bool, bool]) -> Any:  # noqa: ANN401
    """Make the options; a wrong word is wrong usage."""
    from ipmicra.assign.overlay.options import CutRule, Half, OverlayOptions
    from ipmicra.lab.experiments.splitting import SplittingOptions

    if half not in list(Half):
        raise typer.BadParameter(f"--half is one of {', '.join(Half)}")
    if cut not in list(CutRule):
        raise typer.BadParameter(f"--cut is one of {', '.join(CutRule)}")
    overlay = OverlayOptions(half=Half(half), cut=CutRule(cut), moves_sites=flags[0], is_torus=flags[1])
    return SplittingOptions(overlay=overlay, moved=moved)


def _print_splitting(reports: list[SplittingReport], print_format: Format, *, is_claims: bool) -> None:
    from dataclasses import asdict

    if is_claims:
        records = [asdict(claim) for report in reports for claim in report.claims()]
    else:
        records = [row for report in reports for row in report.rows()]
    if print_format is not Format.TABLE:
        print_records(records, print_format)
        return
    for report in reports:
        own = [record for record in records if record["population"] == report.population]
        options = ", ".join(f"{name} {value}" for name, value in report.rows()[0]["options"].items())
        columns = [name for name in own[0] if name not in {"population", "options"}]
        print_table(
            f"{report.population} ({options})", columns, [[_cell(one[c]) for c in columns] for one in own]
        )
        typer.echo()


@simulate.command()
def coordinates(
    matrix: Annotated[
        Path, typer.Option("--matrix", metavar="FILE", help="Round trips: .npz with rtt_ms, or King text.")
    ],
    crawlers: Annotated[int, typer.Option(help="Nodes that are crawlers; the others are hosts.")] = 60,
    landmarks: Annotated[int, typer.Option(help="Crawlers that measure the hosts.")] = 20,
    random_landmarks: Annotated[
        bool, typer.Option("--random-landmarks", help="Draw the landmarks by lot instead of choosing them.")
    ] = False,
    method: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            autocompletion=one_of(COORDINATE_METHODS),
            help="gnp, gnp-height, gnp-7d, vivaldi, ridge or blend; may be repeated. By default all.",
        ),
    ] = None,
    seeds: SeedsOption = 5,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Name each host's nearest crawler from landmarks' samples.

    From these alone, by each method of coordinates.
    """
    from ipmicra.assign.coordinate.coordinates import METHODS
    from ipmicra.lab.experiments.coordinates import Trial
    from ipmicra.lab.simulate.overlay import CoordinatesRun, simulate_coordinates

    print_format = chosen(output_format, as_json)
    trial = Trial(crawlers=crawlers, landmarks=landmarks, chooses_landmarks=not random_landmarks)
    run = CoordinatesRun(matrix=matrix, methods=method or METHODS, seeds=seeds, trial=trial)
    records = simulate_coordinates(run, _progress)
    if print_format is Format.TABLE:
        columns = [name for name in records[0] if name not in {"seeds", "crawlers", "landmarks"}]
        title = f"{matrix.name}: {crawlers} crawlers, {landmarks} landmarks, {seeds} seeds"
        print_table(title, columns, [[_cell(record[name]) for name in columns] for record in records])
    else:
        print_records(records, print_format)


def _cell(value: object) -> object:
    """Round figures for people."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"  # noqa: PLR2004
    if isinstance(value, dict):
        return ", ".join(f"{name} {figure:.0%}" for name, figure in value.items())
    return value


def _progress(message: str) -> None:
    """Tell how far it is, where somebody watches."""
    if sys.stderr.isatty():
        say(message)
