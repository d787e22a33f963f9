"""`ipmicra fetch`: download dumps."""

from __future__ import annotations

import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ipmicra.cli.completion import REGISTRIES, one_of
from ipmicra.cli.options import Format, FormatOption, JsonOption, chosen
from ipmicra.cli.output import DONE_IN_PART, Record, print_rows, progress_bar, say
from ipmicra.errors import InputError
from ipmicra.model.dump_source import DumpKind

if TYPE_CHECKING:
    from ipmicra.app.fetch import DumpChoice, FetchReport

FAILED, INTERRUPTED = 1, 130
"""Exit codes; 0 is done, 2 wrong usage."""

COLUMNS = ("status", "name", "registry", "kind", "bytes_total", "path", "url", "note")
"""Columns of a table, as far as the rows have them."""


class KindOption(StrEnum):
    """Values of `--kind`."""

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
            help="afrinic, apnic, arin, lacnic, ripe, iana, or the name of a dump; default: all.",
        ),
    ] = None,
    to: Annotated[
        Path, typer.Option("--to", metavar="DIR", file_okay=False, help="Folder for the dumps.")
    ] = Path("rir_dumps"),
    kind: Annotated[KindOption, typer.Option(help="Kind of dumps.")] = KindOption.ALL,
    base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="Mirror that has each dump as URL/NAME.")
    ] = None,
    only_list: Annotated[bool, typer.Option("--list", help="List the dumps, download nothing.")] = False,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Download the registries' dumps, only what changed.

    An interrupted download resumes where it stopped when the same command is run again.

    ARIN's bulk dump needs an API key from ARIN in IPMICRA_ARIN_KEY.
    """
    from ipmicra.app.describe.dumps import describe_fetched, describe_source
    from ipmicra.app.fetch import choose

    print_format = chosen(output_format, as_json)

    try:
        chosen_kind = None if kind is KindOption.ALL else DumpKind(kind.value)
        choice = choose(registries or (), kind=chosen_kind, base_url=base_url)
    except InputError as error:
        raise typer.BadParameter(str(error)) from error
    if only_list:
        _print([describe_source(source) for source in choice.everything], print_format)
        return
    report = _run(choice, to)
    _print(describe_fetched(choice, report), print_format)
    _say_missing(choice, report)
    if report.failures:
        raise typer.Exit(DONE_IN_PART if report.results else FAILED)


def _run(choice: DumpChoice, folder: Path) -> FetchReport:
    """Download, with one bar per dump on a terminal."""
    from ipmicra.app.fetch import FetchProgress, fetch_many

    width = max(len(source.name) for source in choice.sources)
    try:
        with progress_bar(is_bytes=True, stays=True) as show:

            def progress(now: FetchProgress) -> None:
                show(now.name.ljust(width), now.bytes_done, now.bytes_total, key=now.name)

            return fetch_many(choice.sources, folder, sleep=time.sleep, progress=progress)
    except KeyboardInterrupt:
        say(f"interrupted: what was received is kept in {folder}; run the same command to resume")
        raise typer.Exit(INTERRUPTED) from None


def _print(rows: list[Record], print_format: Format) -> None:
    print_rows(rows, [name for name in COLUMNS if any(name in row for row in rows)], print_format)


def _say_missing(choice: DumpChoice, report: FetchReport) -> None:
    """Say on standard error what is missing and why."""
    for source in choice.left_out:
        say(f"left out: {source.name}: set {source.needs_key} to fetch it")
    for failure in report.failures:
        say(f"failed: {failure.source.name}: {failure.error}")
    if report.failures:
        say("run the same command again for what is missing")
