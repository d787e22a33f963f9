"""`ipmicra org`: organisations and what they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ipmicra.cli.options import Format, FormatOption, HierarchyOption, JsonOption, chosen, home_of
from ipmicra.cli.output import print_records, print_table, say

if TYPE_CHECKING:
    from ipmicra.app.lookup.lookup import Holding

NAMELESS = (
    "; this hierarchy is built from statistics files, which have opaque ids instead of names: "
    "build it from WHOIS dumps (`ipmicra fetch --kind whois`)"
)


def org(
    context: typer.Context,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="Part of a name or handle, in any case.")],
    limit: Annotated[int, typer.Option(min=1, help="Most organisations to show.")] = 20,
    subnets: Annotated[int, typer.Option("--subnets", min=0, help="Subnets to show for each.")] = 5,
    hierarchy_file: HierarchyOption = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find organisations and show their subnets."""
    from ipmicra.app.describe.hierarchy import describe_holding
    from ipmicra.app.lookup.lookup import find_holdings, has_names

    print_format = chosen(output_format, as_json)
    with home_of(context, hierarchy=hierarchy_file).open_hierarchy() as hierarchy:
        holdings = list(find_holdings(hierarchy, query, limit + 1, subnets))
        is_named = has_names(hierarchy)
    shown = holdings[:limit]
    if print_format is Format.TABLE:
        for holding in shown:
            _print(holding)
    else:
        print_records([describe_holding(holding) for holding in shown], print_format)
    if len(holdings) > limit:
        say(f"more than {limit} found; --limit shows more")
    if not holdings:
        say(f"no organisation has {query!r} in its name or handle{'' if is_named else NAMELESS}")
        raise typer.Exit(1)


def _print(holding: Holding) -> None:
    organisation = holding.organisation
    parts = (organisation.handle, organisation.registry.label, organisation.country, organisation.address)
    facts = ", ".join(part for part in parts if part and part != organisation.label)
    more = holding.subnet_count - len(holding.subnets)
    rows = [(subnet.label, subnet.netname, subnet.country, subnet.status) for subnet in holding.subnets]
    if more:
        rows.append((f"… {more:,} more", None, None, None))
    print_table(f"{organisation.label} ({facts})", ("subnet", "netname", "country", "status"), rows)
    typer.echo()
