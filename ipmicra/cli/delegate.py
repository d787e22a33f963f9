"""`ipmicra delegate`: the nearest crawler for each site of a list."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ipmicra.cli.completion import PLACES_TO_RESOLVE, POLICIES, one_of
from ipmicra.cli.options import (
    TARGETS_HELP,
    AuthorityOption,
    CertificateOption,
    Format,
    FormatOption,
    GeofeedOption,
    HierarchyOption,
    JsonOption,
    KeyOption,
    RulesOption,
    SamplesOption,
    StoreOption,
    TableOption,
    TimeoutOption,
    TokenOption,
    chosen,
    connection_of,
    home_of,
)
from ipmicra.cli.output import (
    DONE_IN_PART,
    RecordStream,
    is_watched,
    print_object,
    print_table,
    progress_bar,
    say,
    say_some,
)
from ipmicra.model.quantities import plural
from ipmicra.model.sample import Rung

if TYPE_CHECKING:
    from ipmicra.app.connect.commands import Connection
    from ipmicra.app.delegate.batch import BatchReport, DelegateRun
    from ipmicra.app.delegate.options import DelegateOptions

COLUMNS = ("host", "address", "subnet", "crawler", "rtt_ms", "evidence", "probes")
WIDTHS = (32, 15, 20, 12, 8, 10, 6)
SPARED = ("address", "probes")
"""Columns that a narrow terminal does without."""
ORIGIN_COLUMNS = ("inherited_from", "measured")
"""Columns for programs; `ipmicra explain` shows them to people."""
NOTES_SHOWN = 20
TAKEN = ("seeds", "probe_budget")
"""Options that a coordinator takes; all others are its own."""

Seeds = Annotated[
    list[str],
    typer.Argument(metavar="SEEDS...", help=TARGETS_HELP),
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
    float, typer.Option(metavar="MS", help="For paper: a crawler with a sample below this gets the subnet.")
]
PriceOption = Annotated[
    float | None,
    typer.Option(metavar="MS", help="For predict: probe only if it is expected to save this much."),
]
ReconsiderOption = Annotated[
    bool,
    typer.Option(
        "--reconsider/--no-reconsider",
        help="For paper: let crawlers that joined later probe subnets that others hold.",
    ),
]
BeyondOption = Annotated[
    bool,
    typer.Option(
        "--beyond-organisation",
        help="For paper: keep climbing if no crawler of the organisation is below the threshold.",
    ),
]
RecheckOption = Annotated[
    float,
    typer.Option(
        metavar="PERCENT",
        min=0.0,
        help="Share of the subnets in use that is measured again per 30 days; 0 for none.",
    ),
]
AgainOption = Annotated[
    bool,
    typer.Option("--again", help="Decide anew, by this policy, what is already delegated."),
]
BudgetOption = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=0, help="Most probes for the whole list, earlier runs included; never exceeded."
    ),
]
LocationOption = Annotated[
    str,
    typer.Option(
        metavar="SOURCE",
        help="Where sites are: locate, dns (also asks the DNS about sites that cannot be probed), none, or "
        "a CSV of address, latitude, longitude.",
    ),
]
AnycastOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Prefixes that are anycast: any crawler will do for them."),
]
GraftOption = Annotated[
    bool, typer.Option("--graft", help="Ask registries (RDAP) for addresses outside the hierarchy.")
]
ResolveOption = Annotated[
    str,
    typer.Option(
        metavar="WHERE",
        autocompletion=one_of(PLACES_TO_RESOLVE),
        help="Where names are resolved: here, or agents, for names that answer differently in places.",
    ),
]
NearOption = Annotated[
    float,
    typer.Option(
        metavar="MS",
        help="With --resolve-at agents: a host is near everywhere if round trips differ by no more.",
    ),
]
PagesOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="For predict: CSV of host,pages; the more pages a site has, the cheaper a probe."
    ),
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Only estimate the number of probes; send none.")
]
ReportOption = Annotated[
    Path | None,
    typer.Option("--report", metavar="FILE", help="Write an HTML report at the end, also after Ctrl-C."),
]


def delegate(
    context: typer.Context,
    seeds: Seeds,
    policy: PolicyOption = "predict",
    threshold_ms: ThresholdOption = 50.0,
    probe_price_ms: PriceOption = None,
    pages: PagesOption = None,
    nearest: Annotated[int, typer.Option(metavar="K", min=1, help="For geo: how many crawlers probe.")] = 2,
    reconsider: ReconsiderOption = True,
    beyond_organisation: BeyondOption = False,
    recheck: RecheckOption = 3.0,
    again: AgainOption = False,
    probe_budget: BudgetOption = None,
    location: LocationOption = "locate",
    table: TableOption = None,
    geofeed: GeofeedOption = None,
    anycast: AnycastOption = None,
    graft: GraftOption = False,
    resolve_at: ResolveOption = "here",
    near_ms: NearOption = 10.0,
    dry_run: DryRunOption = False,
    samples: SamplesOption = 3,
    timeout_ms: TimeoutOption = 2000,
    first_rung: Annotated[Rung, typer.Option(help="First method to try.")] = Rung.TCP,
    token_file: TokenOption = None,
    ca: AuthorityOption = None,
    client_cert: CertificateOption = None,
    client_key: KeyOption = None,
    report: ReportOption = None,
    rules: RulesOption = None,
    hierarchy_file: HierarchyOption = None,
    store: StoreOption = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find the crawler that is nearest on the network, for each site.

    Sends few probes, and prints results as they arrive. After a crash or Ctrl-C the same command resumes
    where it stopped: no probe is sent twice, and none is lost.
    """
    from ipmicra.app.delegate.batch import DelegateRun
    from ipmicra.app.probe import agent_access, probe_config

    print_format = chosen(output_format, as_json)
    deciding = _deciding(policy, threshold_ms, probe_price_ms, nearest, is_beyond=beyond_organisation)
    deciding = replace(deciding, reconsiders=reconsider, recheck_percent=recheck, again=again, pages=pages)
    options = replace(
        replace(deciding, location=location, anycast=anycast, probe_budget=probe_budget, grafts=graft),
        tables=tuple(table or ()),
        geofeeds=tuple(geofeed or ()),
        resolve_at=resolve_at,
        near_ms=near_ms,
        desk=probe_config(samples, timeout_ms, first_rung),
        access=agent_access(token_file, ca, client_cert, client_key),
    )
    home = home_of(context, store=store, hierarchy=hierarchy_file, rules=rules)
    if connection := connection_of(context, home, TAKEN, is_asked=not dry_run):
        return _run_remotely(connection, seeds, probe_budget, print_format)
    return _do(DelegateRun(home=home, words=seeds, options=options), print_format, report, is_dry=dry_run)


def _do(run: DelegateRun, print_format: Format, report: Path | None, *, is_dry: bool) -> None:
    _plan(run, print_format) if is_dry else _run(run, print_format, report)


def _deciding(
    policy: str, threshold_ms: float, probe_price_ms: float | None, nearest: int, *, is_beyond: bool
) -> DelegateOptions:
    """Return the options of the policies."""
    from ipmicra.app.delegate.options import DelegateOptions

    return DelegateOptions(
        policy=policy,
        threshold_ms=threshold_ms,
        beyond_organisation=is_beyond,
        probe_price_ms=probe_price_ms,
        nearest=nearest,
    )


def _plan(run: DelegateRun, print_format: Format) -> None:
    with progress_bar() as show:
        seeds = run.count_seeds() if is_watched() else None
        plan = run.plan(lambda read: show("resolving", read, seeds))
    record = plan.record()
    if print_format is Format.TABLE:
        print_table("", ("what", "number"), [(key.replace("_", " "), value) for key, value in record.items()])
    else:
        print_object(record, print_format)
    for text, reason in plan.examples:
        say(f"{text[:100]}: {reason}")
    if plan.missing:
        raise typer.Exit(DONE_IN_PART if plan.sites else 1)


def _run(run: DelegateRun, print_format: Format, page: Path | None) -> None:
    from ipmicra.app.describe.delegation import describe_decision
    from ipmicra.app.report.write import check_page

    if page is not None:
        # now, rather than after hours of probing
        check_page(page)
    seeds = run.count_seeds() if is_watched() else None
    with ExitStack() as batch:  # it ends last, when everything is printed
        columns = COLUMNS if print_format is Format.TABLE else (*COLUMNS, *ORIGIN_COLUMNS)
        with RecordStream(columns, WIDTHS, print_format, SPARED) as stream, progress_bar() as show:

            def progress(report: BatchReport, read: int) -> None:
                stream.flush()
                done = report.sites + report.missing.total() + report.doubles
                text = f"{plural(report.sites, 'site')} of {read:,} read, {plural(report.probes, 'probe')}"
                show(f"{text}, {_per_site(report)} per site", done, seeds)

            report = batch.enter_context(
                run.running(lambda result: stream.add(describe_decision(result)), progress, page, say)
            )
        _summarise(report)
        if page is None:
            say("to see it on a page: `ipmicra report --last`, or --report FILE next time")
    if not report.is_complete:
        raise typer.Exit(DONE_IN_PART if report.sites else 1)


def _run_remotely(connection: Connection, seeds: list[str], budget: int | None, print_format: Format) -> None:
    from ipmicra.app.connect.commands import BatchRun

    run = BatchRun(connection, seeds, budget)
    columns = COLUMNS if print_format is Format.TABLE else (*COLUMNS, *ORIGIN_COLUMNS)
    with RecordStream(columns, WIDTHS, print_format) as stream, progress_bar() as show:

        def progress(one: dict[str, Any]) -> None:
            stream.flush()
            text = f"{plural(one['sites'], 'site')} of {one['read']:,} read, {plural(one['probes'], 'probe')}"
            show(text, one["sites"] + one["missing"] + one["doubles"], one["seeds"])

        def started(number: int) -> None:
            say(f"batch {number}: it runs in the coordinator, even without this command")

        one = run.run(stream.add, progress, started)
    for example in one["examples"]:
        say(f"{example['seed'][:100]}: {example['reason']}")
    per_site = f"{one['probes'] / max(1, one['sites']):.2f}"
    sites, probes = plural(one["sites"], "site"), plural(one["probes"], "probe")
    say(f"{sites}; {probes} ({per_site} per site); batch {one['id']}")
    if one["missing"] or one["state"] != "done":
        raise typer.Exit(DONE_IN_PART if one["sites"] else 1)


def _summarise(report: BatchReport) -> None:
    """Report on standard error what was done and what is missing."""
    say_some(report.notes, NOTES_SHOWN, "notes of this kind")
    for text, reason in report.examples:
        say(f"{text[:100]}: {reason}")
    if report.missing.total() > len(report.examples):
        say(f"missing in all: {report.missing.total():,}")
        for reason, count in report.missing.most_common():
            say(f"  {count:,}: {reason}")
    if report.doubles:
        say(f"{plural(report.doubles, 'seed')} named a site that was in the list already")
    parts = [plural(report.sites, "site"), f"{plural(report.probes, 'probe')} ({_per_site(report)} per site)"]
    if report.resumed or report.recovered or report.repeated:
        parts.append(
            f"resumed batch {report.batch}: {report.resumed:,} sites were done, "
            f"{plural(report.repeated, 'probe')} answered from the store"
        )
    if report.budget is not None and report.budget.total is not None:
        parts.append(f"{report.budget.spent:,} of {report.budget.total:,} probes of the budget spent")
    say("; ".join(parts))
    if report.stopped:
        say(f"stopped: {report.stopped}; the same command resumes where this one stopped")


def _per_site(report: BatchReport) -> str:
    """Write the mean number of probes for the sites of this run."""
    return f"{report.probes / max(1, report.sites - report.resumed):.2f}"
