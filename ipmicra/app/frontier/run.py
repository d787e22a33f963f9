"""Run the proxy in front of a URLFrontier service."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ipmicra.app.connect.commands import Connection
from ipmicra.edge.log import EventLog
from ipmicra.errors import InputError

events = EventLog("frontier")
HELD = "frontier-held.db"
"""In the home folder: URLs that wait for a decision."""
FLUSH_S = 0.1
LOG_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierRequest:
    """What a user wants."""

    upstream: str
    listen: str
    held: Path
    most_held: int = 1_000_000
    fresh_s: float = 300.0


def check_place(text: str, option: str) -> str:
    """Return HOST:PORT; `InputError` for anything else."""
    host, _, port = text.rpartition(":")
    if not host or not port.isdigit() or not 0 <= int(port) <= 65_535:  # noqa: PLR2004 - ports
        raise InputError(f"{option} {text!r} must be HOST:PORT")
    return text


def run_frontier(connection: Connection, request: FrontierRequest) -> None:
    """Run until interrupted."""
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # what matters is in our own log
    asyncio.run(_run(connection, request))


async def _run(connection: Connection, request: FrontierRequest) -> None:
    import grpc.aio

    from ipmicra.app.connect.link import CoordinatorLink
    from ipmicra.app.frontier.asking import CoordinatorAsker
    from ipmicra.edge.frontier.delivering import Delivery
    from ipmicra.edge.frontier.holding import Holding
    from ipmicra.edge.frontier.proxy import FrontierProxy, serve
    from ipmicra.edge.frontier.routes import Routes, RoutesConfig

    holding = Holding(request.held, request.most_held)
    link = CoordinatorLink(connection.url, connection.token, connection.authority)
    async with link, grpc.aio.insecure_channel(request.upstream) as channel:
        routes = Routes(CoordinatorAsker(link), time.monotonic, RoutesConfig(fresh_s=request.fresh_s))
        delivery = Delivery(channel, routes, holding)
        proxy = FrontierProxy(channel, routes, delivery)
        taken_up = await delivery.take_up()

        async def beside() -> None:
            async with asyncio.TaskGroup() as group:
                group.create_task(routes.run())
                group.create_task(delivery.run())
                group.create_task(holding.run(FLUSH_S))
                group.create_task(_log(proxy))

        def ready(port: int) -> None:
            host = request.listen.rpartition(":")[0]
            events.info(
                "frontier_started",
                "proxy at {place} for {upstream}; {held} URLs held",
                place=f"{host}:{port}",
                upstream=request.upstream,
                held=taken_up,
            )

        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - this is one
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, task.cancel)
        try:
            with suppress(asyncio.CancelledError):
                await serve(proxy, request.listen, beside, ready)
        finally:
            await holding.close()
            events.info("frontier_stopped", "{held} URLs held", held=holding.count)


async def _log(proxy: object) -> None:
    """Say now and then what went through."""
    from dataclasses import asdict

    while True:
        await asyncio.sleep(LOG_S)
        counts = asdict(proxy.counts)  # type: ignore[attr-defined]
        events.info("frontier_counts", "{counts}", counts=counts, waiting=proxy.routes.waiting)  # type: ignore[attr-defined]
