"""`ipmicra lookup`: addresses to lineages."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ipmicra.cli.options import Format, FormatOption, HierarchyOption, JsonOption, chosen, home_of
from ipmicra.cli.output import DONE_IN_PART, RecordStream, print_table, say

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
    from ipmicra.app.describe.hierarchy import NARROWEST, LineageDescriber
    from ipmicra.app.lookup.lookup import Found, look_up

    print_format = chosen(output_format, as_json)
    found = missing = 0
    is_nested = print_format in {Format.JSON, Format.JSONL}
    with ExitStack() as stack:
        hierarchy = stack.enter_context(home_of(context, hierarchy=hierarchy_file).open_hierarchy())
        answers = look_up(hierarchy, targets)
        stream = stack.enter_context(_stream(print_format, NARROWEST))
        describer = LineageDescriber(hierarchy)
        for one in answers:
            if not isinstance(one, Found):
                say(f"{one.text}: {one.reason}")
                missing += 1
                continue
            found += 1
            if stream is None:
                _print_lineage(one, hierarchy.subnets(one.rows))
            elif is_nested:
                stream.add_json(describer.lineage_json(one))
            else:
                stream.add(describer.narrowest(one))
                stream.flush()
    if missing:
        raise typer.Exit(DONE_IN_PART if found else 1)


def _stream(print_format: Format, columns: Sequence[str]) -> AbstractContextManager[RecordStream | None]:
    """Print records when they are found; a table per target needs no stream."""
    if print_format is Format.TABLE:
        return nullcontext()
    return RecordStream(columns, [0] * len(columns), print_format)


def _print_lineage(found: Found, lineage: list[Subnet]) -> None:
    text, address = found.seed.text, found.seed.range_text
    title = text if text == address else f"{text} ({address})"
    columns = ("subnet", "netname", "organisation", "registry", "country", "status")
    print_table(title, columns, [_row(subnet) for subnet in lineage])
    typer.echo()


def _row(subnet: Subnet) -> tuple[Any, ...]:
    organisation = subnet.organisation.label if subnet.organisation else None
    label = "  " * subnet.depth + subnet.label
    return label, subnet.netname, organisation, subnet.registry.label, subnet.country, subnet.status
