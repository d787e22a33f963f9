"""`ipmicra forget`: answers that are to be found anew."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ipmicra.cli.completion import POLICIES, one_of
from ipmicra.cli.options import Format, FormatOption, JsonOption, StoreOption, chosen, connection_of, home_of
from ipmicra.cli.output import DONE_IN_PART, print_rows, say, say_some
from ipmicra.model.quantities import plural

COLUMNS = ("kind", "what", "crawler", "policy", "count", "reason")
SHOWN = 50
"""Rows of a table; files and pipes get all."""
REMARKS = 20


def forget(
    context: typer.Context,
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TARGETS]...", help="Hosts, URLs, addresses, prefixes or ranges; files of them, or -."
        ),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            autocompletion=one_of((*POLICIES, "own", "unknown")),
            help="Forget what this policy decided; unknown for answers of versions that did not note it.",
        ),
    ] = None,
    samples: Annotated[bool, typer.Option("--samples", help="Forget the samples, too.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be forgotten; change nothing.")
    ] = False,
    store: StoreOption = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Forget answers, so that they are found anew.

    Forgets delegations of subnets, and with them what rests on them: delegations that were taken over from
    them, results and assignments of sites. A host also loses its pinned address and its schedule. Samples are
    kept unless --samples is given; ended delegations stay in the history that `ipmicra explain` shows.
    """
    print_format = chosen(output_format, as_json)
    home = home_of(context, store=store)
    connection = connection_of(context, home, ("targets", "policy", "samples", "dry_run"))
    if connection is not None:
        from ipmicra.app.connect.commands import forget_remotely

        gone = forget_remotely(connection, targets or (), policy, samples=samples, dry_run=dry_run)
    else:
        from ipmicra.app.forget import forget as forget_targets

        found = forget_targets(home, *(targets or ()), policy=policy, samples=samples, dry_run=dry_run)
        gone = found.record()
    _print(gone, print_format, is_dry=dry_run)


def _print(gone: dict[str, Any], print_format: Format, *, is_dry: bool) -> None:
    records = gone["dropped"]
    is_table = print_format is Format.TABLE
    if records or not is_table:
        print_rows(records[:SHOWN] if is_table else records, COLUMNS, print_format)
    if is_table and len(records) > SHOWN:
        say(f"… and {len(records) - SHOWN:,} more rows; --json shows all")
    say_some(gone["kept"], REMARKS, "remarks of this kind")
    say_some([f"nothing is known of {one}" for one in gone["unknown"]], REMARKS, "such targets")
    counts = ", ".join(plural(count, kind) for kind, count in gone["counts"].items()) or "nothing"
    say(f"would forget: {counts}; nothing was changed" if is_dry else f"forgotten: {counts}")
    if gone["unknown"]:
        raise typer.Exit(DONE_IN_PART if records else 1)
