"""Names for the coordinator: resolved by agents where they stand, in few requests.

All agents are asked at the same time, each for its names in parts of `batch`, one part after the other. An
agent may be slow, broken, hostile or too old: what it does not answer in time and in order is simply not
known, the others' answers count, and `troubles` tells why. One that failed is left out for a while, with the
same rule as for probes (`Avoided`); one that cannot resolve at all is not asked again.

Nothing is believed about how long an answer holds beyond the bounds that answers of our own DNS have. Which
addresses it names is the agent's word: see `ipmicra.delegate.views` for what may be done with it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import aiohttp

from ipmicra.edge.coordinator.agent_client import (
    AgentAccess,
    ClientConfig,
    UnableError,
    client_of,
)
from ipmicra.edge.coordinator.avoiding import Avoided
from ipmicra.edge.dns.client import DnsConfig
from ipmicra.edge.log import EventLog
from ipmicra.errors import AgentError
from ipmicra.model.crawler import Crawler
from ipmicra.model.name import FAILURES, NameAnswer, NameStatus, View
from ipmicra.wire.names import ResolvedName

events = EventLog("coordinator")


@dataclass(frozen=True, slots=True, kw_only=True)
class NameDeskConfig:
    """How names are asked for."""

    batch: int = 250
    """Names in one request: small enough that a lost answer loses little."""
    timeout_ms: float = 25_000.0
    """Time for the names of a request: a thousand that are under way wait ten seconds for their turns, and a
    resolver that tries three servers takes ten more."""
    busy_s: float = 5.0
    """Pause before names are asked for again that were too many for an agent; once."""
    dns: DnsConfig = field(default_factory=DnsConfig)
    """Bounds on how long answers hold."""
    client: ClientConfig = field(default_factory=ClientConfig)


@dataclass(slots=True)
class NameDesk:
    """Asks agents to resolve names."""

    crawlers: Mapping[str, Crawler]
    session: aiohttp.ClientSession
    access: AgentAccess
    config: NameDeskConfig = field(default_factory=NameDeskConfig)
    clock: Callable[[], float] = time.time
    requests: int = 0
    """Requests that were sent."""
    asked: int = 0
    """Names in them."""
    troubles: dict[str, str] = field(default_factory=dict)
    """Why an agent's answers are missing, by crawler: the last reason."""
    _unable: set[str] = field(default_factory=set)
    _avoided: Avoided = field(default_factory=Avoided)

    async def ask(self, wanted: Mapping[str, Sequence[str]]) -> list[View]:
        """Ask each crawler for its names; return what they see, as far as they answer."""
        asked = [(name, names) for name, names in wanted.items() if names and self._may_ask(name)]
        found = await asyncio.gather(*(self._all_of(name, names) for name, names in asked))
        return [view for views in found for view in views]

    def _may_ask(self, crawler: str) -> bool:
        return crawler not in self._unable and self._avoided.left_s(crawler) <= 0.0

    async def _all_of(self, crawler: str, names: Sequence[str]) -> list[View]:
        views = await self._once(crawler, names)
        busy = [view.answer.name for view in views if view.answer.status is NameStatus.BUSY]
        if busy:
            await asyncio.sleep(self.config.busy_s)
            again = {view.answer.name: view for view in await self._once(crawler, busy)}
            views = [again.get(view.answer.name, view) for view in views]
        return views

    async def _once(self, crawler: str, names: Sequence[str]) -> list[View]:
        views: list[View] = []
        for start in range(0, len(names), self.config.batch):
            try:
                await self._part(crawler, names[start : start + self.config.batch], views)
            except UnableError as error:
                self._unable.add(crawler)
                self._note(crawler, str(error))
                break
            except AgentError as error:
                self._avoided.note_failure(crawler)
                self._note(crawler, str(error))
                break
        else:
            self._avoided.note_success(crawler)
        return views

    async def _part(self, crawler: str, names: Sequence[str], views: list[View]) -> None:
        url = self.crawlers[crawler].agent_url
        if url is None:
            raise UnableError("it has no agent URL")
        client = client_of(url, self.session, self.access, self.config.client)
        total_s = self.config.timeout_ms / 1e3 + self.config.client.slack_s
        self.requests += 1
        self.asked += len(names)
        async for answers in client.resolve(names, self.config.timeout_ms, total_s):
            views += [self._view(crawler, one) for one in answers]

    def _view(self, crawler: str, one: ResolvedName) -> View:
        now_s, dns = self.clock(), self.config.dns
        kept_s = 0.0 if one.status in FAILURES else min(max(one.ttl_s, dns.least_ttl_s), dns.greatest_ttl_s)
        answer = NameAnswer(
            name=one.name, status=one.status, addresses=one.addresses, expires_s=now_s + kept_s
        )
        return View(crawler=crawler, answer=answer, asked_s=now_s)

    def _note(self, crawler: str, reason: str) -> None:
        self.troubles[crawler] = reason
        events.info(
            "names_failed", "agent of {crawler} resolved no names: {reason}", crawler=crawler, reason=reason
        )
