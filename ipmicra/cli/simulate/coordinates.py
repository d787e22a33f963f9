"""`ipmicra simulate coordinates`: the nearest crawler, predicted from landmarks' samples."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ipmicra.cli.completion import COORDINATE_METHODS, one_of
from ipmicra.cli.options import FormatOption, JsonOption, chosen
from ipmicra.cli.output import print_rows, show_message
from ipmicra.cli.simulate.shared import SeedsOption, figure


def coordinates(
    matrix: Annotated[
        Path, typer.Option("--matrix", metavar="FILE", help="Round trips: .npz with rtt_ms, or King text.")
    ],
    crawlers: Annotated[int, typer.Option(help="Nodes that are crawlers; the others are hosts.")] = 60,
    landmarks: Annotated[int, typer.Option(help="Number of crawlers that measure the hosts.")] = 20,
    random_landmarks: Annotated[
        bool, typer.Option("--random-landmarks", help="Choose the landmarks at random.")
    ] = False,
    method: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            autocompletion=one_of(COORDINATE_METHODS),
            help="gnp, gnp-height, gnp-7d, vivaldi, ridge or blend; repeatable. Default: all.",
        ),
    ] = None,
    seeds: SeedsOption = 5,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Predict each host's nearest crawler from a few samples.

    Only landmarks measure the hosts; each method of coordinates predicts the rest.
    """
    from ipmicra.lab.experiments.coordinates import Trial
    from ipmicra.lab.simulate.overlay import METHODS, CoordinatesRun, simulate_coordinates

    print_format = chosen(output_format, as_json)
    trial = Trial(crawlers=crawlers, landmarks=landmarks, chooses_landmarks=not random_landmarks)
    run = CoordinatesRun(matrix=matrix, methods=method or METHODS, seeds=seeds, trial=trial)
    records = simulate_coordinates(run, show_message)
    columns = [name for name in records[0] if name not in {"seeds", "crawlers", "landmarks"}]
    title = f"{matrix.name}: {crawlers} crawlers, {landmarks} landmarks, {seeds} seeds"
    print_rows(records, columns, print_format, title=title, cell=figure)
