"""`ipmicra assign`: sites to crawlers, near and fair."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ipmicra.cli.completion import BACKENDS, one_of
from ipmicra.cli.options import (
    TARGETS_HELP,
    Format,
    FormatOption,
    HierarchyOption,
    JsonOption,
    StoreOption,
    chosen,
    home_of,
)
from ipmicra.cli.output import DONE_IN_PART, print_rows, say
from ipmicra.errors import InputError

if TYPE_CHECKING:
    from ipmicra.app.assign.backends import AssignReport
    from ipmicra.app.assign.run import Noted

COLUMNS = ("host", "piece", "crawler", "reason", "expected_ms", "pages", "step")
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
    hierarchy_file: HierarchyOption = None,
    store: StoreOption = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Assign each site to a near crawler that has room for it.

    Uses the samples and delegations in the store. Unmeasured round trips are estimated: with a
    hierarchy by the model of `ipmicra delegate`, else by coordinates if crawlers have measured each other.
    Large sites are divided into pieces. What was assigned before stays with its crawler where possible.
    The evenness says how much load counts against nearness, and the output what that costs; another one
    than before assigns the sites anew, which --dry-run lets you try.

    Sites that are new or due must be submitted to their crawler: see the column `step`. Crawlers report what
    they have done through --crawled, which also sets the pages that count as load. --due is for a timer.
    """
    from ipmicra.app.assign.assign import AssignRequest
    from ipmicra.app.assign.run import Assigning, seconds_of

    print_format = chosen(output_format, as_json)
    if crawled is not None and dry_run:
        raise InputError("--crawled and --dry-run exclude each other: reports of crawlers are always saved")
    if not seeds and not due and crawled is None:
        raise InputError("nothing to assign: name seeds, or --due for what is due, or --crawled FILE")
    request = AssignRequest(
        backend=backend,
        evenness=evenness,
        pages=pages,
        urls=tuple(urls or ()),
        pieces=pieces,
        is_kept=not dry_run,
        every_s=seconds_of(every),
        is_due_only=due,
    )
    home = home_of(context, store=store, hierarchy=hierarchy_file)
    with Assigning.open(home, seeds or [], request) as assigning:
        noted = assigning.note_crawled(crawled) if crawled is not None else None
        if noted and not seeds and not due:
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


def _print_noted(noted: Noted, print_format: Format) -> None:
    from ipmicra.app.describe.assignment import describe_recrawl

    print_rows([describe_recrawl(one) for one in noted.changed], CRAWLED_COLUMNS, print_format)
    _say_noted(noted)


def _say_noted(noted: Noted) -> None:
    for finding in noted.refused:
        say(finding)
    say(f"{noted.count} crawls recorded, {len(noted.refused)} refused")


def _print(report: AssignReport, print_format: Format) -> None:
    from ipmicra.app.describe.assignment import describe_assignment, describe_turn

    turns = [describe_turn(turn) for turn in report.turns]
    records = [describe_assignment(one) | turn for one, turn in zip(report.assignments, turns, strict=True)]
    print_rows(records, COLUMNS, print_format)
    for finding in report.findings:
        say(finding)
    if report.unassigned:
        say(f"{report.unassigned} of {len(records)} without a crawler")
