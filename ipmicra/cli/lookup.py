"""`ipmicra lookup`: addresses to lineages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

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

if TYPE_CHECKING:
    from ipmicra.edge.files.targets import Target
    from ipmicra.edge.hierarchy_file import Hierarchy
    from ipmicra.model.subnet import Subnet


def lookup(
    context: typer.Context,
    targets: Annotated[
        list[str],
        typer.Argument(
            metavar="TARGET...",
            help="Addresses, prefixes, ranges, host names, URLs, files of them, or - for standard input.",
        ),
    ],
    hierarchy_file: HierarchyOption = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the subnets that hold each target, and who holds them.

    Widest first. A name is looked up for each of its addresses.
    """
    from ipmicra.app.lookup.lookup import open_hierarchy
    from ipmicra.edge.dns import Resolver
    from ipmicra.edge.files.targets import Unresolved, read_targets

    print_format = chosen(output_format, as_json)
    hierarchy = open_hierarchy(hierarchy_path(context, hierarchy_file))
    found: list[Target] = []
    is_complete = True
    for target in read_targets(targets, Resolver().addresses_of):
        if isinstance(target, Unresolved):
            say(f"{target.text}: {target.reason}")
            is_complete = False
        else:
            found.append(target)
    _print(hierarchy, found, print_format)
    if not is_complete:
        raise typer.Exit(DONE_IN_PART if found else 1)


def _print(hierarchy: Hierarchy, targets: list[Target], print_format: Format) -> None:
    from ipmicra.app.lookup.lookup import describe_target, lineage_of

    if print_format is Format.TABLE:
        for target in targets:
            print_lineage(target, lineage_of(hierarchy, target))
    elif print_format in {Format.CSV, Format.PARQUET}:
        print_records([_flat(hierarchy, target) for target in targets], print_format)
    else:
        print_records([describe_target(hierarchy, target) for target in targets], print_format)


def print_lineage(target: Target, lineage: list[Subnet]) -> None:
    """Print a lineage as an indented list."""
    title = target.text if target.text == target.address else f"{target.text} ({target.address})"
    columns = ("subnet", "netname", "organisation", "registry", "country", "status")
    print_table(title, columns, [_row(subnet) for subnet in lineage])
    typer.echo()


def _row(subnet: Subnet) -> tuple[Any, ...]:
    organisation = subnet.organisation.label if subnet.organisation else None
    label = "  " * subnet.depth + subnet.label
    return label, subnet.netname, organisation, subnet.registry.label, subnet.country, subnet.status


def _flat(hierarchy: Hierarchy, target: Target) -> dict[str, Any]:
    """Give a target with its narrowest subnet, one value a column."""
    from ipmicra.app.describe import describe_subnet
    from ipmicra.app.lookup.lookup import lineage_of

    described = describe_subnet(lineage_of(hierarchy, target)[-1])
    organisation = described.pop("organisation") or {"handle": None, "name": None}
    holder = {"organisation_handle": organisation["handle"], "organisation_name": organisation["name"]}
    return {"target": target.text, "address": target.address, **described, **holder}
