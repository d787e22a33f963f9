"""`ipmicra build`: dumps to hierarchy."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ipmicra.cli.hierarchy_option import hierarchy_path
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
from ipmicra.cli.quick_start import load_numba

if TYPE_CHECKING:
    from ipmicra.app.build.build import BuildProgress, BuildReport


def build(
    context: typer.Context,
    dumps: Annotated[
        list[Path],
        typer.Argument(metavar="DUMP...", help="Dumps of any registry, plain, .gz or .zip; in any order."),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Where to write; by default into the home folder."
        ),
    ] = None,
    findings: Annotated[
        Path | None,
        typer.Option(
            "--findings", metavar="FILE", help="Write every finding to this file, one JSON object a line."
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, help="Dumps read at the same time; by default one a processor."),
    ] = None,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Leave out dumps that cannot be read; exit with 3 then.")
    ] = False,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Build a hierarchy from registry dumps.

    The kind of each dump is recognised by its content. Every paragraph is counted as kept, repaired,
    skipped or unknown. The file appears when it is complete; until then the old one stays.
    """
    load_numba()
    from ipmicra.app.build.build import BuildOptions
    from ipmicra.app.build.build import build as build_hierarchy
    from ipmicra.app.describe import describe_build
    from ipmicra.edge.hierarchy_file import write_atomically

    print_format = chosen(output_format, as_json)
    with _progress_bar() as show:
        options = BuildOptions(jobs=jobs, keep_going=keep_going)
        report = build_hierarchy(dumps, hierarchy_path(context, output), options, show, say)
    if findings is not None:
        write_atomically(findings, _finding_lines(report))
    if print_format is Format.TABLE:
        print_report(report)
    else:
        print_object(describe_build(report), print_format)
    for failure in report.failures:
        say(f"left out: {failure}")
    if report.failures:
        raise typer.Exit(DONE_IN_PART)


@contextmanager
def _progress_bar() -> Iterator[Callable[[BuildProgress], None] | None]:
    """Draw a bar on standard error, if that is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        *columns,
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task("reading", total=None)

        def show(progress: BuildProgress) -> None:
            bar.update(
                task, description=progress.stage, completed=progress.done_bytes, total=progress.total_bytes
            )

        yield show


def _finding_lines(report: BuildReport) -> Iterator[bytes]:
    from ipmicra.app.describe import describe_finding

    for finding in report.findings:
        yield json.dumps(describe_finding(finding), ensure_ascii=False).encode() + b"\n"


def print_report(report: BuildReport) -> None:
    """Print tallies, then what was made."""
    fates = ("kept", "repaired", "skipped", "unknown")
    rows = [
        (
            dump.info.name,
            dump.info.dialect.value,
            dump.date,
            *(getattr(dump.tally, fate) for fate in fates),
        )
        for dump in report.dumps
    ]
    total = ("total", "", "", *(getattr(report.tally, fate) for fate in fates))
    print_table("", ("dump", "dialect", "newest", *fates), [*rows, total])
    typer.echo()
    counts = report.findings.counts()
    if counts:
        examples = {reason: report.findings.first_of(reason) for reason in counts}
        print_table(
            "",
            ("findings", "number", "for example"),
            [
                (
                    reason.text,
                    count,
                    f"{examples[reason].dump}:{examples[reason].line} {examples[reason].detail}",
                )
                for reason, count in counts.items()
            ],
        )
        typer.echo()
    typer.echo(
        f"{report.subnets:,} subnets of {report.organisations:,} organisations, {report.max_depth} deep; "
        f"{report.duplicates:,} duplicates, {report.overlaps:,} overlaps"
    )
    typer.echo(f"{report.output}: {report.size_bytes:,} bytes, edition {report.edition.label}")
