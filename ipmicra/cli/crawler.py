"""`ipmicra crawler`: the fleet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ipmicra.cli.completion import crawlers
from ipmicra.cli.options import (
    Format,
    FormatOption,
    HierarchyOption,
    JsonOption,
    StoreOption,
    chosen,
    home_of,
)
from ipmicra.cli.output import print_object, print_records, print_table, say, say_some
from ipmicra.model.address import range_text

if TYPE_CHECKING:
    from ipmicra.app.fleet.fleet import Fleet

crawler = typer.Typer(
    name="crawler", help="Manage the fleet: add, list and remove crawlers.", no_args_is_help=True
)

MOST_SAID = 20
"""Subnets that changed hands and are named; all are counted."""
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
    replace: Annotated[bool, typer.Option("--replace", help="Replace the crawler of that name.")] = False,
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
    with Fleet.open(home_of(context, store=store, hierarchy=hierarchy_file)) as fleet:
        member = fleet.add_fields(fields, label or (), replaces=replace)
        _say_taken(fleet)
    if member.first is None:
        say(f"{name}: no subnet is known to contain {address}; build a hierarchy, then add it with --replace")
    _print([describe_member(member)], print_format, is_one=True)


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
    with Fleet.open(home_of(context, store=store)) as fleet:
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
    store: StoreOption = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove crawlers from the fleet; they may be added again.

    Their samples are kept.
    """
    from ipmicra.app.describe.fleet import describe_member
    from ipmicra.app.fleet.fleet import Fleet

    print_format = chosen(output_format, as_json)
    with Fleet.open(home_of(context, store=store)) as fleet:
        for name in names:
            fleet.get(name)
        left = [describe_member(fleet.remove(name)) for name in names]
    _print(left, print_format)


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
    with Fleet.open(home_of(context, store=store, hierarchy=hierarchy_file)) as fleet:
        members = fleet.import_file(file)
        _say_taken(fleet)
    _print([describe_member(member) for member in members], print_format)


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
    print_table("", (*columns, "labels"), rows)


def _label_text(labels: dict[str, str]) -> str:
    return " ".join(f"{key}={value}" for key, value in labels.items())
