"""`ipmicra probe`: round trips from crawlers to targets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ipmicra.cli.completion import crawlers_or_all
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
from ipmicra.cli.service_extra import need_service
from ipmicra.cli.store_option import StoreOption, store_url
from ipmicra.model.sample import Rung

if TYPE_CHECKING:
    from ipmicra.app.probe import ProbeReport

COLUMNS = (
    *("target", "crawler", "address", "rtt_ms", "rung", "dns_ms", "tcp_ms", "tls_ms", "first_byte_ms"),
    *("loss", "detail"),
)

Targets = Annotated[
    list[str],
    typer.Argument(
        metavar="TARGET...", help="Host names, URLs, addresses, files of them, or - for standard input."
    ),
]
Crawlers = Annotated[
    list[str] | None,
    typer.Option(
        "--from",
        metavar="CRAWLER",
        autocompletion=crawlers_or_all,
        help="Crawler to probe from, or all; repeatable. By default from here.",
    ),
]
TokenFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Token of the agents; else IPMICRA_AGENT_TOKEN is used."),
]
AllowedPrefixes = Annotated[
    list[str] | None,
    typer.Option(metavar="PREFIX", help="Probed from here although it is not public; repeatable."),
]
Authority = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Authority that signed the agents' certificates.")
]
Budget = Annotated[int | None, typer.Option(min=0, help="Probes that may be sent in all; never exceeded.")]
ResolveThere = Annotated[
    bool, typer.Option("--resolve-there", help="Let each crawler resolve names by itself, and time it.")
]


def probe(
    context: typer.Context,
    targets: Targets,
    crawlers: Crawlers = None,
    samples: Annotated[int, typer.Option(min=1, max=10, help="Round trips of each probe.")] = 3,
    timeout_ms: Annotated[
        float, typer.Option(min=1, max=10000, help="Longest wait for one round trip.")
    ] = 2000,
    first_rung: Annotated[Rung, typer.Option(help="Where the ladder starts.")] = Rung.TCP,
    probe_budget: Budget = None,
    resolve_there: ResolveThere = False,
    allow: AllowedPrefixes = None,
    token_file: TokenFile = None,
    ca: Authority = None,
    client_cert: Annotated[Path | None, typer.Option(metavar="FILE", help="Our own, for mutual TLS.")] = None,
    client_key: Annotated[Path | None, typer.Option(metavar="FILE", help="Key of --client-cert.")] = None,
    store: StoreOption = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure round trips to targets, from crawlers or from here.

    The times of DNS, TCP, TLS and the first byte are told apart. Samples of crawlers are kept in the store.
    """
    need_service()
    from ipmicra.app.fleet.fleet import Fleet
    from ipmicra.app.probe import BUDGET, ProbeOptions, probe_targets
    from ipmicra.edge.agent.access import read_token
    from ipmicra.edge.coordinator.agent_client import AgentAccess
    from ipmicra.edge.coordinator.orders import DeskConfig
    from ipmicra.edge.files.seeds import read_seeds
    from ipmicra.edge.store.store import Store

    print_format = chosen(output_format, as_json)
    options = ProbeOptions(
        crawlers=tuple(crawlers or ()),
        desk=DeskConfig(budget=BUDGET, samples=samples, timeout_ms=timeout_ms, first_rung=first_rung),
        access=AgentAccess(
            token=read_token(token_file), authority=ca, certificate=client_cert, key=client_key
        ),
        budget=probe_budget,
        allowed=tuple(allow or ()),
        is_resolved_there=resolve_there,
    )
    with Store.open(store_url(context, store)) as opened:
        report = probe_targets(Fleet(opened), opened, list(read_seeds(targets)), options)
    _print(report, print_format)


def _print(report: ProbeReport, print_format: Format) -> None:
    from ipmicra.app.probe import describe_sample

    records = [describe_sample(target, sample) for target, sample in report.samples]
    if print_format is Format.TABLE:
        rows = [[_cell(record[column]) for column in COLUMNS] for record in records]
        print_table("", COLUMNS, rows)
    else:
        print_records(records, print_format)
    for seed in report.unresolved:
        say(f"{seed.text}: {seed.reason}")
    lost = sum(record["loss"] is not None for record in records)
    if lost:
        say(f"{lost} of {len(records)} probes without a round trip")
    if not report.is_complete:
        raise typer.Exit(DONE_IN_PART if lost < len(records) else 1)


def _cell(value: object) -> object:
    return f"{value:.2f}" if isinstance(value, float) else value
