"""Orders to agents that only call out: handed over when they poll, with answers routed back to who asked.

Theory of operation
-------------------
An agent behind NAT cannot be called. It asks the coordinator for work with a request that is held until there
is some, and brings results with requests of their own. `Switchboard` joins the two ends: `client` has the
interface of `AgentClient`, so budget, belief, recovery and politeness are the same rule for both kinds of
agents; `poll` and `take` are what the HTTP routes call.

Each crawler has a `Mailbox`:

    posted ──▶ handed over ──▶ confirmed by the next poll's cursor
       │            └────────▶ handed over again, if the next poll's cursor says that it did not arrive
       └──▶ withdrawn: surely not sent

1. Work stays in the box until a cursor confirms it. Work that arrives twice is harmless: an agent carries out
   an order once, by its id. The cursor names the run of the coordinator too: after a restart nothing of what
   an agent confirms is in the box, and nothing is taken for confirmed.
2. `NotSentError` is raised only for work that was never part of an answer: its orders are given back to the
   budget. As soon as an answer was begun nobody knows, and the desk asks for a repetition instead.
3. Answers go to the exchange that asked, found by the order's id in the box of the agent that brought them.
   What belongs to no exchange of that agent is ignored: it came twice, too late, or is not its business.

The poll is the heartbeat. An agent is present while a poll is held, and for `return_s` after its last
request. Then everything that was handed to it fails at once, as if a connection had broken. All of this is
measured by the monotonic clock: the time of day may jump.

A new process of an agent has a new `boot`; what the old process took is lost with it. Two processes with one
identity would steal each other's orders, so the one that started polling last wins, and the other is refused.

Why a second request for results, and not the next poll? The next poll is already waiting here when the first
probe ends; ending it to deliver a result would cost a round trip more per result.
"""

from __future__ import annotations

import asyncio
import secrets
import uuid
from collections.abc import AsyncIterator, Sequence
from random import Random
from typing import Any

from ipmicra.edge.coordinator.agent_client import Asked, NotSentError
from ipmicra.edge.coordinator.mailbox import Exchange, Mailbox, SwitchboardConfig
from ipmicra.errors import AgentError
from ipmicra.wire.messages import Answer, ProbeOrder, ProbeRequest
from ipmicra.wire.names import NamesRequest, ResolvedName
from ipmicra.wire.polling import PollAnswer, PollRequest, Results, Work

NOT_FETCHED = "its agent does not fetch orders"


class Switchboard:
    """Joins polls of agents with those who ask them."""

    def __init__(self, config: SwitchboardConfig | None = None, rng: Random | None = None) -> None:
        """Start without agents; `rng` spreads the ends of polls."""
        self.config = config or SwitchboardConfig()
        self._rng = rng or Random()  # noqa: S311 - spreads load, keeps no secret
        self._epoch = secrets.token_hex(4)
        self._boxes: dict[str, Mailbox] = {}
        self._is_closing = False

    def client(self, crawler: str) -> CalledAgent:
        """Return a client for the agent of a crawler."""
        return CalledAgent(self._box(crawler), self.config)

    async def poll(self, crawler: str, poll: PollRequest) -> PollAnswer:
        """Return work for an agent, after a while if there is none."""
        longest_s = 0.0 if self._is_closing else min(poll.wait_s, self.config.hold_s)
        hold_s = longest_s * (1.0 - self.config.spread * self._rng.random())
        return await self._box(crawler).next_works(poll, self._epoch, hold_s)

    def take(self, crawler: str, results: Results) -> int:
        """Take in results of an agent; return how many were of use."""
        return self._box(crawler).take(results)

    def is_present(self, crawler: str) -> bool:
        """Return whether an agent polls."""
        return crawler in self._boxes and self._boxes[crawler].is_present

    def expect(self, crawler: str) -> bool | None:
        """Return whether an agent polls; None if it has not called yet and there is time until it must."""
        box = self._box(crawler)
        return box.is_present if box.has_called or not box.is_present else None

    def crawlers(self) -> set[str]:
        """Return the crawlers whose agents called, or were asked for."""
        return set(self._boxes)

    def ignored(self, crawler: str) -> int:
        """Return how many answers of an agent nobody had asked for."""
        return self._boxes[crawler].ignored if crawler in self._boxes else 0

    def forget(self, crawler: str, reason: str) -> None:
        """Drop an agent that left."""
        box = self._boxes.pop(crawler, None)
        if box is not None:
            box.close(reason)

    def tell(self) -> None:
        """Answer every poll that is held now: what an answer says beside work has changed."""
        for box in self._boxes.values():
            box.release()

    def close(self) -> None:
        """Answer every poll that is held: the coordinator stops."""
        self._is_closing = True
        for box in self._boxes.values():
            box.close("the coordinator stops")

    def _box(self, crawler: str) -> Mailbox:
        if crawler not in self._boxes:
            self._boxes[crawler] = Mailbox(crawler, self.config)
        return self._boxes[crawler]


class CalledAgent:
    """An agent that calls out, with the interface of one that listens (`AgentClient`)."""

    def __init__(self, box: Mailbox, config: SwitchboardConfig) -> None:
        """Talk through a mailbox."""
        self._box, self._config = box, config

    async def ask(
        self, orders: list[ProbeOrder], total_s: float, *, only_repeat: bool = False
    ) -> AsyncIterator[list[Answer]]:
        """Yield answers as they come; one to each order.

        `NotSentError` says that nothing was done; any other `AgentError` leaves open what was.
        """
        request = ProbeRequest(orders=tuple(orders), only_repeat=only_repeat)
        asked = Asked("order", {order.id for order in orders})
        # After a restart of the coordinator agents need a moment to come back, and only they know.
        pickup_s = self._config.return_s if only_repeat else self._config.pickup_s
        async for answers in self._exchanged(request, asked, pickup_s, total_s):
            yield answers

    async def resolve(
        self, names: Sequence[str], timeout_ms: float, total_s: float
    ) -> AsyncIterator[list[ResolvedName]]:
        """Yield what the agent's resolver says; once for each name."""
        request = NamesRequest(names=tuple(names), timeout_ms=timeout_ms)
        asked = Asked("name", set(names))
        async for resolved in self._exchanged(request, asked, self._config.pickup_s, total_s):
            yield resolved

    async def is_healthy(self) -> bool:
        """Return whether the agent polls."""
        return self._box.is_present

    async def _exchanged(
        self, request: ProbeRequest | NamesRequest, asked: Asked, pickup_s: float, total_s: float
    ) -> AsyncIterator[list[Any]]:
        exchange = Exchange(Work(id=uuid.uuid4().hex, request=request), asked)
        loop = asyncio.get_running_loop()
        until_s, pickup_until_s = loop.time() + total_s, loop.time() + pickup_s
        self._box.post(exchange)
        left = exchange.size
        try:
            while left:
                limit_s = until_s if exchange.is_handed else min(until_s, pickup_until_s)
                try:
                    async with asyncio.timeout_at(limit_s):
                        news = await exchange.news.get()
                except TimeoutError as error:
                    if exchange.is_handed and limit_s < until_s:
                        continue
                    if not exchange.is_handed:
                        raise NotSentError(NOT_FETCHED) from error
                    raise AgentError(f"not finished within {total_s:.3g} s") from error
                if isinstance(news, AgentError):
                    raise news
                left -= len(news)
                yield news
        finally:
            self._box.withdraw(exchange)
