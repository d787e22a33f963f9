"""Run a loopback world: its servers and agents, in threads."""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from ipmicra.edge.agent.run import AgentServer, AgentSettings, make_server
from ipmicra.edge.coordinator.agent_client import AgentAccess
from ipmicra.edge.dns.bulk import Asking, NamesOnDemand
from ipmicra.edge.dns.client import DnsConfig
from ipmicra.edge.loopback.loopback_world import LoopbackWorld
from ipmicra.edge.loopback.servers import SiteServers
from ipmicra.edge.pace.limiter import PolitenessConfig
from ipmicra.errors import IpmicraError
from ipmicra.model.address import Address
from ipmicra.model.crawler import Crawler
from ipmicra.model.name import NameAnswer, NameStatus

NO_HURRY = PolitenessConfig(interval_s=0.0)
"""Sites of our own need no politeness."""
NAMES_S = 3_600.0
"""How long names of a world hold."""
START_S = 60.0
"""How long agents may take to start."""


@dataclass(frozen=True, slots=True)
class WorldNames:
    """Stands in for a resolver: knows the names of a world."""

    addresses: Mapping[str, Address]

    async def ask(self, name: str) -> NameAnswer:
        """Return the address of a site by its name."""
        address, expires_s = self.addresses.get(name), time.time() + NAMES_S
        if address is None:
            return NameAnswer(name=name, status=NameStatus.NXDOMAIN, expires_s=expires_s)
        return NameAnswer(name=name, status=NameStatus.FOUND, addresses=(address,), expires_s=expires_s)


class LoopbackInternet:
    """Runs a world; use as a context."""

    def __init__(
        self,
        world: LoopbackWorld,
        politeness: PolitenessConfig = NO_HURRY,
        dns: Mapping[str, tuple[str, int]] | None = None,
        log: Path | None = None,
    ) -> None:
        """Choose a token for the agents; those of crawlers in `dns` resolve names at the server there.

        All others know the names of the world's sites, and no others. The log gets the pages served.
        """
        self.world = world
        self.token = secrets.token_hex(16)
        self.access = AgentAccess(token=self.token)
        self.servers = SiteServers(world, log)
        self.agents: dict[str, AgentServer] = {}
        self._places = world.addresses()
        self._politeness = politeness
        self._dns = dns or {}
        self._threads: list[tuple[threading.Thread, Callable[[], None]]] = []

    @property
    def port(self) -> int:
        """Of all sites, once they listen."""
        return self.servers.port

    @property
    def crawlers(self) -> dict[str, Crawler]:
        """The world's crawlers, with the URLs of their agents."""
        return {
            crawler.name: replace(
                crawler, agent_url=f"http://127.0.0.1:{self.agents[crawler.name].bound_port}"
            )
            for crawler in self.world.crawlers
        }

    def settings(self, crawler: str) -> AgentSettings:
        """Return the settings of a crawler's agent, which probes the world's sites only."""
        return AgentSettings(
            token=self.token,
            allowed=("127.64.0.0/10",),
            ports=(self.port,),
            source=self.world.sources()[crawler],
            politeness=self._politeness,
            stop_s=1.0,
        )

    def __enter__(self) -> Self:
        """Start servers and agents, and wait until they are ready."""
        try:
            self._run_servers()
            self._run_agents()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_error: object) -> None:
        """Stop everything."""
        for _thread, stop in self._threads:
            stop()
        for thread, _stop in self._threads:
            thread.join(10)

    def _run_servers(self) -> None:
        self.servers.open()
        loop = asyncio.new_event_loop()
        is_up = threading.Event()

        async def serve() -> None:
            await self.servers.start()
            is_up.set()

        def stop() -> None:
            loop.call_soon_threadsafe(self.servers.close)
            loop.call_soon_threadsafe(loop.stop)

        self._start(lambda: _run_forever(loop, serve()), stop)
        if not is_up.wait(START_S):
            raise IpmicraError("the sites of the loopback world did not start")

    def _run_agents(self) -> None:
        sockets = AsyncExitStack()
        for crawler in self.world.crawlers:
            self.agents[crawler.name] = make_server(
                self.settings(crawler.name),
                translate=self._places.get,
                names=self._names_at(crawler.name, sockets),
            )

        async def serve() -> None:
            async with sockets:
                await asyncio.gather(*(agent.serve() for agent in self.agents.values()))
            for agent in self.agents.values():
                for connection in agent.server_state.connections:  # of an agent that did not finish in time
                    connection.transport.abort()
            await asyncio.sleep(0)

        def stop() -> None:
            for agent in self.agents.values():
                agent.service.stop()
                agent.should_exit = True

        self._start(lambda: asyncio.run(serve()), stop)
        deadline = time.monotonic() + START_S
        while not all(agent.started for agent in self.agents.values()):
            if time.monotonic() > deadline or not self._threads[-1][0].is_alive():
                raise IpmicraError("the agents of the loopback world did not start")
            time.sleep(0.01)

    def _names_at(self, crawler: str, sockets: AsyncExitStack) -> Asking:
        place = self._dns.get(crawler)
        if place is not None:
            return NamesOnDemand(DnsConfig(servers=(place,)), sockets)
        return WorldNames({site.host: site.address for site in self.world.sites})

    def _start(self, target: Callable[[], None], stop: Callable[[], None]) -> None:
        thread = threading.Thread(target=target, daemon=True)
        self._threads.append((thread, stop))
        thread.start()


def _run_forever(loop: asyncio.AbstractEventLoop, first: Coroutine[Any, Any, None]) -> None:
    """Run a loop until it is stopped, then close everything in it."""
    asyncio.set_event_loop(loop)
    task = loop.create_task(first)
    loop.run_forever()
    task.cancel()
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
