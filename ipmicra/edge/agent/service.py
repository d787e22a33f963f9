"""What an agent does with orders: each once, politely, so many at a time; answers are kept for a while."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Collection
from dataclasses import dataclass, replace
from typing import Protocol

from ipmicra.edge.agent.politeness import PolitenessConfig, RateLimiter
from ipmicra.edge.prober.config import Exchange
from ipmicra.model.address import Address
from ipmicra.model.sample import Loss
from ipmicra.wire.answers import Answer
from ipmicra.wire.limits import LIMITS
from ipmicra.wire.orders import ProbeOrder, ProbeRequest

GATHER_S = 0.005
"""How long an answer may wait for others that go with it: each piece of a response has its own cost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceConfig:
    """How much an agent does at a time, and how long it remembers."""

    concurrency: int = 1_000
    """Probes under way at a time; each holds a socket."""
    max_pending: int = 20_000
    """Orders that are under way or wait; beyond that requests are turned away."""
    remembered: int = 100_000
    """Answers kept to be repeated."""
    remembered_s: float = 3_600.0
    """How long: a coordinator that crashed is back within the hour."""


class Probing(Protocol):
    """What the service needs of a prober."""

    async def pinned(self, order: ProbeOrder) -> tuple[Address | None, float | None, Exchange | None]:
        """Give the address of an order, the time to resolve it, and what forbids or prevents the probe."""
        ...

    async def probe(self, order: ProbeOrder) -> Answer:
        """Measure."""
        ...


class ProbeService:
    """Carries out orders; an order that comes twice is probed once."""

    def __init__(
        self,
        prober: Probing,
        config: ServiceConfig | None = None,
        politeness: PolitenessConfig | None = None,
        *,
        clock: Callable[[], float] = time.time,
        watch: Callable[[Answer], None] = lambda _: None,
    ) -> None:
        """Probe through a prober; `watch` is told each answer."""
        self._prober = prober
        self._config = config or ServiceConfig()
        self._turns, self._sent = (
            RateLimiter(politeness or PolitenessConfig(), time.monotonic) for _ in "ab"
        )
        self._clock = clock
        self._watch = watch
        self._slots = asyncio.Semaphore(self._config.concurrency)
        self._running: dict[str, asyncio.Task[Answer]] = {}
        self._answers: OrderedDict[str, tuple[float, Answer]] = OrderedDict()
        self.is_stopping = False

    @property
    def pending(self) -> int:
        """Orders that are under way or wait."""
        return len(self._running)

    def has_room(self, count: int) -> bool:
        """Tell whether so many orders more can be taken."""
        return len(self._running) + count <= self._config.max_pending

    async def answers(self, request: ProbeRequest) -> AsyncIterator[list[Answer]]:
        """Answer all orders of a request, as soon as each is done; those done together come together.

        Whoever stops listening loses nothing: the orders go on, and asking again repeats the answers.
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
                detail = "the agent does not know this order: it never came here, or the agent started anew"
                ready.append(_lost(order, Loss.AGENT, detail, self._clock()))
            else:
                tasks.add(self._start(order))
        if ready:
            yield ready
        async for done in _finished(tasks):
            yield done

    def stop(self) -> None:
        """Start nothing new; what is under way goes on."""
        self.is_stopping = True

    async def drain(self) -> None:
        """Wait for what is under way."""
        if self._running:
            await asyncio.wait(self._running.values())

    def _known(self, name: str) -> Answer | None:
        found = self._answers.get(name)
        return None if found is None or found[0] < self._clock() - self._config.remembered_s else found[1]

    def _start(self, order: ProbeOrder) -> asyncio.Task[Answer]:
        task = asyncio.create_task(self._carry_out(order))
        self._running[order.id] = task
        return task

    async def _carry_out(self, order: ProbeOrder) -> Answer:
        try:
            answer = await self._probe(order)
        except Exception as error:  # noqa: BLE001 - one order's mishap must not take the batch with it
            answer = _lost(order, Loss.AGENT, f"the agent failed: {type(error).__name__}", self._clock())
        self._answers[order.id] = (self._clock(), answer)
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
        wait_s = self._turns.reserve(address, order.wait_ms / 1e3)
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
        """Measure once there is a slot; turns that came while all slots were taken keep their distance."""
        async with self._slots:
            if self.is_stopping:
                return _lost(order, Loss.AGENT, "the agent is stopping; nothing was sent", self._clock())
            late_s = self._sent.reserve(order.address, float("inf")) if order.address else None
            if late_s:
                await asyncio.sleep(late_s)
            return await self._prober.probe(order)


async def _finished(tasks: Collection[asyncio.Task[Answer]]) -> AsyncIterator[list[Answer]]:
    """Give answers as tasks end, those that ended meanwhile together."""
    ended: list[asyncio.Task[Answer]] = []
    some_ended = asyncio.Event()

    def note(task: asyncio.Task[Answer]) -> None:
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
