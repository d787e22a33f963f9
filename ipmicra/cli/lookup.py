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
    from ipmicra.app.lookup.lookup import Found
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
    from ipmicra.app.lookup.lookup import Found, look_up, open_hierarchy

    print_format = chosen(output_format, as_json)
    hierarchy = open_hierarchy(hierarchy_path(context, hierarchy_file))
    kept: list[dict[str, Any]] = []
    found = missing = 0
    for one in look_up(hierarchy, targets):
        if not isinstance(one, Found):
            say(f"{one.text}: {one.reason}")
            missing += 1
            continue
        found += 1
        if print_format is Format.TABLE:
            print_lineage(one)
        elif print_format is Format.JSONL:
            print_records([one.describe()], print_format)
        else:
            kept.append(one.describe() if print_format is Format.JSON else _flat(one))
    if print_format is not Format.JSONL:
        print_records(kept, print_format)
    if missing:
        raise typer.Exit(DONE_IN_PART if found else 1)


def print_lineage(found: Found) -> None:
    """Print a lineage as an indented list."""
    text, address = found.seed.text, found.seed.range_text
    title = text if text == address else f"{text} ({address})"
    columns = ("subnet", "netname", "organisation", "registry", "country", "status")
    print_table(title, columns, [_row(subnet) for subnet in found.lineage])
    typer.echo()


def _row(subnet: Subnet) -> tuple[Any, ...]:
    organisation = subnet.organisation.label if subnet.organisation else None
    label = "  " * subnet.depth + subnet.label
    return label, subnet.netname, organisation, subnet.registry.label, subnet.country, subnet.status


def _flat(found: Found) -> dict[str, Any]:
    """Describe a target with its narrowest subnet, one value per column."""
    from ipmicra.app.describe import describe_subnet

    described = describe_subnet(found.lineage[-1])
    organisation = described.pop("organisation") or {"handle": None, "name": None}
    holder = {"organisation_handle": organisation["handle"], "organisation_name": organisation["name"]}
    return {"target": found.seed.text, "address": found.seed.range_text, **described, **holder}
