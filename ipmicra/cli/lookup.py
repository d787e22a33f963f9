"""`ipmicra lookup`: addresses to lineages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ipmicra.cli.options import Format, FormatOption, HierarchyOption, JsonOption, chosen, home_of
from ipmicra.cli.output import DONE_IN_PART, RecordStream, print_table, say

if TYPE_CHECKING:
    from ipmicra.app.describe.hierarchy import LineageDescriber
    from ipmicra.app.lookup.lookup import Answer, Found, Rendered
    from ipmicra.model.subnet import Subnet

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
    hierarchy_file: HierarchyOption = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the subnets that contain each target, and who holds them.

    Widest first. A host name is looked up for each of its addresses.
    """
    from ipmicra.app.describe.hierarchy import LineageDescriber
    from ipmicra.app.lookup.lookup import look_up, look_up_lines

    print_format = chosen(output_format, as_json)
    with home_of(context, hierarchy=hierarchy_file).open_hierarchy() as hierarchy:
        if print_format is Format.TABLE:
            found, missing = _print_tables(look_up(hierarchy, targets), hierarchy.subnets)
        else:
            answers = look_up_lines(hierarchy, targets, is_json=print_format in NESTED)
            found, missing = _print_stream(answers, LineageDescriber(hierarchy), print_format)
    if missing:
        raise typer.Exit(DONE_IN_PART if found else 1)


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
    columns = ("subnet", "netname", "organisation", "registry", "country", "status")
    print_table(title, columns, [_row(subnet) for subnet in lineage])
    typer.echo()


def _row(subnet: Subnet) -> tuple[Any, ...]:
    organisation = subnet.organisation.label if subnet.organisation else None
    label = "  " * subnet.depth + subnet.label
    return label, subnet.netname, organisation, subnet.registry.label, subnet.country, subnet.status
