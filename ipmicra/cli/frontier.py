"""`ipmicra frontier`: a proxy that gives URLs to the queues of their owners."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ipmicra.cli.extras import need_frontier
from ipmicra.cli.options import connection_of, home_of
from ipmicra.errors import InputError


def frontier(
    context: typer.Context,
    upstream: Annotated[
        str, typer.Option("--upstream", metavar="HOST:PORT", help="The URLFrontier service.")
    ],
    listen: Annotated[
        str, typer.Option("--listen", metavar="HOST:PORT", help="Where crawlers find the proxy.")
    ] = "127.0.0.1:7072",
    held: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="URLs that wait for a decision; default: frontier-held.db in the home folder.",
            show_default=False,
        ),
    ] = None,
    most_held: Annotated[
        int, typer.Option(min=1, help="URLs that may wait; clients have to send more again.")
    ] = 1_000_000,
    fresh_s: Annotated[
        float, typer.Option("--refresh-s", min=1, help="Seconds after which an owner is asked for again.")
    ] = 300.0,
) -> None:
    """Run a proxy in front of a URLFrontier service.

    Crawlers put the links that they find into queues of their own. The proxy gives each to the queue of its
    owner, by the coordinator's answer: crawlID is the crawler, key the address block. URLs of hosts that are
    not decided yet are held on the disk, and acknowledged when they are delivered. All other calls pass.
    """
    from ipmicra.app.frontier.run import HELD, FrontierRequest, check_place, run_frontier

    need_frontier()
    home = home_of(context)
    request = FrontierRequest(
        upstream=check_place(upstream, "--upstream"),
        listen=check_place(listen, "--listen"),
        held=held or home.folder / HELD,
        most_held=most_held,
        fresh_s=fresh_s,
    )
    connection = connection_of(context, home, ("upstream", "listen", "held", "most_held", "fresh_s"))
    if connection is None:
        raise InputError(
            "the proxy asks a coordinator: start `ipmicra serve`, or name one with --coordinator URL"
        )
    run_frontier(connection, request)
