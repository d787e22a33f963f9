"""`ipmicra delegate`: the nearest crawler for each site of a list."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ipmicra.cli.completion import POLICIES, one_of
from ipmicra.cli.hierarchy_option import HierarchyOption, hierarchy_path
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
from ipmicra.cli.probe import Authority, TokenFile
from ipmicra.cli.reporting import check_report, report_written
from ipmicra.cli.service_extra import need_service
from ipmicra.cli.store_option import StoreOption, store_url
from ipmicra.cli.streaming import RecordStream
from ipmicra.model.sample import Rung

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from ipmicra.app.delegate.batch import BatchReport
    from ipmicra.app.delegate.options import DelegateOptions
    from ipmicra.edge.hierarchy_file import Hierarchy
    from ipmicra.edge.store.store import Store

COLUMNS = ("host", "address", "subnet", "crawler", "rtt_ms", "evidence", "probes")
WIDTHS = (32, 15, 20, 12, 8, 10, 6)
NOTES_SHOWN = 20

Seeds = Annotated[
    list[str],
    typer.Argument(
        metavar="SEEDS...", help="Host names, URLs, addresses, files of them, or - for standard input."
    ),
]
PolicyOption = Annotated[
    str,
    typer.Option(
        "--policy",
        metavar="NAME",
        autocompletion=one_of(POLICIES),
        help="predict, paper, geo, everyone, random or hash.",
    ),
]
ThresholdOption = Annotated[
    float, typer.Option(metavar="MS", help="For paper: the first sample under it takes the subnet.")
]
PriceOption = Annotated[
    float | None,
    typer.Option(metavar="MS", help="For predict: a probe must promise to save this; fixed, if given."),
]
BudgetOption = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=0, help="Probes for the whole list, earlier runs included; never exceeded."
    ),
]
LocationOption = Annotated[
    str,
    typer.Option(
        metavar="SOURCE",
        help="Where sites are: locate, none, or a CSV of address, latitude, longitude.",
    ),
]
TimeoutOption = Annotated[float, typer.Option(min=1, max=10000, help="Longest wait for one round trip.")]
AnycastOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Prefixes that are in many places: any crawler will do for them."),
]

DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Only say how many probes it could take; send none.")
]
ReportOption = Annotated[
    Path | None,
    typer.Option("--report", metavar="FILE", help="Write an HTML report at the end, also after Ctrl-C."),
]
CertificateOption = Annotated[Path | None, typer.Option(metavar="FILE", help="Our own, for mutual TLS.")]
KeyOption = Annotated[Path | None, typer.Option(metavar="FILE", help="Key of --client-cert.")]


def delegate(
    context: typer.Context,
    seeds: Seeds,
    policy: PolicyOption = "predict",
    threshold_ms: ThresholdOption = 50.0,
    probe_price_ms: PriceOption = None,
    nearest: Annotated[int, typer.Option(metavar="K", min=1, help="For geo: how many probe.")] = 2,
    probe_budget: BudgetOption = None,
    location: LocationOption = "locate",
    anycast: AnycastOption = None,
    graft: Annotated[
        bool, typer.Option("--graft", help="Ask registries (RDAP) for addresses outside the hierarchy.")
    ] = False,
    dry_run: DryRunOption = False,
    samples: Annotated[int, typer.Option(min=1, max=10, help="Round trips of each probe.")] = 3,
    timeout_ms: TimeoutOption = 2000,
    first_rung: Annotated[Rung, typer.Option(help="Where the ladder starts.")] = Rung.TCP,
    token_file: TokenFile = None,
    ca: Authority = None,
    client_cert: CertificateOption = None,
    client_key: KeyOption = None,
    report: ReportOption = None,
    hierarchy_file: HierarchyOption = None,
    store: StoreOption = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Give each site the crawler that is nearest on the network.

    Found with few probes. Results are written as they come. After a crash or Ctrl-C the same command goes on
    where it was: no probe is asked for twice, and none is lost.
    """
    need_service()
    from ipmicra.app.delegate.options import DelegateOptions
    from ipmicra.edge.agent.access import read_token
    from ipmicra.edge.coordinator.agent_client import AgentAccess
    from ipmicra.edge.coordinator.orders import DeskConfig

    print_format = chosen(output_format, as_json)
    options = DelegateOptions(
        policy=policy,
        threshold_ms=threshold_ms,
        probe_price_ms=probe_price_ms,
        nearest=nearest,
        probe_budget=probe_budget,
        location=location,
        anycast=anycast,
        grafts=graft,
        desk=DeskConfig(samples=samples, timeout_ms=timeout_ms, first_rung=first_rung),
        access=AgentAccess(
            token=read_token(token_file), authority=ca, certificate=client_cert, key=client_key
        ),
    )
    places = hierarchy_path(context, hierarchy_file), store_url(context, store)
    if dry_run:
        _plan(seeds, options, places, print_format)
        return
    if report is not None:
        check_report(report)
    _run(seeds, options, places, print_format, report)


def _run(
    seeds: list[str],
    options: DelegateOptions,
    places: tuple[Path, str],
    print_format: Format,
    page: Path | None,
) -> None:
    from ipmicra.app.delegate.batch import Batch
    from ipmicra.app.delegate.facade import describe_decision
    from ipmicra.edge.files.seeds import read_seeds, redacted
    from ipmicra.edge.hierarchy_file import Hierarchy
    from ipmicra.edge.store.lock import one_at_a_time
    from ipmicra.edge.store.store import Store

    with (
        Hierarchy.open(places[0]) as hierarchy,
        one_at_a_time(places[1], "delegate", redacted("ipmicra delegate", *seeds)),
        Store.open(places[1]) as opened,
    ):
        stream = RecordStream(COLUMNS, WIDTHS, print_format)
        with _reported(page, seeds, opened, hierarchy) as batches, stream, _bar(seeds) as show:

            def progress(report: BatchReport, read: int) -> None:
                stream.flush()
                show(report, read)

            batch = Batch(
                opened, hierarchy, options, lambda result: stream.add(describe_decision(result)), progress
            )
            batches.append(batch.report)
            report = batch.run(seeds, read_seeds(seeds))
    _tell(report)
    if page is None:
        say("to see it on a page: `ipmicra report --last`, or --report FILE next time")
    if not report.is_complete:
        raise typer.Exit(DONE_IN_PART if report.sites else 1)


@contextmanager
def _reported(
    page: Path | None, seeds: list[str], store: Store, hierarchy: Hierarchy
) -> Iterator[list[BatchReport]]:
    """Write a report on the batch that is put into the list, whether all of it was done or not."""
    from ipmicra.app.report.loaders.holders import with_hierarchy
    from ipmicra.app.report.loaders.store import StoreContents
    from ipmicra.edge.files.seeds import redacted

    batches: list[BatchReport] = []
    try:
        yield batches
    finally:
        if page is not None and batches and batches[0].batch and store.results.count(batches[0].batch):
            data = StoreContents(store=store, batch=batches[0].batch).load()
            report_written(
                with_hierarchy(data, hierarchy), page, f"delegate {shlex.join(map(redacted, seeds))}"
            )


def _tell(report: BatchReport) -> None:
    """Say beside the data what was done and what is missing."""
    for note in report.notes[:NOTES_SHOWN]:
        say(note)
    if len(report.notes) > NOTES_SHOWN:
        say(f"… and {len(report.notes) - NOTES_SHOWN} more notes of this kind")
    for text, reason in report.examples:
        say(f"{text[:100]}: {reason}")
    if report.missing.total() > len(report.examples):
        say(f"missing in all: {report.missing.total():,}")
        for reason, count in report.missing.most_common():
            say(f"  {count:,}: {reason}")
    if report.doubles:
        say(f"{report.doubles:,} seeds named a site that was there already")
    say(_summary(report))
    if report.stopped:
        say(f"stopped: {report.stopped}; the same command goes on where this one ended")


def _summary(report: BatchReport) -> str:
    per_site = f"{report.probes / max(1, report.sites - report.resumed):.2f}"
    parts = [f"{report.sites:,} sites", f"{report.probes:,} probes ({per_site} a site)"]
    if report.resumed or report.recovered or report.repeated:
        parts.append(
            f"gone on with batch {report.batch}: {report.resumed:,} sites were done, "
            f"{report.repeated:,} probes answered from the store"
        )
    if report.budget is not None and report.budget.total is not None:
        parts.append(f"{report.budget.spent:,} of {report.budget.total:,} probes of the budget spent")
    return "; ".join(parts)


def _plan(seeds: list[str], options: DelegateOptions, places: tuple[Path, str], print_format: Format) -> None:
    from ipmicra.app.delegate.plan import plan_batch
    from ipmicra.edge.files.seeds import read_seeds
    from ipmicra.edge.hierarchy_file import Hierarchy
    from ipmicra.edge.store.store import Store

    with (
        Hierarchy.open(places[0]) as hierarchy,
        Store.open(places[1]) as opened,
        _progress(seeds) as (progress, task),
    ):
        texts = read_seeds(seeds)
        plan = plan_batch(
            opened, hierarchy, options, texts, lambda read: progress.update(task, completed=read)
        )
    record: dict[str, Any] = plan.record()
    if print_format is Format.TABLE:
        print_table("", ("what", "number"), [(key.replace("_", " "), value) for key, value in record.items()])
    else:
        print_object(record, print_format)
    for text, reason in plan.examples:
        say(f"{text[:100]}: {reason}")
    if plan.missing:
        raise typer.Exit(DONE_IN_PART if plan.sites else 1)


@contextmanager
def _bar(seeds: list[str]) -> Iterator[Callable[[BatchReport, int], None]]:
    """Show progress on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _report, _read: None
        return
    with _progress(seeds) as (progress, task):

        def show(report: BatchReport, read: int) -> None:
            done = report.sites + report.missing.total() + report.doubles
            fresh = max(1, report.sites - report.resumed)
            text = f"{report.sites:,} sites of {read:,} read, {report.probes:,} probes"
            progress.update(task, description=f"{text}, {report.probes / fresh:.2f} a site", completed=done)

        yield show


@contextmanager
def _progress(seeds: list[str]) -> Iterator[tuple[Progress, TaskID]]:
    """Make a bar that goes when it is over; on a terminal only."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from ipmicra.edge.files.seeds import count_seeds

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %", markup=False),
        TimeRemainingColumn(),
    )
    is_shown = sys.stderr.isatty()
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not is_shown) as progress:
        yield progress, progress.add_task("resolving", total=count_seeds(seeds) if is_shown else None)
