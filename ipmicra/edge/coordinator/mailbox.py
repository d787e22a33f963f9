"""What waits for one agent that calls out: work, polls and those who wait for answers.

See `switchboard.py` for how it works.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from ipmicra.edge.coordinator.agent_client import Asked, NotSentError, UnableError
from ipmicra.errors import AgentError
from ipmicra.wire.limits import LIMITS
from ipmicra.wire.messages import ProbeRequest
from ipmicra.wire.polling import PollAnswer, PollRequest, Results, Work

GONE = "its agent stopped polling"
RESTARTED = "its agent was restarted"


class SupersededError(AgentError):
    """Another process of the same agent has taken over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchboardConfig:
    """How long agents may take."""

    hold_s: float = 50.0
    """How long a poll is held without work: below the 60 s after which many proxies cut a silent request."""
    spread: float = 0.1
    """Share of that time by which holds differ, so that polls that began together do not stay together."""
    pickup_s: float = 6.0
    """How long work waits for its agent, as long as a listening agent may take to accept a request."""
    return_s: float = 15.0
    """How long an agent may stay away between two requests."""
    boots: int = 16
    """Earlier processes of an agent that are remembered, and refused."""
    queued: int = 5_000
    """Orders and names that may wait for one agent."""


@dataclass(slots=True, eq=False)
class Exchange:
    """Somebody who waits for the answers to one work."""

    work: Work
    asked: Asked
    news: asyncio.Queue[list[Any] | AgentError] = field(default_factory=asyncio.Queue)
    number: int = 0
    """Number of the answer that it is part of; 0 while it is to be handed over, or handed over again."""
    is_handed: bool = False
    """Whether the work was ever part of an answer."""

    def fail(self, reason: str) -> None:
        """Give up; the error says whether the work may have been done."""
        self.news.put_nowait(AgentError(reason) if self.is_handed else NotSentError(reason))

    @property
    def orders(self) -> list[str]:
        """The ids of the orders in it."""
        request = self.work.request
        return [order.id for order in request.orders] if isinstance(request, ProbeRequest) else []

    @property
    def size(self) -> int:
        """Orders, or names."""
        request = self.work.request
        return len(request.orders if isinstance(request, ProbeRequest) else request.names)


class Mailbox:
    """What waits for one agent, and who waits for it."""

    def __init__(self, crawler: str, config: SwitchboardConfig) -> None:
        """Expect the agent within `return_s`: after a restart of the coordinator all have to come back."""
        self.crawler = crawler
        self._config = config
        self._boot = ""
        self._old_boots: OrderedDict[str, None] = OrderedDict()
        self._answers = 0
        """Number of the last answer that had work in it."""
        self._turn = 0
        """Number of the last poll."""
        self._works: list[Exchange] = []
        """Not confirmed yet, in the order in which they were posted."""
        self._by_order: dict[str, Exchange] = {}
        self._by_work: dict[str, Exchange] = {}
        self._wake: asyncio.Future[None] | None = None
        """Wakes the poll that is held."""
        self._timer: asyncio.TimerHandle | None = None
        self.is_present = True
        self.ignored = 0
        """Answers that nobody asked for, or that came twice."""
        self.seen_s = 0.0
        """When the agent last sent something, by the loop's clock."""
        self._expect()

    @property
    def has_called(self) -> bool:
        """Whether the agent ever sent something."""
        return self.seen_s > 0.0

    # --- the agent's side

    async def next_works(self, poll: PollRequest, epoch: str, hold_s: float) -> PollAnswer:
        """Return work, as soon as there is some or the time is over."""
        self._meet(poll.boot)
        confirmed = self._confirm(poll.cursor, epoch)
        self._turn += 1
        turn = self._turn
        self.release()
        handed = self._hand(poll.capacity)
        if not handed and hold_s > 0:
            await self._hold(hold_s)
            if self._boot != poll.boot:
                raise SupersededError(self._taken_over())
            if turn == self._turn:  # else a later poll of the same process has taken its place
                handed = self._hand(poll.capacity)
        # An empty answer confirms nothing: what is not confirmed yet may still have to be handed over again.
        number = self._answers if handed else confirmed
        return PollAnswer(cursor=f"{epoch}.{number}", works=tuple(one.work for one in handed))

    async def _hold(self, hold_s: float) -> None:
        self._wake = wake = asyncio.get_running_loop().create_future()
        self._unexpect()
        try:
            await asyncio.wait([wake], timeout=hold_s)
        finally:
            if self._wake is wake:
                self._wake = None
                self._expect()

    def take(self, results: Results) -> int:
        """Route results to who asked; return how many were of use."""
        self._meet(results.boot)
        groups: dict[Exchange, list[Any]] = {}
        for answer in results.answers:
            self._sort(groups, self._by_order.get(answer.order), answer.order, answer)
        for work, name in results.names:
            self._sort(groups, self._by_work.get(work), name.name, name)
        for refusal in results.refusals:
            exchange = self._by_work.get(refusal.work)
            if exchange is not None:
                kind = UnableError if refusal.is_unable else NotSentError
                exchange.news.put_nowait(kind(f"it refused: {refusal.reason}"))
        for exchange, group in groups.items():
            exchange.news.put_nowait(group)
        return sum(map(len, groups.values()))

    def _sort(
        self, groups: dict[Exchange, list[Any]], exchange: Exchange | None, key: str, item: object
    ) -> None:
        if exchange is None or key not in exchange.asked.missing:
            self.ignored += 1
            return
        exchange.asked.answered([key])
        groups.setdefault(exchange, []).append(item)

    def _meet(self, boot: str) -> None:
        """Recognise the process that calls; a new one ends what the old one was doing."""
        if boot in self._old_boots:
            raise SupersededError(self._taken_over())
        if boot != self._boot:
            if self._boot:
                self._old_boots[self._boot] = None
                while len(self._old_boots) > self._config.boots:
                    self._old_boots.popitem(last=False)
                self._fail(RESTARTED, only_handed=True)
            self._boot = boot
            self.release()
        self.seen_s = asyncio.get_running_loop().time()
        self.is_present = True
        if self._wake is None:
            self._expect()

    def _taken_over(self) -> str:
        return (
            f"another process calls as the agent of {self.crawler}: this one was superseded; "
            "run one agent per identity"
        )

    def _confirm(self, cursor: str, epoch: str) -> int:
        """Drop what has arrived, and note that the rest has not; return the number that was confirmed."""
        named, _, number = cursor.rpartition(".")
        confirmed = int(number) if named == epoch and number.isdecimal() else 0
        self._works = [one for one in self._works if not 0 < one.number <= confirmed]
        for one in self._works:
            one.number = 0
        return confirmed

    def _hand(self, capacity: int) -> list[Exchange]:
        """Choose what fits, in order."""
        handed: list[Exchange] = []
        left = min(capacity, LIMITS.max_orders)
        for exchange in self._works:
            left -= exchange.size
            if left < 0:
                break
            handed.append(exchange)
        self._answers += bool(handed)
        for exchange in handed:
            exchange.number, exchange.is_handed = self._answers, True
        return handed

    def release(self) -> None:
        """Let go of the poll that is held, if there is one."""
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    # --- the coordinator's side

    def post(self, exchange: Exchange) -> None:
        """Leave work for the agent."""
        waiting = sum(one.size for one in self._works)
        if not self.is_present:
            raise NotSentError(GONE)
        if waiting + exchange.size > self._config.queued:
            raise NotSentError(f"{waiting:,} orders wait for its agent already")
        self._works.append(exchange)
        self._by_work[exchange.work.id] = exchange
        for key in exchange.orders:
            self._by_order[key] = exchange
        self.release()

    def withdraw(self, exchange: Exchange) -> None:
        """Forget work that nobody waits for any more."""
        self._works = [one for one in self._works if one is not exchange]
        self._by_work.pop(exchange.work.id, None)
        for key in exchange.orders:
            if self._by_order.get(key) is exchange:
                del self._by_order[key]

    def _fail(self, reason: str, *, only_handed: bool = False) -> None:
        for exchange in list(self._by_work.values()):
            if exchange.is_handed or not only_handed:
                exchange.fail(reason)

    # --- presence

    def _expect(self) -> None:
        """Start the time within which the agent must call again."""
        self._unexpect()
        self._timer = asyncio.get_running_loop().call_later(self._config.return_s, self._gone)

    def _unexpect(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _gone(self) -> None:
        self.is_present = False
        self._fail(GONE)

    def close(self, reason: str) -> None:
        """Fail what waits, and release a poll that is held."""
        self._unexpect()
        self.is_present = False
        self._fail(reason)
        self.release()
