"""An agent that calls all coordinators of its fleet.

Where several coordinators share a database, each of them sends orders of its own. So an agent calls each: the
one that it joined (the first), and those that any of them names in its answers. One that is no longer named
is left alone; the first is called as long as the agent runs. All calls share one service, so politeness and
limits hold for all of them together.

Only the first can dismiss an agent. Another one that refuses it is left alone for a while. None is called
without TLS if the first has it: the agent's token goes along.

An agent may have joined by a URL that no coordinator has for itself, as that of a load balancer. Then one of
them hears the agent twice, and refuses the earlier caller: that is the first one. It pauses as long as others
are called, and comes back as a new caller when they are gone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from ipmicra.edge.agent.calling import Caller
from ipmicra.edge.agent.link import CoordinatorLink, DismissedError
from ipmicra.edge.log import EventLog
from ipmicra.errors import InputError, IpmicraError

events = EventLog("agent")
Make = Callable[[CoordinatorLink, Callable[[tuple[str, ...]], object]], Caller]
"""Makes the caller of a coordinator; the function that it is given is called with each answer."""
REFUSED_S = 30.0
"""How long one that refused the agent is left alone."""


class Callers:
    """Calls the coordinator that an agent joined, and the others of its fleet."""

    def __init__(self, first: CoordinatorLink, make: Make) -> None:
        """Call nobody yet."""
        self._first, self._make = first, make
        self._named: dict[str, tuple[str, ...]] = {}
        """By coordinator: whom it named last."""
        self._callers = {first.identity.url: self._first_caller()}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._is_refused = False
        """Whether one of the others refused the agent as well, since the first was called last."""

    def _first_caller(self) -> Caller:
        url = self._first.identity.url
        return self._make(self._first, lambda urls: self._hear(url, urls))

    async def run(self) -> None:
        """Call until cancelled; `DismissedError` says that the first does not want this agent."""
        first = self._first.identity.url
        try:
            while True:
                self._is_refused = False
                try:
                    await self._callers[first].run()
                except DismissedError:
                    await self._stand_by()
                    if self._is_refused:
                        raise
                    self._callers[first] = self._first_caller()
        finally:
            for task in self._tasks.values():
                task.cancel()
            await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _stand_by(self) -> None:
        """Wait while others are called; without any, or if the first is one of them, the refusal counts."""
        first = self._first.identity.url
        self._is_refused = not self._tasks or any(first in urls for urls in self._named.values())
        self._named.pop(first, None)
        while self._tasks and not self._is_refused:
            await asyncio.wait(self._tasks.values(), return_when=asyncio.FIRST_COMPLETED)

    async def finish(self) -> None:
        """Bring what is still in the outboxes, once, before the agent stops."""
        await asyncio.gather(*(caller.finish() for caller in self._callers.values()))

    def _hear(self, teller: str, urls: tuple[str, ...]) -> None:
        """Follow what a coordinator says of the others."""
        self._named[teller] = urls
        first = self._first.identity.url
        wanted = {url for named in self._named.values() for url in named} - {first}
        for url in wanted - self._tasks.keys():
            self._tasks[url] = asyncio.create_task(self._call(url))
        for url in self._tasks.keys() - wanted:
            self._tasks.pop(url).cancel()

    async def _call(self, url: str) -> None:
        link = replace(self._first, identity=replace(self._first.identity, url=url), keep=lambda _: None)
        events.info("agent_calls", "agent calls {url}, too", url=url)
        try:
            if self._first.identity.url.startswith("https:") and not url.startswith("https:"):
                raise InputError("it has no TLS, and the coordinator that the agent joined has it")
            await link.trust()
            caller = self._callers[url] = self._make(link, lambda urls: self._hear(url, urls))
            await caller.run()
        except IpmicraError as error:
            events.warning("agent_refused", "{url} is left alone: {reason}", url=url, reason=str(error))
            self._is_refused = self._is_refused or isinstance(error, DismissedError)
            await asyncio.sleep(REFUSED_S)
        finally:
            self._callers.pop(url, None)
            self._named.pop(url, None)
            if self._tasks.get(url) is asyncio.current_task():
                del self._tasks[url]
