"""Probes for the coordinator: sent to agents, paid from a budget that a crash cannot overdraw.

```python
async with OrderDesk(store, crawlers, access) as desk:
    async for sample in desk.probe(probes):  # one sample for each probe, in the order of arrival
        ...
```

Theory of operation
-------------------
A budget of probes must hold whatever crashes. So an order is written into the store, and paid for, before it
is sent:

    reserved ──▶ sent ──▶ answered            the sample and the answer's arrival are one transaction
        │          └────▶ broken off ─▶ the agent is asked once to repeat; what it does not know is lost
        └────▶ surely never sent ─────▶ released: the only way that a probe is given back

After a crash `recover()` asks agents to repeat what they answered; nothing is probed again. Whether an order
that broke off was carried out cannot be known, so it stays paid: the budget may be overcharged by a broken
line, and is never overdrawn.

Orders of one crawler travel in batches, small enough that a broken answer loses little. All crawlers are
served at the same time, and samples are yielded as they come. An answer is believed only as far as the
exchange itself allows (`believed`): an agent's stopwatch and clock are not ours.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from types import TracebackType
from typing import Self

import aiohttp

from ipmicra.edge.coordinator.agent_client import (
    AgentAccess,
    AgentPort,
    ClientConfig,
    NotSentError,
    agent_session,
    client_of,
)
from ipmicra.edge.coordinator.avoiding import Avoided, AvoidingConfig
from ipmicra.edge.coordinator.believing import BeliefConfig, believed
from ipmicra.edge.coordinator.target_cap import TargetCap, TargetCapConfig
from ipmicra.edge.log import EventLog
from ipmicra.edge.store.ports import OrderRecord, StorePort
from ipmicra.edge.store.together import Together
from ipmicra.errors import AgentError
from ipmicra.model.address import Address
from ipmicra.model.crawler import Crawler, CrawlerState
from ipmicra.model.probe import Probe
from ipmicra.model.sample import Loss, Rung, Sample
from ipmicra.wire.limits import LIMITS
from ipmicra.wire.messages import Answer, ProbeOrder, longest_s

events = EventLog("coordinator")
CAPPED = "the fleet has probed this block too often within the hour; nothing was sent"
UNRESOLVED = IPv4Address(0)
"""Stands in a sample for the address of a host that could not be resolved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskConfig:
    """How orders are made and sent."""

    budget: str = "probes"
    """Name of the budget that is charged, unless a call names another."""
    samples: int = 3
    """Round trips of each probe."""
    timeout_ms: float = 2_000.0
    wait_ms: float = 30_000.0
    """How long an order may wait at the agent for politeness."""
    first_rung: Rung = Rung.TCP
    download: bool = False
    """Whether the main page is downloaded too."""
    batch: int = 200
    """Orders in one request: small enough that a lost answer loses little."""
    client: ClientConfig = field(default_factory=ClientConfig)
    belief: BeliefConfig = field(default_factory=BeliefConfig)
    avoiding: AvoidingConfig = field(default_factory=AvoidingConfig)
    cap: TargetCapConfig = field(default_factory=TargetCapConfig)


class NoAgentError(NotSentError):
    """There is no agent to send an order to."""


@dataclass(frozen=True, slots=True)
class _Sent:
    """An order on its way."""

    order: ProbeOrder
    crawler: str
    budget: str


class OrderDesk:
    """Sends probes to agents and gives back samples; every sample goes into the store."""

    def __init__(
        self,
        store: StorePort,
        crawlers: Mapping[str, Crawler],
        access: AgentAccess,
        config: DeskConfig | None = None,
        *,
        on_state: Callable[[str, CrawlerState], object] = lambda _name, _state: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Serve crawlers by name; `on_state` is called when an agent falls silent or answers."""
        self._store = store
        self._crawlers = crawlers
        self._access = access
        self._config = config or DeskConfig()
        self._on_state = on_state
        self.fence: Callable[[Sequence[Address]], object] = lambda _addresses: None
        """Called in each transaction that pays for probes: what it raises keeps them from being sent."""
        self._clock = clock
        self._session: aiohttp.ClientSession | None = None
        self._avoided = Avoided(self._config.avoiding)
        self._cap: TargetCap | None = None
        self._together = Together(store)

    async def __aenter__(self) -> Self:
        """Open the session that all agents share."""
        self._session = agent_session()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the session."""
        await self._together.close()
        if self._session is not None:
            await self._session.close()

    def is_avoided(self, crawler: str) -> bool:
        """Return whether an agent failed a moment ago, and is not asked whatever its health."""
        return self._avoided.left_s(crawler) > 0.0

    def forgive(self, crawler: str) -> None:
        """Ask an agent again although it failed a moment ago."""
        self._avoided.forgive(crawler)

    async def probe(self, probes: Iterable[Probe], budget: str | None = None) -> AsyncIterator[Sample]:
        """Return a sample for each probe, as they come; beyond the budget it says so and nothing is sent."""
        payer = budget or self._config.budget
        if self._cap is None:
            self._cap = TargetCap(self._store, self._config.cap, clock=self._clock)
        wanted = [
            _Sent(order_of(uuid.uuid4().hex, probe, self._config), probe.crawler, payer) for probe in probes
        ]
        admitted = [self._cap.admits(one.order.address) for one in wanted]
        sent = [one for one, is_admitted in zip(wanted, admitted, strict=True) if is_admitted]
        for one, is_admitted in zip(wanted, admitted, strict=True):
            if not is_admitted:
                yield self._lost(one, Loss.RATE_LIMITED, CAPPED)
        records = [OrderRecord(id=s.order.id, crawler=s.crawler, address=s.order.address) for s in sent]
        granted = self._store.repeated(lambda: self._reserved(payer, records))
        for one in sent[granted:]:
            yield self._lost(one, Loss.BUDGET, "the probe budget is spent")
        async for sample in self._gathered(sent[:granted], only_repeat=False):
            yield sample

    def _reserved(self, payer: str, records: list[OrderRecord]) -> int:
        self.fence([one.address for one in records if one.address is not None])
        return self._store.budget.reserve(payer, records, self._clock())

    async def recover(self, budget: str | None = None) -> AsyncIterator[Sample]:
        """Ask again for answers that a crash or a broken line swallowed; nothing is probed anew."""
        payer = budget or self._config.budget
        sent = [
            _Sent(order_of(record.id, _probe_of(record), self._config), record.crawler, payer)
            for record in self._store.budget.unanswered(payer)
        ]
        async for sample in self._gathered(sent, only_repeat=True):
            yield sample

    async def _gathered(self, sent: list[_Sent], *, only_repeat: bool) -> AsyncIterator[Sample]:
        """Serve all crawlers at the same time."""
        queue: asyncio.Queue[list[Sample] | None] = asyncio.Queue()
        batches = _batches(sent, self._config.batch)

        async def serve(batch: list[_Sent]) -> None:
            try:
                async for samples in self._serve(batch, only_repeat=only_repeat):
                    queue.put_nowait(samples)
            finally:
                queue.put_nowait(None)

        tasks = [asyncio.create_task(serve(batch)) for batch in batches]
        try:
            left = len(batches)
            while left:
                samples = await queue.get()
                left -= samples is None
                for sample in samples or ():
                    yield sample
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, batch: list[_Sent], *, only_repeat: bool) -> AsyncIterator[list[Sample]]:
        """Carry one batch to one agent; if the line breaks, ask once for what it still knows."""
        waiting = {one.order.id: one for one in batch}
        trouble, has_agent = "", True
        until_s = time.monotonic() + self._longest_s(batch)
        for is_repeat in (True,) if only_repeat else (False, True):
            if not waiting:
                break
            try:
                left_s = max(until_s - time.monotonic(), self._config.client.head_s)
                async for samples in self._exchange(waiting, left_s, only_repeat=is_repeat):
                    yield samples
            except NotSentError as error:
                trouble = trouble or str(error)
                has_agent = not isinstance(error, NoAgentError)
                if has_agent:  # its health may be good all the same: then this would happen again and again
                    self._avoided.note_failure(batch[0].crawler)
                if not is_repeat:
                    self._store.budget.release(batch[0].budget, waiting)
                    break
            except AgentError as error:
                trouble = trouble or str(error)
                self._avoided.note_failure(batch[0].crawler)
        if trouble and has_agent:
            self._log_trouble(batch[0].crawler, trouble, len(waiting))
            self._on_state(batch[0].crawler, CrawlerState.UNREACHABLE)
        if waiting:
            lost = [self._lost(one, Loss.AGENT, trouble or "no answer") for one in waiting.values()]
            await self._keep(lost, waiting)
            yield lost

    def _log_trouble(self, crawler: str, trouble: str, lost: int) -> None:
        events.info(
            "agent_failed",
            "agent of {crawler}: {reason}; {lost} orders without an answer",
            crawler=crawler,
            reason=trouble,
            lost=lost,
        )

    async def _keep(self, samples: list[Sample], ids: Iterable[str]) -> None:
        """Write samples down together with the news that their orders are answered; there is one for each.

        Another coordinator may have asked for the same orders, because it took this one for gone: what it
        has written of them is not written twice.
        """
        answered, at_s = list(ids), self._clock()

        def write() -> None:
            known = self._store.budget.answered_among(answered)
            pairs = zip(answered, samples, strict=True)
            self._store.samples.add_many([one for key, one in pairs if key not in known or self._tells(one)])
            self._store.budget.answer([key for key in answered if key not in known], at_s)

        await self._together.do(write)

    def _tells(self, sample: Sample) -> bool:
        """Return whether a sample has a round trip where the store has none."""
        before = self._store.samples.latest(sample.address).get(sample.crawler)
        return sample.rtt_ms is not None and (before is None or before.rtt_ms is None)

    def _longest_s(self, batch: list[_Sent]) -> float:
        """Return how long an agent may take for a batch, its repetition included."""
        return max(longest_s(one.order) for one in batch) + self._config.client.slack_s

    async def _exchange(
        self, waiting: dict[str, _Sent], total_s: float, *, only_repeat: bool
    ) -> AsyncIterator[list[Sample]]:
        """Send what waits, and take it off the list as it is answered."""
        crawler = next(iter(waiting.values())).crawler
        if not only_repeat and self.is_avoided(crawler):
            raise NotSentError("it failed a moment ago and is not asked for a while")
        client = self._client(crawler)
        events.debug(
            "orders_sent",
            "{orders} orders to {crawler}",
            orders=len(waiting),
            crawler=crawler,
            is_repeat=only_repeat,
        )
        start, started_s = time.perf_counter(), self._clock()
        orders = [one.order for one in waiting.values()]
        async for answers in client.ask(orders, total_s, only_repeat=only_repeat):
            elapsed_ms = None if only_repeat else (time.perf_counter() - start) * 1e3
            window_s = (started_s, self._clock())
            samples = [
                believed(
                    sample_of(waiting[answer.order].crawler, waiting[answer.order].order, answer),
                    waiting[answer.order].order,
                    elapsed_ms,
                    window_s,
                    self._config.belief,
                )
                for answer in answers
            ]
            await self._keep(samples, [answer.order for answer in answers])
            for answer in answers:
                del waiting[answer.order]
            yield samples
        self._avoided.note_success(crawler)
        self._on_state(crawler, CrawlerState.JOINED)

    def _client(self, name: str) -> AgentPort:
        crawler = self._crawlers.get(name)
        if crawler is None or crawler.agent_url is None:
            raise NoAgentError(
                f"there is no crawler named {name!r}" if crawler is None else f"{name} has no agent URL"
            )
        if self._session is None:
            raise NotSentError("the desk is closed: use it as `async with`")
        return client_of(crawler.agent_url, self._session, self._access, self._config.client)

    def _lost(self, sent: _Sent, loss: Loss, detail: str) -> Sample:
        return Sample(
            crawler=sent.crawler,
            address=sent.order.address or UNRESOLVED,
            rtt_ms=None,
            loss=loss,
            detail=detail[: LIMITS.max_detail],
            taken_s=self._clock(),
        )


def order_of(name: str, probe: Probe, config: DeskConfig) -> ProbeOrder:
    """Make the order for a probe."""
    return ProbeOrder(
        id=name,
        address=probe.address,
        host=probe.host,
        scheme=probe.scheme,
        port=probe.port,
        samples=config.samples,
        timeout_ms=config.timeout_ms,
        wait_ms=config.wait_ms,
        first_rung=config.first_rung,
        download=config.download,
    )


def _probe_of(record: OrderRecord) -> Probe:
    """Return what an order of an earlier run asked for, as far as it is needed to ask for its answer."""
    return Probe(crawler=record.crawler, address=record.address or UNRESOLVED)


def sample_of(crawler: str, order: ProbeOrder | None, answer: Answer) -> Sample:
    """Make a sample of an answer; one that names no address is about the order's, if that has one."""
    ordered = order.address if order else None
    return Sample(
        crawler=crawler,
        address=answer.address or ordered or UNRESOLVED,
        rtt_ms=answer.rtt_ms,
        loss=answer.loss,
        rung=answer.rung,
        all_ms=answer.all_ms,
        timings=answer.timings,
        detail=answer.detail,
        taken_s=answer.taken_s,
    )


def _batches(sent: list[_Sent], size: int) -> list[list[_Sent]]:
    """Sort orders by crawler, and cut what is too long for one request."""
    by_crawler: dict[str, list[_Sent]] = {}
    for one in sent:
        by_crawler.setdefault(one.crawler, []).append(one)
    return [
        orders[start : start + size]
        for orders in by_crawler.values()
        for start in range(0, len(orders), size)
    ]
