"""`ipmicra simulate variation`: round trips against download rates."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ipmicra.cli.options import Format, FormatOption, JsonOption, chosen
from ipmicra.cli.output import print_rows, say
from ipmicra.cli.simulate.shared import figure, print_claims


def variation(
    measurements: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Your own: a table with crawler, host, time, rtt_ms and rate, and ping_ms if known. "
            "Default: an invented day.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed of the invented day.")] = 1,
    claims: Annotated[
        bool, typer.Option("--claims", help="Print the paper's claims and our measurements instead.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="DIR", help="Draw figures 8 and 10 into this folder.")
    ] = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare how round trips and download rates vary.

    Coefficients of variation per host, between crawlers and over time; and HTTP's round trips by ping's.
    """
    from ipmicra.lab.simulate.variation import simulate_variation

    print_format = chosen(output_format, as_json)
    rows, claimed, files = simulate_variation(measurements, seed, plot)
    for file in files:
        say(f"drew {file}")
    if claims and print_format is Format.TABLE:
        print_claims(measurements.name if measurements else "an invented day", claimed)
        return
    shown = claimed if claims else rows
    columns = list(dict.fromkeys(name for row in shown for name in row))
    title = measurements.name if measurements else "an invented day"
    print_rows(
        [{name: row.get(name) for name in columns} for row in shown],
        columns,
        print_format,
        title=title,
        cell=figure,
    )
