"""`ipmicra assign`: sites to crawlers, near and fair."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ipmicra.app.tables import request_of
from ipmicra.cli.completion import BACKENDS, SPLITTING_SCHEMES, one_of
from ipmicra.cli.options import (
    TARGETS_HELP,
    Format,
    FormatOption,
    HierarchyOption,
    JsonOption,
    RulesOption,
    StoreOption,
    chosen,
    connection_of,
    home_of,
)
from ipmicra.cli.output import DONE_IN_PART, print_rows, say
from ipmicra.cli.tables import (
    ColumnOption,
    OutputOption,
    PrefixOption,
    refuse_table_options,
    write_table,
)
from ipmicra.errors import InputError
from ipmicra.model.quantities import plural

if TYPE_CHECKING:
    from ipmicra.app.assign.assign import AssignRequest
    from ipmicra.app.assign.backends import AssignReport
    from ipmicra.app.assign.problem import ZoneWishes
    from ipmicra.app.assign.run import Noted
    from ipmicra.app.connect.commands import Connection
    from ipmicra.app.home import Home
    from ipmicra.app.tables import TableReport, TableRequest, Watch

COLUMNS = ("host", "vantage", "piece", "crawler", "reason", "rule", "expected_ms", "pages", "step")
CRAWLED_COLUMNS = ("host", "piece", "pages", "crawls", "crawled", "due")

SeedsArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="[SEED...]", help=TARGETS_HELP),
]
BackendOption = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        autocompletion=one_of(BACKENDS),
        help="can, lbi, lbi-rtt, lbi-split or balance (the nearest crawler with room).",
    ),
]
EvennessOption = Annotated[
    float | None,
    typer.Option(
        metavar="E",
        min=0,
        max=1,
        show_default="1",
        help="Of balance, nearness against load: no crawler gets more than 1/E of its fair share. 1: equal "
        "load; 0: the nearest crawler, whatever its load. Valid until changed.",
    ),
]
PagesOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Pages per host: CSV of host,pages; default: what crawlers last reported."
    ),
]
UrlsOption = Annotated[
    list[Path] | None,
    typer.Option(metavar="FILE", help="Known URLs or sitemaps, used to divide large sites; repeatable."),
]
PiecesOption = Annotated[int, typer.Option(min=1, help="Most pieces of one site.")]
EveryOption = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Crawl these sites again every 12h, 7d, 2w ...; valid until changed."),
]
CrawledOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Reports of crawlers: CSV of host,pages,crawled[,piece,started,every], or - for standard input.",
    ),
]
DueOption = Annotated[
    bool,
    typer.Option("--due", help="Assign the sites that are due now, and print only what has to be done."),
]
SchemeOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        autocompletion=one_of(SPLITTING_SCHEMES),
        help="Zones (can, lbi…): how they are split: MP, DL, MPP, NH, GH, NS, or two of them as in MP_30_NH. "
        "[default: as before; MP]",
    ),
]
DimensionsOption = Annotated[
    int | None,
    typer.Option(help="Zones: dimensions of coordinate space. [default: as before; 3]"),
]
MovedOption = Annotated[
    float | None,
    typer.Option(
        help="Zones: share of known coordinates outside the bounds of the space, from which λ follows. "
        "[default: as before; 0.05]",
    ),
]
OverloadOption = Annotated[
    float | None,
    typer.Option(
        help="lbi…: sites by capacity above which a crawler without --max-pieces hands on. [default: 11]",
    ),
]
HopsOption = Annotated[
    int | None,
    typer.Option(help="lbi…: times that a site is handed on at most. [default: 3]"),
]
WeightOption = Annotated[
    float | None,
    typer.Option(
        help="lbi…: what distance counts beside load, 0 to 1. [default: 0; lbi-rtt: 0.5]",
    ),
]
DownloadTimeOption = Annotated[
    bool,
    typer.Option(
        "--download-time",
        help="Zones: add the download time of main pages to round trips (`ipmicra probe --download`).",
    ),
]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Do not save anything.")]


def assign(
    context: typer.Context,
    seeds: SeedsArgument = None,
    backend: BackendOption = "balance",
    evenness: EvennessOption = None,
    pages: PagesOption = None,
    urls: UrlsOption = None,
    pieces: PiecesOption = 4,
    every: EveryOption = None,
    crawled: CrawledOption = None,
    due: DueOption = False,
    dry_run: DryRunOption = False,
    scheme: SchemeOption = None,
    dimensions: DimensionsOption = None,
    moved: MovedOption = None,
    overload: OverloadOption = None,
    hops: HopsOption = None,
    distance_weight: WeightOption = None,
    download_time: DownloadTimeOption = False,
    rules: RulesOption = None,
    output: OutputOption = None,
    column: ColumnOption = None,
    prefix: PrefixOption = "",
    hierarchy_file: HierarchyOption = None,
    store: StoreOption = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Assign each site to a near crawler that has room for it.

    Uses the samples and delegations in the store. Unmeasured round trips are estimated: with a
    hierarchy by the model of `ipmicra delegate`, else by coordinates if crawlers have measured each other.
    Large sites are divided into pieces. What was assigned before stays with its crawler where possible.
    The evenness weighs load against nearness, and the output says what it costs; another one than before
    assigns the sites anew, which --dry-run lets you try.
    can and lbi… assign by zones, after `ipmicra crawler measure`; reasons say what coordinates rest on.

    Sites that are new or due must be submitted to their crawler: see the column `step`. Crawlers report what
    they have done through --crawled, which also sets the pages that count as load. --due is for a timer.
    With -o, a table of hosts is written with their owners; nobody is probed and nothing is stored.
    """
    from ipmicra.app.assign.assign import AssignRequest
    from ipmicra.app.assign.run import seconds_of

    request = AssignRequest(
        backend=backend,
        evenness=evenness,
        pages=pages,
        urls=tuple(urls or ()),
        pieces=pieces,
        is_kept=not dry_run,
        every_s=seconds_of(every),
        is_due_only=due,
        zones=_wishes(scheme, dimensions, moved, overload, hops, distance_weight, download_time),
    )
    home = home_of(context, store=store, hierarchy=hierarchy_file, rules=rules)
    table = None if output is None else request_of(seeds or [], output, column, prefix)
    if table is None:
        refuse_table_options(column, prefix)
    _carry_out(context, home, request, table, crawled, chosen(output_format, as_json))


def _carry_out(
    context: typer.Context,
    home: Home,
    request: AssignRequest,
    table: TableRequest | None,
    crawled: Path | None,
    print_format: Format,
) -> None:
    """Assign a table, or seeds: by a coordinator if one holds the home, else here."""
    seeds: list[str] = context.params["seeds"] or []
    if table is not None:
        _assign_table(home, table, request, print_format)
        return
    connection = connection_of(context, home, ("seeds", "evenness", "every", "dry_run"))
    if connection is not None:
        _assign_remotely(connection, seeds, request, print_format)
    else:
        _run(home, seeds, request, crawled, print_format)


def _assign_table(home: Home, wanted: TableRequest, request: AssignRequest, print_format: Format) -> None:
    """Write a whole table with the owner of each host; nothing is stored."""
    from ipmicra.app.assign.assign import AssignRequest
    from ipmicra.app.assign.table import assign_table

    if replace(request, is_kept=True) != AssignRequest():
        raise InputError(
            "with -o hosts are assigned by subnet and nothing is stored: leave other options out"
        )
    held: dict[str, int] = {}

    def work(wanted: TableRequest, watch: Watch) -> TableReport:
        with home.open_store() as store, home.open_hierarchy() as hierarchy:
            report, found = assign_table(store, hierarchy, wanted, watch)
        held.update(found)
        return report

    write_table(wanted, work, print_format)
    for name, count in sorted(held.items()):
        say(f"{name}: {count:,} hosts")


def _wishes(
    scheme: str | None,
    dimensions: int | None,
    moved: float | None,
    overload: float | None,
    hops: int | None,
    distance_weight: float | None,
    download_time: bool,
) -> ZoneWishes:
    """Put together what a user wants of zones."""
    from ipmicra.app.assign.problem import ZoneWishes

    return ZoneWishes(
        scheme=scheme,
        dimensions=dimensions,
        moved=moved,
        overload=overload,
        hops=hops,
        distance_weight=distance_weight,
        download_time=download_time or None,
    )


def _run(
    home: Home, seeds: list[str], request: AssignRequest, crawled: Path | None, print_format: Format
) -> None:
    """Take note of what was crawled, assign what was asked for, and print both."""
    from ipmicra.app.assign.run import Assigning

    if crawled is not None and not request.is_kept:
        raise InputError("--crawled and --dry-run exclude each other: reports of crawlers are always saved")
    if not seeds and not request.is_due_only and crawled is None:
        raise InputError("nothing to assign: name seeds, or --due for what is due, or --crawled FILE")
    with Assigning.open(home, seeds, request) as assigning:
        noted = assigning.note_crawled(crawled) if crawled is not None else None
        if noted and not seeds and not request.is_due_only:
            _print_noted(noted, print_format)
            raise typer.Exit(DONE_IN_PART if noted.refused else 0)
        report, unresolved = assigning.assign()
    if noted:
        _say_noted(noted)
    _print(report, print_format)
    for seed in unresolved:
        say(f"{seed.text}: {seed.reason}")
    if report.unassigned or unresolved or (noted and noted.refused):
        raise typer.Exit(DONE_IN_PART if report.unassigned < len(report.assignments) else 1)


def _assign_remotely(
    connection: Connection, seeds: list[str], request: AssignRequest, print_format: Format
) -> None:
    from ipmicra.app.connect.commands import assign_remotely

    if not seeds:
        raise InputError("nothing to assign: name seeds")
    found = assign_remotely(connection, seeds, request.evenness, request.every_s, is_kept=request.is_kept)
    records = found["assignments"]
    print_rows(records, COLUMNS, print_format)
    for finding in found["findings"]:
        say(finding)
    for seed in found["unresolved"]:
        say(f"{seed['seed']}: {seed['reason']}")
    unassigned = sum(one["crawler"] is None for one in records)
    if unassigned or found["unresolved"]:
        raise typer.Exit(DONE_IN_PART if unassigned < len(records) else 1)


def _print_noted(noted: Noted, print_format: Format) -> None:
    from ipmicra.app.describe.assignment import describe_recrawl

    print_rows([describe_recrawl(one) for one in noted.changed], CRAWLED_COLUMNS, print_format)
    _say_noted(noted)


def _say_noted(noted: Noted) -> None:
    for finding in noted.refused:
        say(finding)
    say(f"{plural(noted.count, 'crawl')} recorded, {len(noted.refused)} refused")


def _print(report: AssignReport, print_format: Format) -> None:
    from ipmicra.app.describe.assignment import describe_assignment, describe_turn

    turns = [describe_turn(turn) for turn in report.turns]
    records = [describe_assignment(one) | turn for one, turn in zip(report.assignments, turns, strict=True)]
    print_rows(records, COLUMNS, print_format)
    for finding in report.findings:
        say(finding)
    if report.unassigned:
        say(f"{report.unassigned} of {len(records)} without a crawler")
