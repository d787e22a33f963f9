"""`ipmicra divert`: carry URLs between crawlers of Heritrix."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ipmicra.cli.options import connection_of, home_of
from ipmicra.cli.output import DONE_IN_PART, say
from ipmicra.errors import InputError


def divert(
    context: typer.Context,
    folders: Annotated[
        list[Path], typer.Argument(metavar="FOLDER...", help="Folders with .divert files of Heritrix.")
    ],
    to: Annotated[
        list[str] | None,
        typer.Option(
            "--to", metavar="CRAWLER=FOLDER", help="The folder `action` of a crawler's job; repeatable."
        ),
    ] = None,
) -> None:
    """Carry the URLs that crawlers of Heritrix leave for each other.

    Every finished .divert file becomes a .schedule file in the folder `action` of its crawler. URLs of hosts
    that the map did not name go to their owner, by the coordinator's answer. Files that were delivered are
    moved to the folder `carried`; what could not be delivered stays, for the next call. Run it by a timer.
    """
    from ipmicra.app.divert import carry, read_folders

    places = read_folders(to or ())
    if not places:
        raise InputError(
            "nowhere to carry to: name a folder for each crawler, as --to nyc=/jobs/crawl/action"
        )
    connection = connection_of(context, home_of(context), ("folders", "to"))
    report = carry(folders, places, connection)
    counts = ", ".join(f"{count:,} URLs to {name}" for name, count in sorted(report.urls.items()))
    say(f"{report.files} files: {counts or 'nothing to carry'}")
    for line in report.left_out.lines():
        say(line)
    if report.left_out.count:
        raise typer.Exit(DONE_IN_PART)
