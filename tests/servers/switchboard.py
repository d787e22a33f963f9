"""A coordinator that does nothing but reach agents that call out, on a free port of loopback."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from starlette.applications import Starlette

from ipmicra.app.access import TokenWish, add_token
from ipmicra.app.fleet.fleet import Fleet
from ipmicra.app.serve.api.agents import agent_routes
from ipmicra.app.serve.membership import AgentDesk, Membership, MembershipConfig
from ipmicra.edge.agent.callers import Callers
from ipmicra.edge.agent.calling import Caller, CallingConfig
from ipmicra.edge.agent.joining import JoinSettings, link_up
from ipmicra.edge.agent.link import CoordinatorLink, call_session
from ipmicra.edge.agent.run import AgentSettings, make_parts
from ipmicra.edge.coordinator.access import Access, AccessConfig
from ipmicra.edge.coordinator.agent_client import AgentAccess
from ipmicra.edge.coordinator.mailbox import SwitchboardConfig
from ipmicra.edge.coordinator.orders import DeskConfig, OrderDesk
from ipmicra.edge.coordinator.switchboard import Switchboard
from ipmicra.edge.pace.limiter import PolitenessConfig
from ipmicra.edge.store.ports import StorePort
from ipmicra.edge.web.connection_limits import ConnectionLimiter, ConnectionLimits
from ipmicra.edge.web.server import LimitedServer, ServerSettings, listening, uvicorn_config
from ipmicra.model.address import Address, read_address
from ipmicra.model.crawler import Crawler
from ipmicra.model.token import Role
from ipmicra.wire.joining import decode_join_token

QUICK = SwitchboardConfig(hold_s=5.0, pickup_s=3.0, return_s=2.0)
EAGER = CallingConfig(first_pause_s=0.05, longest_pause_s=0.5, wait_s=5.0)


@dataclass
class Board:
    """A coordinator with its store; `url` is where agents call."""

    store: StorePort
    url: str
    membership: Membership
    certificate: Path | None = None
    named: tuple[str, ...] = ()
    """Coordinators that agents hear of."""
    server: LimitedServer = field(init=False)

    @property
    def switchboard(self) -> Switchboard:
        return self.membership.switchboard

    def invite(self, name: str = "fra", **more: Any) -> str:
        """Make a join token."""
        wish = {"url": self.url, "certificate": self.certificate, **more}
        return add_token(self.store, TokenWish(name=name, role=Role.JOIN, **wish))

    def crawlers(self) -> dict[str, Crawler]:
        return {one.crawler.name: one.crawler for one in self.store.crawlers.all()}

    def desk(self, **more: Any) -> OrderDesk:
        """Make a desk that orders through the switchboard."""
        self.store.budget.open("probes", None)
        settings = {"samples": 1, "timeout_ms": 1_000.0, "wait_ms": 2_000.0, **more}
        access = AgentAccess(switchboard=self.switchboard)
        return OrderDesk(self.store, self.crawlers(), access, DeskConfig(**settings))


@asynccontextmanager
async def coordinating(
    store: StorePort,
    *,
    config: SwitchboardConfig = QUICK,
    made: socket.socket | None = None,
    certificate: tuple[Path, Path] | None = None,
    authority: Path | None = None,
    url: str | None = None,
) -> AsyncIterator[Board]:
    """Serve agents that call out, in the loop of the test."""
    access = Access(store, AccessConfig(check_s=0.05, eager_s=0.0))
    membership = Membership(
        store,
        access,
        Switchboard(config, Random(1)),
        lambda: Fleet(store),
        config=MembershipConfig(watch_s=0.05),
    )
    shown = authority or (certificate[0] if certificate else None)
    desk = AgentDesk(
        membership=membership,
        authority=lambda: shown.read_text() if shown else "",
        body_s=2.0,
        coordinators=lambda: board.named,
    )
    listener = made or listening("127.0.0.1", 0)
    settings = ServerSettings(
        certificate=certificate[0] if certificate else None,
        key=certificate[1] if certificate else None,
        stop_s=1.0,
        limits=ConnectionLimits(connections=3_000, unauthenticated=2_000, unauthenticated_per_client=2_000),
    )
    configuration = uvicorn_config(Starlette(routes=agent_routes(desk)), settings)
    configuration.load()
    server = LimitedServer(configuration, ConnectionLimiter(settings.limits))
    scheme = "https" if certificate else "http"
    place = url or f"{scheme}://127.0.0.1:{listener.getsockname()[1]}"
    board = Board(store, place, membership, shown)
    board.server = server
    tasks = [asyncio.create_task(server.serve(sockets=[listener])), asyncio.create_task(membership.watch())]
    try:
        while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
            await asyncio.sleep(0.01)
        yield board
    finally:
        membership.switchboard.close()
        server.should_exit = True
        tasks[1].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def calling(
    token: str,
    folder: Path,
    *,
    address: str | None = "198.51.100.9",
    config: CallingConfig = EAGER,
    proxy: str | None = None,
    **settings: Any,
) -> AsyncIterator[Caller]:
    """Run an agent that calls out, in the loop of the test."""
    agent = AgentSettings(
        **{"allowed": ("127.0.0.0/8",), "politeness": PolitenessConfig(interval_s=0.0), **settings}
    )
    public: Address | None = read_address(address) if address else None
    join = JoinSettings(
        identity_file=folder / "identity.json", join=decode_join_token(token), address=public, proxy=proxy
    )
    async with call_session() as session:
        link = await link_up(join, session, Random(2))
        parts = make_parts(agent)

        def make(link: CoordinatorLink, on_answer: Callable[[tuple[str, ...]], object]) -> Caller:
            made.append(Caller(link, parts.service, parts.names, config, rng=Random(3), on_answer=on_answer))
            return made[-1]

        made: list[Caller] = []
        running = asyncio.create_task(Callers(link, make).run())
        try:
            yield made[0]
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            if parts.target_log is not None:
                parts.target_log.close()
