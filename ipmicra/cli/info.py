"""`ipmicra info`: what a hierarchy is and came from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ipmicra.cli.hierarchy_option import HierarchyOption, hierarchy_path
from ipmicra.cli.output import Format, FormatOption, JsonOption, chosen, print_object, print_table

COUNTS = ("subnets", "organisations", "max_depth", "overlaps", "duplicates")


def info(
    context: typer.Context,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="Hierarchy; by default the one in the home folder."),
    ] = None,
    hierarchy_file: HierarchyOption = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Read the whole file and compare it with its hashes.")
    ] = False,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a hierarchy's edition, counts and dumps."""
    from ipmicra.app.describe import describe_edition
    from ipmicra.app.lookup.lookup import open_hierarchy

    print_format = chosen(output_format, as_json)
    path = hierarchy_path(context, file or hierarchy_file)
    hierarchy = open_hierarchy(path)
    if verify:
        hierarchy.verify()
    meta = hierarchy.meta
    record: dict[str, Any] = {
        "file": str(path),
        "size_bytes": path.stat().st_size,
        "verified": verify,
        **{name: meta.get(name) for name in COUNTS},
        "tally": meta.get("tally"),
        "edition": describe_edition(hierarchy.edition),
    }
    if print_format is not Format.TABLE:
        print_object(record, print_format)
        return
    _print(record)


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
