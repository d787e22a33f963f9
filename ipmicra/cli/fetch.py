"""`ipmicra fetch`: download dumps."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ipmicra.cli.completion import REGISTRIES, one_of
from ipmicra.cli.output import (
    DONE_IN_PART,
    Format,
    FormatOption,
    JsonOption,
    chosen,
    print_records,
    print_table,
    say,
)
from ipmicra.errors import InputError
from ipmicra.model.dump_source import DumpKind, DumpSource

if TYPE_CHECKING:
    from ipmicra.app.fetch import DumpChoice, FetchReport
    from ipmicra.edge.fetch.options import Progress as FetchProgress

FAILED, INTERRUPTED = 1, 130
"""Exit codes; 0 is done, 2 wrong usage."""

COLUMNS = ("status", "name", "registry", "kind", "bytes_total", "path", "url", "note")
"""What a table shows of a row, as far as the row has it."""


class KindOption(StrEnum):
    """What `--kind` takes."""

    WHOIS = "whois"
    STATISTICS = "statistics"
    IANA = "iana"
    ALL = "all"


def fetch(
    registries: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="REGISTRY",
            autocompletion=one_of(REGISTRIES),
            help="afrinic, apnic, arin, lacnic, ripe or iana, or the name of a dump; all if none is named.",
        ),
    ] = None,
    to: Annotated[
        Path, typer.Option("--to", metavar="DIR", file_okay=False, help="Folder for the dumps.")
    ] = Path("rir_dumps"),
    kind: Annotated[KindOption, typer.Option(help="Which dumps.")] = KindOption.ALL,
    base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="A mirror that has each dump as URL/NAME.")
    ] = None,
    only_list: Annotated[bool, typer.Option("--list", help="Show the dumps, download nothing.")] = False,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Download the registries' dumps, only what changed.

    What was cut short goes on where it stopped when the same command is run again.

    ARIN's bulk dump needs an API key of ARIN's in IPMICRA_ARIN_KEY.
    """
    print_format = chosen(output_format, as_json)
    from ipmicra.app.fetch import choose  # loaded here: other commands need no HTTP client

    try:
        chosen_kind = None if kind is KindOption.ALL else DumpKind(kind.value)
        choice = choose(registries or (), kind=chosen_kind, base_url=base_url)
    except InputError as error:
        raise typer.BadParameter(str(error)) from error
    if only_list:
        _print_rows([_source_row(source) for source in (*choice.sources, *choice.left_out)], print_format)
        return
    report = _run(choice.sources, to)
    _print_rows(_report_rows(choice, report), print_format)
    _explain(choice, report)
    if report.failures:
        raise typer.Exit(DONE_IN_PART if report.results else FAILED)


def _run(sources: Sequence[DumpSource], folder: Path) -> FetchReport:
    """Download, with bars on a terminal."""
    from ipmicra.app.fetch import fetch_many

    try:
        with _bars(sources) as show:
            return fetch_many(sources, folder, sleep=time.sleep, progress=show)
    except KeyboardInterrupt:
        say(f"interrupted: what was received is kept in {folder}; run the same command to go on")
        raise typer.Exit(INTERRUPTED) from None


@contextmanager
def _bars(sources: Sequence[DumpSource]) -> Iterator[Callable[[FetchProgress], None] | None]:
    """Draw a bar for each dump on standard error, if that is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TaskID,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    width = max(len(source.name) for source in sources)
    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(TextColumn("{task.description}"), *columns, console=Console(stderr=True)) as bars:
        tasks: dict[str, TaskID] = {}

        def show(progress: FetchProgress) -> None:
            """Move the bar of a dump."""
            if progress.name not in tasks:
                tasks[progress.name] = bars.add_task(escape(progress.name.ljust(width)), total=None)
            bars.update(tasks[progress.name], completed=progress.bytes_done, total=progress.bytes_total)

        yield show


def _source_row(source: DumpSource) -> dict[str, Any]:
    """Describe where a dump comes from; where a key goes there is a mark, never the key."""
    return {
        "name": source.name,
        "registry": source.registry.label,
        "kind": source.kind.value,
        "url": source.url,
        "checksum_url": source.checksum_url,
        "needs_key": source.needs_key,
        "note": source.note,
    }


def _report_rows(choice: DumpChoice, report: FetchReport) -> list[dict[str, Any]]:
    """Describe what became of each dump."""
    rows = {source.name: _row(source, "skipped") for source in (*choice.sources, *choice.left_out)}
    for result in report.results:
        rows[result.path.name] |= {
            "status": result.status,
            "path": str(result.path),
            "bytes_received": result.bytes_received,
            "bytes_total": result.bytes_total,
            "checksum": result.checksum,
        }
    for failure in report.failures:
        rows[failure.source.name] |= {"status": "failed", "reason": str(failure.error)}
    return list(rows.values())


def _row(source: DumpSource, status: str) -> dict[str, Any]:
    """Start the row of a dump."""
    empty = {"path": None, "bytes_received": 0, "bytes_total": None, "checksum": None, "reason": None}
    named = {"name": source.name, "registry": source.registry.label, "kind": source.kind.value}
    return named | {"status": status} | empty


def _print_rows(rows: list[dict[str, Any]], print_format: Format) -> None:
    """Print rows, in a table only what tells them apart."""
    if print_format is Format.TABLE:
        columns = [name for name in COLUMNS if any(name in row for row in rows)]
        print_table("", columns, [[row.get(name) for name in columns] for row in rows])
    else:
        print_records(rows, print_format)


def _explain(choice: DumpChoice, report: FetchReport) -> None:
    """Say on standard error what is missing and why."""
    for source in choice.left_out:
        say(f"left out: {source.name}: set {source.needs_key} to fetch it")
    for failure in report.failures:
        say(f"failed: {failure.source.name}: {failure.error}")
    if report.failures:
        say("run the same command to go on with what is missing")
