"""`ipmicra diff`: what changed between two editions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ipmicra.cli.options import Format, FormatOption, JsonOption, chosen
from ipmicra.cli.output import print_object, print_records, print_table, say


def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="The older hierarchy.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="The newer hierarchy.")],
    limit: Annotated[int, typer.Option(min=0, help="Changes to show of each kind; 0 shows all.")] = 0,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """List subnets that were added, removed or changed hands."""
    from ipmicra.app.describe.hierarchy import describe_change
    from ipmicra.app.lookup.differences import compare_files

    print_format = chosen(output_format, as_json)
    changes = compare_files(old, new, limit or None)
    counts = {"came": changes.came_count, "went": changes.went_count, "changed": changes.changed_count}
    if print_format is Format.JSON:
        print_object({**counts, "changes": [describe_change(change) for change in changes]}, print_format)
    elif print_format is not Format.TABLE:
        print_records([describe_change(change) for change in changes], print_format)
    else:
        rows = [
            (change.kind, change.subnet.label, change.old_holder, change.new_holder) for change in changes
        ]
        print_table("", ("change", "subnet", "from", "to"), rows)
        say(", ".join(f"{count:,} {kind}" for kind, count in counts.items()))
