"""`ipmicra simulate coordinates`: the nearest crawler, predicted from landmarks' samples."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ipmicra.cli.completion import COORDINATE_METHODS, one_of
from ipmicra.cli.options import FormatOption, JsonOption, chosen
from ipmicra.cli.output import print_rows, say, show_message
from ipmicra.cli.simulate.shared import SeedsOption, figure
from ipmicra.model.quantities import plural

FLEET = (60, 20)
"""Crawlers, and how many of them are landmarks."""
SMALL_FLEET = (18, 8)
"""Ten crawlers and the eight nodes of the coordinate service."""
MatrixOption = Annotated[
    Path | None,
    typer.Option(
        "--matrix",
        metavar="FILE",
        help="Round trips: .npz with rtt_ms, or King text. Default: a King-like world for each seed.",
    ),
]
MethodOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        autocompletion=one_of(COORDINATE_METHODS),
        help="gnp, gnp-height, gnp-7d, vivaldi, ridge or blend; repeatable. Default: all.",
    ),
]


def coordinates(
    matrix: MatrixOption = None,
    small_test: Annotated[
        bool, typer.Option("--small-test", help="Use the world of the paper's small test (section 5.1).")
    ] = False,
    crawlers: Annotated[
        int | None,
        typer.Option(
            help="Nodes that are crawlers; the others are hosts. Default: 60; small test: 18.",
            show_default=False,
        ),
    ] = None,
    landmarks: Annotated[
        int | None,
        typer.Option(
            help="Number of crawlers that measure the hosts. Default: 20; small test: 8.", show_default=False
        ),
    ] = None,
    random_landmarks: Annotated[
        bool, typer.Option("--random-landmarks", help="Choose the landmarks at random.")
    ] = False,
    method: MethodOption = None,
    seeds: SeedsOption = 5,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", metavar="DIR", help="Draw the relative errors (figures 8 and 13) into this folder."
        ),
    ] = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Predict each host's nearest crawler from a few samples.

    Only landmarks measure the hosts; each method of coordinates predicts the rest.
    """
    from ipmicra.lab.experiments.coordinates import Trial
    from ipmicra.lab.simulate.overlay import METHODS, CoordinatesRun, simulate_coordinates

    print_format = chosen(output_format, as_json)
    if matrix and small_test:
        raise typer.BadParameter("--small-test has a world of its own: leave --matrix out")
    usual = SMALL_FLEET if small_test else FLEET
    trial = Trial(
        crawlers=crawlers or usual[0], landmarks=landmarks or usual[1], chooses_landmarks=not random_landmarks
    )
    run = CoordinatesRun(
        matrix=matrix, is_small=small_test, plot=plot, methods=method or METHODS, seeds=seeds, trial=trial
    )
    records, files = simulate_coordinates(run, show_message)
    for file in files:
        say(f"drew {file}")
    columns = [name for name in records[0] if name not in {"seeds", "crawlers", "landmarks"}]
    world = matrix.name if matrix else "small test" if small_test else "King-like"
    title = f"{world}: {trial.crawlers} crawlers, {trial.landmarks} landmarks, {plural(seeds, 'seed')}"
    print_rows(records, columns, print_format, title=title, cell=figure)
