"""`ipmicra crawler`: the fleet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ipmicra.cli.completion import crawlers
from ipmicra.cli.options import (
    AuthorityOption,
    CertificateOption,
    Format,
    FormatOption,
    HierarchyOption,
    JsonOption,
    KeyOption,
    SamplesOption,
    StoreOption,
    TimeoutOption,
    TokenOption,
    chosen,
    connection_of,
    home_of,
    refuse_connection,
)
from ipmicra.cli.output import print_object, print_records, print_table, say, say_some
from ipmicra.cli.probe import print_sample_records, print_samples
from ipmicra.errors import InputError
from ipmicra.model.address import range_text
from ipmicra.model.sample import Rung

if TYPE_CHECKING:
    from ipmicra.app.connect.commands import Connection
    from ipmicra.app.fleet.fleet import Fleet

crawler = typer.Typer(
    name="crawler", help="Manage the fleet: add, list, measure and remove crawlers.", no_args_is_help=True
)

MOST_SAID = 20
"""Subnets that changed hands and are named; all are counted."""
MeasuredNames = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[NAME...]",
        autocompletion=crawlers,
        help="Crawlers to measure from and to the rest of the fleet; default: all.",
    ),
]
MissingOption = Annotated[bool, typer.Option("--missing", help="Leave out pairs that were measured before.")]
PortOption = Annotated[
    int | None,
    typer.Option(min=1, max=65535, help="Port to probe; default: 443, then 80. A refusal is an answer."),
]
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The crawler's name.")]


@crawler.command()
def add(
    context: typer.Context,
    name: NameArgument,
    address: Annotated[str, typer.Argument(metavar="ADDRESS", help="Its public address.")],
    agent_url: Annotated[
        str | None, typer.Option("--agent-url", metavar="URL", help="Where its agent listens.")
    ] = None,
    latitude: Annotated[float | None, typer.Option(help="Degrees north.")] = None,
    longitude: Annotated[float | None, typer.Option(help="Degrees east.")] = None,
    city: Annotated[str | None, typer.Option(help="City where it is.")] = None,
    country: Annotated[str | None, typer.Option(help="Country where it is, two letters.")] = None,
    label: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="A label such as region=south; repeatable.")
    ] = None,
    bandwidth_mbps: Annotated[float | None, typer.Option(help="Bandwidth in megabits per second.")] = None,
    memory_gb: Annotated[float | None, typer.Option(help="Memory in gigabytes.")] = None,
    max_pieces: Annotated[int | None, typer.Option(help="Most sites, or pieces of sites, at a time.")] = None,
    connections: Annotated[int | None, typer.Option(help="Most downloads at a time.")] = None,
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Change the crawler of that name; what is left out stays as it is."),
    ] = False,
    store: StoreOption = None,
    hierarchy_file: HierarchyOption = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add a crawler to the fleet.

    The smallest subnet that contains its address is delegated to it at once, even if another crawler held it.
    """
    from ipmicra.app.describe.fleet import describe_member
    from ipmicra.app.fleet.fleet import Fleet

    print_format = chosen(output_format, as_json)
    fields: dict[str, Any] = {
        "name": name,
        "address": address,
        "agent_url": agent_url,
        "latitude": latitude,
        "longitude": longitude,
        "city": city,
        "country": country,
        "bandwidth_mbps": bandwidth_mbps,
        "memory_gb": memory_gb,
        "max_pieces": max_pieces,
        "connections": connections,
    }
    home = home_of(context, store=store, hierarchy=hierarchy_file)
    if connection := connection_of(context, home, (*fields, "label", "replace")):
        _add_remotely(connection, fields, label or [], print_format, is_replacing=replace)
        return
    with Fleet.open(home) as fleet:
        member = fleet.add_fields(fields, label or (), replaces=replace)
        _say_taken(fleet)
    if replace and member.crawler.location is None:
        say(f"{name} has no place: name it with --latitude and --longitude; a new address drops the old one")
    if member.first is None:
        say(f"{name}: no subnet is known to contain {address}; build a hierarchy, then add it with --replace")
    _print([describe_member(member)], print_format, is_one=True)


def _add_remotely(
    connection: Connection,
    fields: dict[str, Any],
    labels: list[str],
    print_format: Format,
    *,
    is_replacing: bool,
) -> None:
    from ipmicra.app.connect.commands import add_crawler

    made = add_crawler(connection, fields, labels, is_replacing=is_replacing)
    _print([made], print_format, is_one=True)


@crawler.command(name="list")
def list_(
    context: typer.Context,
    every: Annotated[bool, typer.Option("--all", help="Include those that left.")] = False,
    store: StoreOption = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the crawlers."""
    from ipmicra.app.describe.fleet import describe_member
    from ipmicra.app.fleet.fleet import PRESENT, Fleet

    print_format = chosen(output_format, as_json)
    home = home_of(context, store=store)
    connection = connection_of(context, home, ("every",))
    if connection is not None:
        from ipmicra.app.connect.commands import list_crawlers

        _print(list_crawlers(connection, with_left=every), print_format)
        return
    with Fleet.open(home) as fleet:
        members = fleet.members(() if every else PRESENT)
    if not members:
        say("no crawlers yet: `ipmicra crawler add NAME ADDRESS` or `ipmicra crawler import FILE`")
    _print([describe_member(member) for member in members], print_format)


@crawler.command()
def remove(
    context: typer.Context,
    names: Annotated[
        list[str], typer.Argument(metavar="NAME...", autocompletion=crawlers, help="The crawlers' names.")
    ],
    now: Annotated[
        bool,
        typer.Option("--now", help="Find other owners for their sites at once; needs a running coordinator."),
    ] = False,
    store: StoreOption = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove crawlers from the fleet; they may be added again.

    Their samples are kept. Their sites get other owners when they are next asked for, or at once with --now.
    """
    from ipmicra.app.describe.fleet import describe_member
    from ipmicra.app.fleet.fleet import Fleet

    print_format = chosen(output_format, as_json)
    home = home_of(context, store=store)
    connection = connection_of(context, home, ("names", "now"))
    if connection is not None:
        from ipmicra.app.connect.commands import remove_crawler

        _print([remove_crawler(connection, name, is_now=now) for name in names], print_format)
        return
    if now:
        raise InputError("--now needs a running coordinator, which finds other owners: see `ipmicra serve`")
    with Fleet.open(home) as fleet:
        for name in names:
            fleet.get(name)
        left = [describe_member(fleet.remove(name)) for name in names]
    _print(left, print_format)


@crawler.command()
def drain(
    context: typer.Context,
    names: Annotated[
        list[str], typer.Argument(metavar="NAME...", autocompletion=crawlers, help="The crawlers' names.")
    ],
    store: StoreOption = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Assign nothing new to crawlers; they keep what they hold.

    `ipmicra crawler add NAME ADDRESS --replace` takes that back, `ipmicra crawler remove` lets them go.
    """
    from ipmicra.app.describe.fleet import describe_member
    from ipmicra.app.fleet.fleet import Fleet

    print_format = chosen(output_format, as_json)
    home = home_of(context, store=store)
    if connection := connection_of(context, home, ("names",)):
        from ipmicra.app.connect.commands import drain_crawler

        _print([drain_crawler(connection, name) for name in names], print_format)
        return
    with Fleet.open(home) as fleet:
        for name in names:
            fleet.get(name)
        draining = [describe_member(fleet.drain(name)) for name in names]
    _print(draining, print_format)


@crawler.command(name="import")
def import_(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Crawlers in CSV, JSON, JSON lines, Parquet or TOML (.toml); - for standard input.",
        ),
    ],
    store: StoreOption = None,
    hierarchy_file: HierarchyOption = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add all crawlers of a file, or none of them.

    Crawlers that are already in the fleet are replaced.
    """
    from ipmicra.app.describe.fleet import describe_member
    from ipmicra.app.fleet.fleet import Fleet

    print_format = chosen(output_format, as_json)
    home = home_of(context, store=store, hierarchy=hierarchy_file)
    refuse_connection(context, home, "it adds all crawlers or none: add them one by one, or stop it first")
    with Fleet.open(home) as fleet:
        members = fleet.import_file(file)
        _say_taken(fleet)
    _print([describe_member(member) for member in members], print_format)


@crawler.command()
def measure(
    context: typer.Context,
    names: MeasuredNames = None,
    missing: MissingOption = False,
    port: PortOption = None,
    samples: SamplesOption = 3,
    timeout_ms: TimeoutOption = 2000,
    first_rung: Annotated[Rung, typer.Option(help="First method to try.")] = Rung.TCP,
    probe_budget: Annotated[int | None, typer.Option(min=0, help="Most probes to send in all.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what it would cost.")] = False,
    token_file: TokenOption = None,
    ca: AuthorityOption = None,
    client_cert: CertificateOption = None,
    client_key: KeyOption = None,
    store: StoreOption = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let crawlers measure the round trips between them.

    Network coordinates (`ipmicra assign --backend can`, `lbi`) are computed from them. Each agent probes the
    addresses of the other crawlers; the number of probes is shown first. Repeated measurements are kept, and
    their median counts. Agents that only call out are reached by a running coordinator.
    """
    from ipmicra.app.connect.commands import measure_crawlers
    from ipmicra.app.fleet.fleet import Fleet
    from ipmicra.app.fleet.measuring import measure_fleet, plan_mutual
    from ipmicra.app.probe import BUDGET, ProbeOptions, agent_access, probe_config

    print_format = chosen(output_format, as_json)
    home = home_of(context, store=store)
    if connection := connection_of(context, home, ("names", "missing", "port", "dry_run")):
        found = measure_crawlers(connection, names or (), port, is_missing=missing, is_dry=dry_run)
        say(found["cost"])
        if not dry_run:
            _print_measured(found, print_format)
        return
    with home.open_store() as opened:
        fleet = Fleet(opened)
        plan = plan_mutual(fleet, opened, names or (), port=port, only_missing=missing)
        say(plan.cost())
        if dry_run:
            return
        options = ProbeOptions(
            desk=probe_config(samples, timeout_ms, first_rung, BUDGET),
            access=agent_access(token_file, ca, client_cert, client_key),
            budget=probe_budget,
        )
        report = measure_fleet(fleet, opened, plan, options)
    print_samples(report, print_format)


def _print_measured(found: dict[str, Any], print_format: Format) -> None:
    """Print what a coordinator measured."""
    samples = found["samples"]
    is_complete = all(one["loss"] is None for one in samples)
    print_sample_records(samples, found["unmeasurable"], print_format, is_complete=is_complete)


def _say_taken(fleet: Fleet) -> None:
    """Report the subnets that crawlers lost to those that stand in them."""
    lines = [
        f"{range_text(one.first, one.last)} was {one.crawler}'s; it goes to the crawler that stands in it"
        for one in (ended.record.delegation for ended in fleet.taken)
    ]
    say_some(lines, MOST_SAID, "subnets changed hands")


def _print(described: list[dict[str, Any]], print_format: Format, *, is_one: bool = False) -> None:
    if print_format is not Format.TABLE:
        if is_one:
            print_object(described[0], print_format)
        else:
            print_records(described, print_format)
        return
    columns = ("name", "address", "subnet", "state", "changed", "country", "agent_url")
    rows = [[one[column] for column in columns] + [_label_text(one["labels"])] for one in described]
    print_table("", (*columns, "labels"), rows, spared=("changed", "subnet"))


def _label_text(labels: dict[str, str]) -> str:
    return " ".join(f"{key}={value}" for key, value in labels.items())
