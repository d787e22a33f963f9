"""`ipmicra assign`: sites to crawlers, near and fair."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ipmicra.cli.hierarchy_option import HierarchyOption, hierarchy_path
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
from ipmicra.cli.store_option import StoreOption, store_url

if TYPE_CHECKING:
    from ipmicra.app.assigning import AssignReport

COLUMNS = ("host", "piece", "crawler", "reason", "expected_ms", "pages")


def assign(
    context: typer.Context,
    seeds: Annotated[
        list[str],
        typer.Argument(
            metavar="SEED...", help="Host names, URLs, addresses, files of them, or - for standard input."
        ),
    ],
    backend: Annotated[
        str, typer.Option(help="can, lbi, lbi-rtt, lbi-split or balance (the nearest crawler with room).")
    ] = "balance",
    pages: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Pages of hosts by the last crawl: CSV of host,pages.")
    ] = None,
    urls: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE", help="Known URLs or sitemaps, by which large sites are cut; repeatable."
        ),
    ] = None,
    pieces: Annotated[int, typer.Option(min=1, help="Pieces of one site at most.")] = 4,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Keep nothing.")] = False,
    hierarchy_file: HierarchyOption = None,
    store: StoreOption = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Give each site, or piece of a large one, its crawler; what was assigned before stays where it can.

    Goes by the samples and delegations in the store. What nobody measured is estimated: with a hierarchy by
    the model of `ipmicra delegate`, else by coordinates if crawlers have measured each other.
    """
    from ipmicra.app.assign_seeds import AssignRequest, assign_seeds
    from ipmicra.app.targets import read_texts
    from ipmicra.edge.hierarchy_file import Hierarchy
    from ipmicra.edge.store.store import Store

    print_format = chosen(output_format, as_json)
    request = AssignRequest(
        texts=list(read_texts(seeds)),
        backend=backend,
        pages=pages,
        urls=tuple(urls or ()),
        pieces=pieces,
        is_kept=not dry_run,
    )
    path = hierarchy_path(context, hierarchy_file)
    with Store.open(store_url(context, store)) as opened, ExitStack() as stack:
        is_there = hierarchy_file is not None or path.is_file()
        hierarchy = stack.enter_context(Hierarchy.open(path)) if is_there else None
        report, unresolved = assign_seeds(opened, request, hierarchy)
    _print(report, print_format)
    for text, reason in unresolved:
        say(f"{text}: {reason}")
    if report.unassigned or unresolved:
        raise typer.Exit(DONE_IN_PART if report.unassigned < len(report.assignments) else 1)


def _print(report: AssignReport, print_format: Format) -> None:
    from ipmicra.app.assign_findings import describe_assignment

    records = [describe_assignment(one) for one in report.assignments]
    if print_format is Format.TABLE:
        print_table("", COLUMNS, [[_cell(record[name]) for name in COLUMNS] for record in records])
    else:
        print_records(records, print_format)
    for finding in report.findings:
        say(finding)
    if report.unassigned:
        say(f"{report.unassigned} of {len(records)} without a crawler")


def _cell(value: object) -> object:
    return f"{value:.1f}" if isinstance(value, float) else value
