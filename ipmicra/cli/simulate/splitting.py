"""`ipmicra simulate splitting`: a coordinate space divided into zones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ipmicra.cli.completion import CUTS, HALVES, POPULATIONS, SPLITTING_SCHEMES, one_of
from ipmicra.cli.options import Format, FormatOption, JsonOption, chosen
from ipmicra.cli.output import print_records, print_table, say, show_message
from ipmicra.cli.simulate.shared import SeedsOption, figure, print_claims
from ipmicra.errors import InputError

if TYPE_CHECKING:
    from ipmicra.lab.simulate.overlay import SplittingReport

PopulationOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        autocompletion=one_of(POPULATIONS),
        help="ts, king, or a matrix (.npz with rtt_ms, or King text); repeatable. Default: ts and king.",
    ),
]
SchemeOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        autocompletion=one_of(SPLITTING_SCHEMES),
        help="DL, MPP, NH, GH, MP, NS, or two joined as MP_30_NH; repeatable. Default: all.",
    ),
]
HalfOption = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        autocompletion=one_of(HALVES),
        help="Half of a zone that a new crawler takes: holding (where it is) or random.",
    ),
]
CutOption = Annotated[
    str,
    typer.Option(metavar="NAME", autocompletion=one_of(CUTS), help="Where NH and GH cut: middle or median."),
]


def splitting(
    population: PopulationOption = None,
    matrix: Annotated[
        list[Path] | None,
        typer.Option(
            "--matrix", metavar="FILE", help="Round trips of your own, as for --population; repeatable."
        ),
    ] = None,
    scheme: SchemeOption = None,
    seeds: SeedsOption = 5,
    half: HalfOption = "holding",
    migration: Annotated[
        bool, typer.Option(help="Whether sites move with their part of a split zone.")
    ] = True,
    cut: CutOption = "middle",
    moved: Annotated[
        float, typer.Option(help="Share of hosts moved by the bounds of the space.", min=0, max=0.5)
    ] = 0.05,
    torus: Annotated[bool, typer.Option("--torus", help="Let opposite ends of the space touch.")] = False,
    claims: Annotated[
        bool, typer.Option("--claims", help="Print the paper's claims and our measurements instead.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="DIR", help="Draw the papers' figures into this folder.")
    ] = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Split a coordinate space among crawlers by each scheme.

    Measures distance, in-zone share, load diversity and hops.
    """
    from ipmicra.lab.experiments.splitting import SCHEME_NAMES
    from ipmicra.lab.simulate.overlay import Switches, simulate_splitting, splitting_options

    print_format = chosen(output_format, as_json)
    switches = Switches(half=half, cut=cut, moves_sites=migration, is_torus=torus)
    try:
        options = splitting_options(switches, moved)
    except InputError as error:
        raise typer.BadParameter(str(error)) from error
    names = [name.upper() for name in scheme] if scheme else list(SCHEME_NAMES)
    reports = [
        simulate_splitting(name, names, seeds, options, show_message)
        for name in [*(population or ()), *map(str, matrix or ())] or ["ts", "king"]
    ]
    if plot is not None:
        from ipmicra.lab.plots.splitting import draw_splitting

        for report in reports:
            for file in draw_splitting(plot, report.population, report.stages, report.outcomes):
                say(f"drew {file}")
    _print(reports, print_format, is_claims=claims)


def _print(reports: list[SplittingReport], print_format: Format, *, is_claims: bool) -> None:
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
        if is_claims:
            print_claims(f"{report.population} ({options})", own)
            continue
        columns = [name for name in own[0] if name not in {"population", "options"}]
        print_table(
            f"{report.population} ({options})", columns, [[figure(one[c]) for c in columns] for one in own]
        )
        typer.echo()
