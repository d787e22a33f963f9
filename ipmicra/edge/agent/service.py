"""Carry out orders: each once, politely, a limited number at a time; answers are remembered for a while.

Theory of operation
-------------------
An order has an id that its coordinator chose. The service knows three kinds of ids: remembered ones (their
answer is repeated), running ones (the new request waits for the same task) and unknown ones (a task is
started, unless the request says `only_repeat`). Hence the one promise that matters: an order is probed at
most once, however often it is sent and whatever becomes of the connection. Tasks do not belong to requests;
when a coordinator disconnects, its probes finish, and after a crash it asks for the same ids again.

The way of an order: pin the address (resolve, check the policy), reserve a turn in the rate limiter, sleep
until the turn comes, wait for one of `concurrency` slots, probe. Orders may queue for slots after their
turn came, and then several turns of one block would be used at once: so a second limiter, `_sent`, spaces
what is really sent. It never refuses, since that decision has been made.

Every order is answered within `longest_s` of its arrival, however busy the agent is: a coordinator counts on
that and waits no longer.

Stopping: `stop` makes every order that has not started answer "the agent is stopping"; `drain` waits for
the rest. Answers that finish within 5 ms of each other are written together, because each chunk of a
response costs as much as several answers.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Collection
from dataclasses import dataclass, replace
from math import inf
from typing import Protocol, TypeVar

from ipmicra.edge.pace.limiter import PolitenessConfig, RateLimiter
from ipmicra.edge.prober.exchange import Exchange
from ipmicra.model.address import Address
from ipmicra.model.sample import Loss
from ipmicra.wire.limits import LIMITS
from ipmicra.wire.messages import Answer, ProbeOrder, ProbeRequest, longest_s

T = TypeVar("T")
GATHER_S = 0.005
"""How long an answer may wait for others to be sent with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceConfig:
    """How much an agent does at a time, and how long it remembers answers."""

    concurrency: int = 1_000
    """Probes in progress at a time; each holds a socket."""
    max_pending: int = 20_000
    """Orders in progress or waiting; beyond that requests are refused."""
    remembered: int = 100_000
    """Answers kept for repetition."""
    remembered_s: float = 3_600.0
    """How long: a coordinator that crashed is back within the hour."""


class Probing(Protocol):
    """What the service needs from a prober."""

    async def pinned(self, order: ProbeOrder) -> tuple[Address | None, float | None, Exchange | None]:
        """Return the address of an order, the time to resolve it, and what forbids or prevents the probe."""
        ...

    async def probe(self, order: ProbeOrder) -> Answer:
        """Measure."""
        ...


class ProbeService:
    """Carries out orders; an order that arrives twice is probed once."""

    def __init__(
        self,
        prober: Probing,
        config: ServiceConfig | None = None,
        politeness: PolitenessConfig | None = None,
        *,
        clock: Callable[[], float] = time.time,
        watch: Callable[[Answer], None] = lambda _: None,
        on_target: Callable[[ProbeOrder], None] = lambda _: None,
    ) -> None:
        """Probe through a prober; `on_target` receives each order before it is sent, `watch` each answer.

        `clock` is the time of day that answers carry. It may jump: how old they are is measured otherwise.
        """
        self._prober = prober
        self._config = config or ServiceConfig()
        self._turns, self._sent = (
            RateLimiter(politeness or PolitenessConfig(), time.monotonic) for _ in "ab"
        )
        self._clock = clock
        self._watch, self._on_target = watch, on_target
        self._slots = asyncio.Semaphore(self._config.concurrency)
        self._running: dict[str, asyncio.Task[Answer]] = {}
        self._answers: OrderedDict[str, tuple[float, Answer]] = OrderedDict()
        self.is_stopping = False

    @property
    def pending(self) -> int:
        """Orders in progress or waiting."""
        return len(self._running)

    @property
    def room(self) -> int:
        """How many more orders can be accepted."""
        return max(0, self._config.max_pending - len(self._running))

    def has_room(self, count: int) -> bool:
        """Return whether so many more orders can be accepted."""
        return count <= self.room

    async def answers(self, request: ProbeRequest) -> AsyncIterator[list[Answer]]:
        """Yield the answers to all orders of a request as they are ready, in groups.

        A client that disconnects loses nothing: the orders continue, and asking again repeats the answers.
        """
        tasks: set[asyncio.Task[Answer]] = set()
        ready: list[Answer] = []
        for order in request.orders:
            known = self._known(order.id)
            if known is not None:
                ready.append(known)
            elif order.id in self._running:
                tasks.add(self._running[order.id])
            elif request.only_repeat:
                detail = "the agent does not know this order: it never arrived, or the agent was restarted"
                ready.append(_lost(order, Loss.AGENT, detail, self._clock()))
            else:
                tasks.add(self._start(order))
        if ready:
            yield ready
        async for done in finished(tasks):
            yield done

    def stop(self) -> None:
        """Start nothing new; probes in progress continue."""
        self.is_stopping = True

    async def drain(self) -> None:
        """Wait for probes in progress."""
        if self._running:
            await asyncio.wait(self._running.values())

    def _known(self, name: str) -> Answer | None:
        found = self._answers.get(name)
        return None if found is None or found[0] < time.monotonic() - self._config.remembered_s else found[1]

    def _start(self, order: ProbeOrder) -> asyncio.Task[Answer]:
        task = asyncio.create_task(self._carry_out(order))
        self._running[order.id] = task
        return task

    async def _carry_out(self, order: ProbeOrder) -> Answer:
        try:
            async with asyncio.timeout(longest_s(order)):
                answer = await self._probe(order)
        except TimeoutError:
            detail = f"the agent is overloaded: not done within {longest_s(order):g} s"
            answer = _lost(order, Loss.AGENT, detail, self._clock())
        except Exception as error:  # noqa: BLE001 - a failure of one order must not fail the batch
            answer = _lost(order, Loss.AGENT, f"the agent failed: {type(error).__name__}", self._clock())
        self._answers[order.id] = (time.monotonic(), answer)
        while len(self._answers) > self._config.remembered:
            self._answers.popitem(last=False)
        self._running.pop(order.id, None)
        self._watch(answer)
        return answer

    async def _probe(self, order: ProbeOrder) -> Answer:
        """Pin the address, wait for its turn, measure."""
        if self.is_stopping:
            return _lost(order, Loss.AGENT, "the agent is stopping; nothing was sent", self._clock())
        address, dns_ms, trouble = await self._prober.pinned(order)
        if trouble is not None or address is None:
            detail = trouble.detail if trouble else "no address"
            loss = (trouble.loss if trouble else None) or Loss.UNREACHABLE
            return replace(_lost(order, loss, detail, self._clock()), address=address)
        wait_s = self._turns.reserve(address, order.wait_ms / 1e3, order.samples)
        if wait_s is None:
            detail = "too many probes of this address or its block; wait, or order with a longer wait_ms"
            return replace(_lost(order, Loss.RATE_LIMITED, detail, self._clock()), address=address)
        if wait_s:
            await asyncio.sleep(wait_s)
        answer = await self._send(order if order.address else replace(order, address=address))
        if dns_ms is not None and answer.timings is not None:
            answer = replace(answer, timings=replace(answer.timings, dns_ms=dns_ms))
        return answer

    async def _send(self, order: ProbeOrder) -> Answer:
        """Measure once there is a slot; turns that came while all slots were taken stay spaced."""
        async with self._slots:
            if self.is_stopping:
                return _lost(order, Loss.AGENT, "the agent is stopping; nothing was sent", self._clock())
            if order.address and (late_s := self._sent.reserve(order.address, inf, order.samples)):
                await asyncio.sleep(late_s)
            self._on_target(order)
            return await self._prober.probe(order)


async def finished(tasks: Collection[asyncio.Task[T]]) -> AsyncIterator[list[T]]:
    """Yield results as tasks end, those that ended meanwhile together."""
    ended: list[asyncio.Task[T]] = []
    some_ended = asyncio.Event()

    def note(task: asyncio.Task[T]) -> None:
        ended.append(task)
        some_ended.set()

    for task in tasks:
        task.add_done_callback(note)
    left = len(tasks)
    while left:
        await some_ended.wait()
        if len(ended) < left:
            await asyncio.sleep(GATHER_S)
        done = [task.result() for task in ended]
        left -= len(done)
        ended.clear()
        some_ended.clear()
        yield done


def _lost(order: ProbeOrder, loss: Loss, detail: str, taken_s: float) -> Answer:
    return Answer(
        order=order.id,
        address=order.address,
        loss=loss,
        detail=detail[: LIMITS.max_detail],
        taken_s=taken_s,
    )
