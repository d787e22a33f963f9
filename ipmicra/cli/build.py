"""`ipmicra build`: dumps to hierarchy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ipmicra.cli.options import Format, FormatOption, JsonOption, chosen, home_of
from ipmicra.cli.output import DONE_IN_PART, print_object, print_table, progress_bar, say
from ipmicra.model.foreign_text import printable
from ipmicra.model.quantities import plural

if TYPE_CHECKING:
    from ipmicra.app.build.build import BuildReport


def build(
    context: typer.Context,
    dumps: Annotated[
        list[Path],
        typer.Argument(metavar="DUMP...", help="Dumps of any registry, plain, .gz or .zip; in any order."),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="File to write; default: hierarchy.ipm in the home folder."
        ),
    ] = None,
    findings: Annotated[
        Path | None,
        typer.Option("--findings", metavar="FILE", help="Write every finding to this file, as JSON lines."),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", "-j", min=1, help="Dumps to read in parallel; default: one per two processors."
        ),
    ] = None,
    keep_going: Annotated[
        bool,
        typer.Option("--keep-going", help="Leave out dumps that cannot be read (exit code 3)."),
    ] = False,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Build a hierarchy from registry dumps.

    The kind of each dump is recognised by its content. Every paragraph is counted as kept, repaired,
    skipped or unknown. The old file is replaced only when the new one is complete.
    """
    from ipmicra.app.build.build import BuildOptions, BuildProgress
    from ipmicra.app.build.build import build as build_hierarchy
    from ipmicra.app.build.findings import write_findings
    from ipmicra.app.describe.hierarchy import describe_build

    print_format = chosen(output_format, as_json)
    home = home_of(context, hierarchy=output)
    with progress_bar(is_bytes=True) as show:

        def progress(now: BuildProgress) -> None:
            show(now.stage, now.done_bytes, now.total_bytes)

        options = BuildOptions(jobs=jobs, keep_going=keep_going)
        report = build_hierarchy(dumps, home.hierarchy, options, progress)
    if findings is not None:
        write_findings(report.findings, findings)
    if print_format is Format.TABLE:
        _print(report)
    else:
        print_object(describe_build(report), print_format)
    for failure in report.failures:
        say(f"left out: {failure}")
    if report.failures:
        raise typer.Exit(DONE_IN_PART)


def _print(report: BuildReport) -> None:
    """Print the tally of each dump, findings by reason, then what was built."""
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
        f"{plural(report.subnets, 'subnet')} of {plural(report.organisations, 'organisation')}, "
        f"{report.max_depth} deep; "
        f"{report.duplicates:,} duplicates, {report.overlaps:,} overlaps"
    )
    typer.echo(f"{printable(report.output)}: {report.size_bytes:,} bytes, edition {report.edition.label}")
