"""`ipmicra lookup`: addresses to lineages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ipmicra.cli.options import Format, FormatOption, HierarchyOption, JsonOption, chosen, home_of
from ipmicra.cli.output import DONE_IN_PART, Record, print_records, print_table, say

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
    """Show the subnets that contain each target, and who holds them.

    Widest first. A host name is looked up for each of its addresses.
    """
    from ipmicra.app.describe.hierarchy import describe_lineage, describe_narrowest
    from ipmicra.app.lookup.lookup import Found, look_up

    print_format = chosen(output_format, as_json)
    kept: list[Record] = []
    found = missing = 0
    with home_of(context, hierarchy=hierarchy_file).open_hierarchy() as hierarchy:
        for one in look_up(hierarchy, targets):
            if not isinstance(one, Found):
                say(f"{one.text}: {one.reason}")
                missing += 1
                continue
            found += 1
            if print_format is Format.TABLE:
                _print_lineage(one)
            elif print_format is Format.JSONL:
                print_records([describe_lineage(one)], print_format)
            else:
                is_json = print_format is Format.JSON
                kept.append(describe_lineage(one) if is_json else describe_narrowest(one))
    if print_format is not Format.JSONL:
        print_records(kept, print_format)
    if missing:
        raise typer.Exit(DONE_IN_PART if found else 1)


def _print_lineage(found: Found) -> None:
    text, address = found.seed.text, found.seed.range_text
    title = text if text == address else f"{text} ({address})"
    columns = ("subnet", "netname", "organisation", "registry", "country", "status")
    print_table(title, columns, [_row(subnet) for subnet in found.lineage])
    typer.echo()


def _row(subnet: Subnet) -> tuple[Any, ...]:
    organisation = subnet.organisation.label if subnet.organisation else None
    label = "  " * subnet.depth + subnet.label
    return label, subnet.netname, organisation, subnet.registry.label, subnet.country, subnet.status
