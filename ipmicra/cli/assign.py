"""`ipmicra assign`: sites to crawlers, near and fair."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ipmicra.cli.assign_options import (
    BackendOption,
    CrawledOption,
    DryRunOption,
    DueOption,
    EveryOption,
    PagesOption,
    PiecesOption,
    SeedsArgument,
    UrlsOption,
)
from ipmicra.cli.hierarchy_option import HierarchyOption, hierarchy_if_there
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
from ipmicra.errors import InputError

if TYPE_CHECKING:
    from ipmicra.app.assign.backends import AssignReport
    from ipmicra.edge.store.store import Store

COLUMNS = ("host", "piece", "crawler", "reason", "expected_ms", "pages", "step")
CRAWLED_COLUMNS = ("host", "piece", "pages", "crawls", "crawled", "due")


def assign(
    context: typer.Context,
    seeds: SeedsArgument = None,
    backend: BackendOption = "balance",
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
    """Return each site its crawler, near and with room for it.

    Goes by the samples and delegations in the store. What nobody measured is estimated: with a hierarchy by
    the model of `ipmicra delegate`, else by coordinates if crawlers have measured each other. Large sites
    are cut into pieces. What was assigned before stays where it can.

    What is new or due is to be submitted to its crawler: `step` says so. Crawlers tell what they have done
    by --crawled, which also sets the pages that count as load; --due is for a timer.
    """
    from ipmicra.app.assign.assign import AssignRequest, assign_seeds
    from ipmicra.edge.files.crawled import read_interval
    from ipmicra.edge.files.seeds import read_seeds, redacted
    from ipmicra.edge.store.lock import one_at_a_time
    from ipmicra.edge.store.store import Store

    print_format = chosen(output_format, as_json)
    if crawled is not None and dry_run:
        raise InputError("--crawled and --dry-run exclude each other: what crawlers say is always kept")
    if not seeds and not due and crawled is None:
        raise InputError("nothing to assign: name seeds, or --due for what is due, or --crawled FILE")
    request = AssignRequest(
        texts=list(read_seeds(seeds or [])),
        backend=backend,
        pages=pages,
        urls=tuple(urls or ()),
        pieces=pieces,
        is_kept=not dry_run,
        every_s=read_interval(every) if every else None,
        is_due_only=due,
    )
    url = store_url(context, store)
    named = redacted(*(seeds or ()))
    lock = nullcontext() if dry_run else one_at_a_time(url, "assign", f"ipmicra assign {named}".rstrip())
    with lock, Store.open(url) as opened, hierarchy_if_there(context, hierarchy_file) as hierarchy:
        refused = _noted(opened, crawled, print_format, is_all=not seeds and not due) if crawled else []
        if crawled and not seeds and not due:
            raise typer.Exit(DONE_IN_PART if refused else 0)
        report, unresolved = assign_seeds(opened, request, hierarchy)
    _print(report, print_format)
    for seed in unresolved:
        say(f"{seed.text}: {seed.reason}")
    if report.unassigned or unresolved or refused:
        raise typer.Exit(DONE_IN_PART if report.unassigned < len(report.assignments) else 1)


def _noted(store: Store, path: Path, print_format: Format, *, is_all: bool) -> list[str]:
    """Keep what crawlers say; print it if that is all there is to do."""
    from ipmicra.app.assign.recrawl import describe_recrawl, note_crawled
    from ipmicra.edge.files.crawled import read_crawled

    words, findings = read_crawled(path)
    changed, refused = note_crawled(store, words)
    if is_all:
        _print_records([describe_recrawl(one) for one in changed], CRAWLED_COLUMNS, print_format)
    for finding in (*findings, *refused):
        say(finding)
    say(f"{len(words) - len(refused)} crawls noted, {len(findings) + len(refused)} refused")
    return [*findings, *refused]


def _print(report: AssignReport, print_format: Format) -> None:
    from ipmicra.app.assign.findings import describe_assignment
    from ipmicra.app.assign.recrawl import describe_turn

    turns = [describe_turn(turn) for turn in report.turns]
    records = [describe_assignment(one) | turn for one, turn in zip(report.assignments, turns, strict=True)]
    _print_records(records, COLUMNS, print_format)
    for finding in report.findings:
        say(finding)
    if report.unassigned:
        say(f"{report.unassigned} of {len(records)} without a crawler")


def _print_records(records: list[dict[str, Any]], columns: tuple[str, ...], print_format: Format) -> None:
    if print_format is Format.TABLE:
        print_table("", columns, [[_cell(record[name]) for name in columns] for record in records])
    else:
        print_records(records, print_format)


def _cell(value: object) -> object:
    return f"{value:.1f}" if isinstance(value, float) else value
