"""`ipmicra info`: what a hierarchy is and came from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ipmicra.cli.options import Format, FormatOption, HierarchyOption, JsonOption, chosen, home_of
from ipmicra.cli.output import print_object, print_table

COUNTS = ("subnets", "organisations", "max_depth", "overlaps", "duplicates")


def info(
    context: typer.Context,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="Hierarchy; by default the one in the home folder."),
    ] = None,
    hierarchy_file: HierarchyOption = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Read the whole file and check it against its hashes.")
    ] = False,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a hierarchy's edition, counts and dumps."""
    from ipmicra.app.describe.hierarchy import describe_file

    print_format = chosen(output_format, as_json)
    home = home_of(context, hierarchy=file or hierarchy_file)
    with home.open_hierarchy() as hierarchy:
        if verify:
            hierarchy.verify()
        record = describe_file(home.hierarchy, hierarchy, is_verified=verify)
    if print_format is Format.TABLE:
        _print(record)
    else:
        print_object(record, print_format)


def _print(record: dict[str, Any]) -> None:
    edition, tally = record["edition"], record["tally"] or {}
    rows = [
        ("file", record["file"]),
        ("size", f"{record['size_bytes']:,} bytes"),
        ("edition", edition["content_hash"]),
        ("verified", "every byte is as written" if record["verified"] else "header only; --verify reads all"),
        *((name.replace("_", " "), record[name]) for name in COUNTS if record[name] is not None),
        ("paragraphs", ", ".join(f"{count} {fate}" for fate, count in tally.items())),
    ]
    print_table("", ("", ""), rows)
    typer.echo()
    columns = ("name", "dialect", "date", "size_bytes")
    print_table(
        "", ("dump", "dialect", "newest", "bytes"), [[dump[c] for c in columns] for dump in edition["dumps"]]
    )
