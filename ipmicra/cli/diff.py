"""`ipmicra diff`: what changed between two editions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ipmicra.cli.output import (
    Format,
    FormatOption,
    JsonOption,
    chosen,
    print_object,
    print_records,
    print_table,
    say,
)

if TYPE_CHECKING:
    from ipmicra.app.lookup.differences import Change, Changes


def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="The older hierarchy.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="The newer hierarchy.")],
    limit: Annotated[int, typer.Option(min=0, help="Changes shown of each kind; 0 shows all.")] = 0,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """List subnets that came, went or changed hands."""
    from ipmicra.app.lookup.differences import list_changes
    from ipmicra.app.lookup.lookup import open_hierarchy

    print_format = chosen(output_format, as_json)
    changes = list_changes(open_hierarchy(old), open_hierarchy(new), limit or None)
    counts = {"came": changes.came_count, "went": changes.went_count, "changed": changes.changed_count}
    if print_format is Format.JSON:
        print_object({**counts, "changes": [_record(change) for change in changes]}, print_format)
    elif print_format is not Format.TABLE:
        print_records([_record(change) for change in changes], print_format)
    else:
        print_table("", ("change", "subnet", "from", "to"), _rows(changes))
        say(", ".join(f"{count:,} {kind}" for kind, count in counts.items()))


def _rows(changes: Changes) -> Iterator[tuple[Any, ...]]:
    for change in changes:
        yield change.kind, change.subnet.label, change.old_holder, change.new_holder


def _record(change: Change) -> dict[str, Any]:
    return {
        "change": change.kind,
        "first": str(change.subnet.first),
        "last": str(change.subnet.last),
        "prefix": change.subnet.prefix,
        "netname": change.subnet.netname,
        "old_holder": change.old_holder,
        "new_holder": change.new_holder,
    }
