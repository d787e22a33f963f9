"""`ipmicra store`: what is remembered, moved, backed up and pruned."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ipmicra.cli.options import Format, FormatOption, JsonOption, StoreOption, chosen, home_of
from ipmicra.cli.output import print_object, print_rows, progress_bar, say
from ipmicra.model.quantities import plural

store = typer.Typer(
    name="store",
    help="Look after the store: info, copy, backup, prune.",
    no_args_is_help=True,
)
ReplaceOption = Annotated[bool, typer.Option("--replace", help="Overwrite what the target holds.")]


@store.command()
def info(
    context: typer.Context,
    url: StoreOption = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what the store holds: rows by table, size, who works in it."""
    from ipmicra.app.store import describe_store

    print_format = chosen(output_format, as_json)
    found = describe_store(home_of(context, store=url))
    if print_format is Format.TABLE:
        rows = [{"table": name, "rows": count} for name, count in found.rows.items()]
        print_rows(rows, ("table", "rows"), print_format)
        say(f"{found.kind} store {found.store}: schema {found.schema}, {found.size_bytes / 1e6:,.1f} MB")
        for purpose, holder in found.holders.items():
            say(f"held to {purpose} by {holder}")
    else:
        print_object(asdict(found), print_format)


@store.command()
def copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help="Store to copy: a file or URL.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="Store to copy into: a file or URL.")],
    replaces: ReplaceOption = False,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Copy a store into another one, of either database.

    FROM may be in use: it is copied as it is when the copy begins. TO must be empty unless --replace is
    given, and cannot be used before the copy is complete and counted. A copy that was interrupted is begun
    again by the same command.
    """
    from ipmicra.app.store import copy_store

    print_format = chosen(output_format, as_json)
    with progress_bar() as show:
        counts = copy_store(source, target, show, replaces=replaces)
    _print_counts(counts, print_format)
    rows, tables = plural(sum(counts.values()), "row"), plural(len(counts), "table")
    say(f"copied {rows} of {tables}; both stores have as many")


@store.command()
def backup(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File to write: a SQLite store.")],
    replaces: ReplaceOption = False,
    url: StoreOption = None,
) -> None:
    """Copy the store into one file while others write to it.

    The file appears when it is complete and checked. It is a store itself; `ipmicra store copy FILE TO
    --replace` brings it back.
    """
    from ipmicra.app.store import backup_store

    with progress_bar() as show:
        size = backup_store(home_of(context, store=url), file, show, replaces=replaces)
    say(f"backup: {file}, {size / 1e6:,.1f} MB")


@store.command()
def prune(
    context: typer.Context,
    sample_days: Annotated[
        float | None, typer.Option(min=0, metavar="DAYS", help="Keep samples so long; default: 180.")
    ] = None,
    samples_per_pair: Annotated[
        int | None,
        typer.Option(min=1, metavar="COUNT", help="Samples of a crawler and an address; default: 50."),
    ] = None,
    result_days: Annotated[
        float | None,
        typer.Option(min=0, metavar="DAYS", help="Keep ended batches and their results; default: 90."),
    ] = None,
    batches: Annotated[
        int | None, typer.Option(min=0, metavar="COUNT", help="Ended batches to keep; default: 200.")
    ] = None,
    history_days: Annotated[
        float | None, typer.Option(min=0, metavar="DAYS", help="Keep ended delegations; default: 365.")
    ] = None,
    history_per_subnet: Annotated[
        int | None,
        typer.Option(min=0, metavar="COUNT", help="Ended delegations of a subnet to keep; default: 20."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only count what would be removed; change nothing.")
    ] = False,
    url: StoreOption = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove what is old: samples, results, history, expired names.

    Never removes what is still needed: the newest sample of each crawler and address, unless the crawler
    left; batches that are not ended; delegations and assignments themselves. It may run while others work.
    """
    from ipmicra.app.store import Retention, prune_store

    chosen_limits = {
        "sample_days": sample_days,
        "samples_per_pair": samples_per_pair,
        "result_days": result_days,
        "batches": batches,
        "history_days": history_days,
        "history_per_subnet": history_per_subnet,
    }
    print_format = chosen(output_format, as_json)
    keeps = Retention(**{name: value for name, value in chosen_limits.items() if value is not None})  # type: ignore[arg-type]
    counts = prune_store(home_of(context, store=url), keeps, dry_run=dry_run)
    _print_counts(counts, print_format)
    total = plural(sum(counts.values()), "row")
    say(f"would remove {total}; nothing was changed" if dry_run else f"removed {total}")


def _print_counts(counts: dict[str, int], print_format: Format) -> None:
    if print_format is Format.TABLE:
        rows = [{"what": name, "rows": count} for name, count in counts.items() if count]
        if rows:
            print_rows(rows, ("what", "rows"), print_format)
    else:
        print_object(counts, print_format)
