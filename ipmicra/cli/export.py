"""`ipmicra export`: who crawls what, as files of other crawlers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ipmicra.cli.completion import EXPORTS, one_of
from ipmicra.cli.options import StoreOption, connection_of, home_of
from ipmicra.cli.output import DONE_IN_PART, say
from ipmicra.errors import InputError

if TYPE_CHECKING:
    from ipmicra.app.export.export import ExportRequest
    from ipmicra.app.export.scope import LeftOut
    from ipmicra.app.export.sources import Source

NOTHING = "there are no sites: run `ipmicra delegate SEEDS` or `ipmicra assign SEEDS` first"


def export(
    context: typer.Context,
    program: Annotated[
        str,
        typer.Option(
            "--for",
            metavar="NAME",
            autocompletion=one_of(EXPORTS),
            help="urlfrontier, stormcrawler, heritrix, nutch, browsertrix or plain; or one format: csv, "
            "jsonl, parquet, hosts, seeds, heritrix-map …",
        ),
    ],
    seeds: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SEED...]", help="Only these: host names, URLs, files of them, or -; default: all."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="PATH",
            help="Folder for the files, or name of the only one; default: standard output for one file.",
            show_default=False,
        ),
    ] = None,
    crawler: Annotated[str | None, typer.Option(metavar="NAME", help="Only what this crawler owns.")] = None,
    proxy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CRAWLER=URL",
            help="browsertrix: the proxy beside a crawler; default: its label `proxy`. Repeatable.",
        ),
    ] = None,
    store: StoreOption = None,
) -> None:
    """Write who crawls what for another crawler.

    Owners are those of `ipmicra assign`, else of `ipmicra delegate`. What a format cannot hold is left out,
    and standard error says what and why. Files are replaced when all of them are complete.
    """
    from ipmicra.app.export.export import ExportRequest, open_source, read_proxies

    request = ExportRequest(
        program=program, seeds=seeds or (), crawler=crawler, proxies=read_proxies(proxy or ())
    )
    home = home_of(context, store=store)
    connection = connection_of(context, home, ("program", "seeds", "output", "crawler", "proxy"))
    with open_source(home, connection) as source:
        left_out = _print(source, request) if output is None else _write(source, request, output)
    for line in left_out.lines():
        say(line)
    if left_out.count:
        raise typer.Exit(DONE_IN_PART)


def _print(source: Source, request: ExportRequest) -> LeftOut:
    from ipmicra.app.export.export import export_stream

    if request.program == "parquet" and sys.stdout.isatty():
        raise InputError("Parquet is binary: name a file with -o")
    pieces, left_out = export_stream(source, request)
    for piece in pieces:
        typer.echo(piece, nl=False)
    return left_out


def _write(source: Source, request: ExportRequest, output: Path) -> LeftOut:
    from ipmicra.app.export.export import export_files

    report = export_files(source, request, output)
    files = str(report.files[0]) if len(report.files) == 1 else f"{len(report.files)} files in {output}"
    say(f"{report.sites:,} sites: {files}" if report.sites else f"{NOTHING}; wrote {files}")
    return report.left_out
