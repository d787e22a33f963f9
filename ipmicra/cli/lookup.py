"""`ipmicra lookup`: addresses to lineages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ipmicra.app.tables import request_of
from ipmicra.cli.options import (
    Format,
    FormatOption,
    HierarchyOption,
    JsonOption,
    chosen,
    connection_of,
    home_of,
)
from ipmicra.cli.output import DONE_IN_PART, RecordStream, print_table, say
from ipmicra.cli.tables import (
    ColumnOption,
    OutputOption,
    PrefixOption,
    refuse_table_options,
    write_table,
)

if TYPE_CHECKING:
    from ipmicra.app.connect.commands import Connection
    from ipmicra.app.describe.hierarchy import LineageDescriber
    from ipmicra.app.home import Home
    from ipmicra.app.lookup.lookup import Answer, Found, Rendered
    from ipmicra.app.tables import TableRequest
    from ipmicra.model.subnet import Subnet

TABLE_COLUMNS = ("subnet", "netname", "organisation", "registry", "country", "status")
SPARED = ("status", "netname")
ColumnsOption = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="LIST",
        help="With -o, what to add: subnet, netname, organisation, registry, country, status. [default: all]",
    ),
]
NESTED = {Format.JSON, Format.JSONL}
"""Formats that show the lineage of a target; others show its narrowest subnet."""


def lookup(
    context: typer.Context,
    targets: Annotated[
        list[str],
        typer.Argument(
            metavar="TARGET...",
            help="Addresses, prefixes, ranges, host names, URLs, files of them, or - for standard input.",
        ),
    ],
    output: OutputOption = None,
    column: ColumnOption = None,
    columns: ColumnsOption = None,
    prefix: PrefixOption = "",
    hierarchy_file: HierarchyOption = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the subnets that contain each target, and who holds them.

    Widest first. A host name is looked up for each of its addresses. With -o, a whole table of addresses is
    written with the narrowest subnet of each.
    """
    from ipmicra.app.describe.hierarchy import LineageDescriber
    from ipmicra.app.lookup.lookup import look_up, look_up_lines

    print_format = chosen(output_format, as_json)
    home = home_of(context, hierarchy=hierarchy_file)
    if output is not None:
        return _look_up_table(home, request_of(targets, output, column, prefix), columns, print_format)
    refuse_table_options(column or columns, prefix)
    connection = connection_of(context, home, ("targets",), is_asked=False)
    if connection is not None:
        found, missing = _look_up_remotely(connection, targets, print_format)
        if missing:
            raise typer.Exit(DONE_IN_PART if found else 1)
        return None
    with home.open_hierarchy() as hierarchy:
        if print_format is Format.TABLE:
            found, missing = _print_tables(look_up(hierarchy, targets), hierarchy.subnets)
        else:
            answers = look_up_lines(hierarchy, targets, is_json=print_format in NESTED)
            found, missing = _print_stream(answers, LineageDescriber(hierarchy), print_format)
    if missing:
        raise typer.Exit(DONE_IN_PART if found else 1)
    return None


def _look_up_table(home: Home, request: TableRequest, columns: str | None, print_format: Format) -> None:
    from ipmicra.app.lookup.table import look_up_table

    names = [name.strip() for name in columns.split(",")] if columns else None
    with home.open_hierarchy() as hierarchy:
        write_table(
            request, lambda wanted, watch: look_up_table(hierarchy, wanted, names, watch), print_format
        )


def _look_up_remotely(connection: Connection, targets: list[str], print_format: Format) -> tuple[int, int]:
    """Print what a coordinator finds; return how many were found, and how many are missing."""
    counts = [0, 0]
    columns = ("target", "address", "lineage")
    with RecordStream(columns, [0] * len(columns), print_format) as stream:

        def show(one: dict[str, Any]) -> None:
            counts["problem" in one] += 1
            if "problem" in one:
                say(f"{one['target']}: {one['problem']}")
            elif print_format is Format.TABLE:
                rows = [_row_of(subnet) for subnet in one["lineage"]]
                print_table(f"{one['target']} ({one['address']})", TABLE_COLUMNS, rows, SPARED)
                typer.echo()
            else:
                stream.add(one)

        if print_format not in {*NESTED, Format.TABLE}:
            raise typer.BadParameter(
                f"a coordinator's look-ups are printed as table, json or jsonl, not {print_format}"
            )
        connection.each_target("/v1/lookup", targets, show)
    return counts[0], counts[1]


def _row_of(subnet: dict[str, Any]) -> tuple[Any, ...]:
    holder = subnet["organisation"] or {}
    label = "  " * subnet["depth"] + (subnet["prefix"] or f"{subnet['first']} - {subnet['last']}")
    named = holder.get("name") or holder.get("handle")
    return label, subnet["netname"], named, subnet["registry"], subnet["country"], subnet["status"]


def _print_tables(
    answers: Iterator[Answer], subnets_of: Callable[[list[int]], list[Subnet]]
) -> tuple[int, int]:
    """Print a table per target; return how many were found, and how many are missing."""
    from ipmicra.app.lookup.lookup import Found

    found = missing = 0
    for one in answers:
        if isinstance(one, Found):
            _print_lineage(one, subnets_of(one.rows))
            found += 1
        else:
            say(f"{one.text}: {one.reason}")
            missing += 1
    return found, missing


def _print_stream(
    answers: Iterator[Answer | Rendered], describer: LineageDescriber, print_format: Format
) -> tuple[int, int]:
    """Print records when they are found; return how many were found, and how many are missing."""
    from ipmicra.app.describe.hierarchy import NARROWEST, NARROWEST_NUMBERS
    from ipmicra.app.lookup.lookup import Found, Rendered

    found = missing = 0
    with RecordStream(NARROWEST, [0] * len(NARROWEST), print_format) as stream:
        for one in answers:
            if isinstance(one, Rendered):
                stream.add_lines(one.lines, one.count, NARROWEST_NUMBERS)
                found += one.count
            elif not isinstance(one, Found):
                say(f"{one.text}: {one.reason}")
                missing += 1
            elif print_format in NESTED:
                stream.add_json(describer.lineage_json(one))
                found += 1
            else:
                stream.add(describer.narrowest(one))
                stream.flush()
                found += 1
    return found, missing


def _print_lineage(found: Found, lineage: list[Subnet]) -> None:
    text, address = found.seed.text, found.seed.range_text
    title = text if text == address else f"{text} ({address})"
    print_table(title, TABLE_COLUMNS, [_row(subnet) for subnet in lineage], SPARED)
    typer.echo()


def _row(subnet: Subnet) -> tuple[Any, ...]:
    organisation = subnet.organisation.label if subnet.organisation else None
    label = "  " * subnet.depth + subnet.label
    return label, subnet.netname, organisation, subnet.registry.label, subnet.country, subnet.status
