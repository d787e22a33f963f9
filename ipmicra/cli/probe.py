"""`ipmicra probe`: round trips from crawlers to targets."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ipmicra.cli.completion import crawlers_or_all
from ipmicra.cli.options import (
    TARGETS_HELP,
    AuthorityOption,
    CertificateOption,
    Format,
    FormatOption,
    JsonOption,
    KeyOption,
    SamplesOption,
    StoreOption,
    TimeoutOption,
    TokenOption,
    chosen,
    home_of,
)
from ipmicra.cli.output import DONE_IN_PART, print_rows, rounded, say
from ipmicra.model.sample import Rung

if TYPE_CHECKING:
    from ipmicra.app.probe import ProbeReport

COLUMNS = (
    *("target", "crawler", "address", "rtt_ms", "rung", "dns_ms", "tcp_ms", "tls_ms", "first_byte_ms"),
    "download_ms",
    *("loss", "detail"),
)
SPARED = ("dns_ms", "tcp_ms", "tls_ms", "address", "download_ms", "first_byte_ms")
"""Columns that a narrow terminal can do without."""

Targets = Annotated[
    list[str],
    typer.Argument(metavar="TARGET...", help=TARGETS_HELP),
]
Crawlers = Annotated[
    list[str] | None,
    typer.Option(
        "--from",
        metavar="CRAWLER",
        autocompletion=crawlers_or_all,
        help="Crawler to probe from, all, or landmarks (those that place sites best); repeatable. "
        "Default: this machine.",
    ),
]
AllowedPrefixes = Annotated[
    list[str] | None,
    typer.Option(metavar="PREFIX", help="Probe this prefix from here although it is not public; repeatable."),
]
Budget = Annotated[int | None, typer.Option(min=0, help="Most probes to send in all; never exceeded.")]
LandmarksOption = Annotated[int, typer.Option(min=1, help="Most crawlers that --from landmarks chooses.")]
DownloadOption = Annotated[
    bool, typer.Option("--download", help="Download each main page too, once per crawler, and time that.")
]
ResolveThere = Annotated[
    bool, typer.Option("--resolve-there", help="Let each crawler resolve names itself, and time it.")
]


def probe(
    context: typer.Context,
    targets: Targets,
    crawlers: Crawlers = None,
    samples: SamplesOption = 3,
    timeout_ms: TimeoutOption = 2000,
    first_rung: Annotated[Rung, typer.Option(help="First method to try.")] = Rung.TCP,
    probe_budget: Budget = None,
    landmarks: LandmarksOption = 20,
    download: DownloadOption = False,
    resolve_there: ResolveThere = False,
    allow: AllowedPrefixes = None,
    token_file: TokenOption = None,
    ca: AuthorityOption = None,
    client_cert: CertificateOption = None,
    client_key: KeyOption = None,
    store: StoreOption = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure round trips to targets, from crawlers or from here.

    DNS, TCP, TLS and the first byte are timed separately. Samples of crawlers are kept in the store. With
    --from landmarks sites get the samples that fix their network coordinates; the cost is shown first.
    """
    from ipmicra.app.probe import BUDGET, ProbeOptions, agent_access, probe_config, probe_home

    print_format = chosen(output_format, as_json)
    options = ProbeOptions(
        crawlers=tuple(crawlers or ()),
        desk=replace(probe_config(samples, timeout_ms, first_rung, BUDGET), download=download),
        access=agent_access(token_file, ca, client_cert, client_key),
        budget=probe_budget,
        allowed=tuple(allow or ()),
        is_resolved_there=resolve_there,
        landmarks=landmarks,
        announce=say,
    )
    print_samples(probe_home(home_of(context, store=store), targets, options), print_format)


def print_samples(report: ProbeReport, print_format: Format) -> None:
    """Print samples, what has none, and end with the exit code that fits."""
    from ipmicra.app.describe.fleet import describe_sample

    records = [describe_sample(target, sample) for target, sample in report.samples]
    for seed in report.unresolved:
        say(f"{seed.text}: {seed.reason}")
    print_sample_records(records, report.unmeasurable, print_format, is_complete=report.is_complete)


def print_sample_records(
    records: list[dict[str, Any]], unmeasurable: list[str], print_format: Format, *, is_complete: bool
) -> None:
    """Print samples that are described already, and end with the exit code that fits."""
    print_rows(records, COLUMNS, print_format, cell=lambda value: rounded(value, 2), spared=SPARED)
    for name in unmeasurable:
        say(f"{name}: unmeasurable: it neither accepts nor refuses connections, and answers no echo")
    lost = sum(record["loss"] is not None for record in records)
    if lost:
        say(f"{lost} of {len(records)} probes without a round trip")
    if not is_complete:
        raise typer.Exit(DONE_IN_PART if lost < len(records) else 1)
