"""Probes on their way: gathered for each agent, few enough at a time, none sent twice in a batch.

A probe waits a few milliseconds for others that go to the same agent, so that one request carries many. At
most `per_agent` of an agent's probes are under way; the rest queue here. A pair of crawler and address is
probed once in a batch: a second attempt that wants it waits for the same sample, and a pair that an earlier
run of the batch probed is answered from the store. Only a subnet that is due to be measured again asks for
samples that are newer than that.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import inf

from ipmicra.app.delegate.options import DrivingConfig
from ipmicra.edge.coordinator.orders import OrderDesk
from ipmicra.edge.store.ports import StorePort
from ipmicra.model.address import Address
from ipmicra.model.probe import Probe
from ipmicra.model.sample import Loss, Sample

Pair = tuple[str, Address]
"""Crawler and address: probed once in a batch."""


@dataclass(slots=True)
class ProbeCounts:
    """How many probes were used."""

    sent: int = 0
    """Asked of agents in this run."""
    repeated: int = 0
    """Answered from the store: an earlier run of the batch had asked."""


@dataclass(slots=True)
class ProbeQueue:
    """Carries probes to the order desk and samples back, each sample once to every attempt that waits."""

    desk: OrderDesk
    store: StorePort
    config: DrivingConfig
    on_sample: Callable[[int, Sample], None]
    """Called with an attempt and its sample."""
    fail: Callable[[BaseException], None]
    counts: ProbeCounts = field(default_factory=ProbeCounts)
    watchers: list[Callable[[Sample], object]] = field(default_factory=list)
    """Called with every sample that an agent was asked for."""
    remembered_s: float = inf
    """Age up to which a sample answers for a second probe."""
    clock: Callable[[], float] = time.time
    _asked: set[Pair] = field(default_factory=set)
    """Pairs whose sample is in the store."""
    _waiting: dict[Pair, list[int]] = field(default_factory=dict)
    """Attempts that wait for a pair's sample."""
    _queues: dict[str, deque[tuple[Probe, str | None]]] = field(default_factory=dict)
    """Probes that wait, by agent, each with the budget that pays for it."""
    _under_way: dict[str, int] = field(default_factory=dict)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _timer: asyncio.TimerHandle | None = None
    """Until it is time to send."""

    def know(self, pairs: Iterable[Pair]) -> None:
        """Take note of probes that an earlier run of the batch asked for."""
        self._asked.update(pairs)

    def ask(self, attempt: int, probe: Probe, since_s: float = 0.0, budget: str | None = None) -> None:
        """Ask for a probe, unless the batch has its sample; the answer comes later in any case.

        A sample that was taken before `since_s` does not count. `budget` pays, by default that of the desk.
        """
        pair = _pair(probe)
        waiting = self._waiting.get(pair)
        if waiting is not None:
            waiting.append(attempt)
            return
        self._waiting[pair] = [attempt]
        known = self._known(pair, since_s)
        if known is not None:
            self.counts.repeated += 1
            asyncio.get_running_loop().call_soon(self._arrived, known)
            return
        self._queues.setdefault(probe.crawler, deque()).append((probe, budget))
        self._call()

    def _call(self) -> None:
        """Send soon, together with what comes until then."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self.config.gather_s, self._send)

    def _known(self, pair: Pair, since_s: float) -> Sample | None:
        """Return the sample of a pair that was probed before; one that never reached its agent is none."""
        if pair not in self._asked:
            return None
        sample = self.store.samples.latest(pair[1]).get(pair[0])
        if sample is None or sample.loss is Loss.AGENT or sample.taken_s < since_s:
            return None
        if sample.taken_s < self.clock() - self.remembered_s:
            return None
        return sample

    def _send(self) -> None:
        """Send what waits, as far as each agent has room; what one budget pays is one transaction."""
        self._timer = None
        chosen: dict[str | None, list[Probe]] = {}
        for crawler, queue in self._queues.items():
            room = self.config.per_agent - self._under_way.get(crawler, 0)
            for _ in range(min(room, len(queue))):
                probe, budget = queue.popleft()
                chosen.setdefault(budget, []).append(probe)
                self._under_way[crawler] = self._under_way.get(crawler, 0) + 1
        for budget, probes in chosen.items():
            task = asyncio.get_running_loop().create_task(self._carry(probes, budget))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _carry(self, probes: list[Probe], budget: str | None) -> None:
        try:
            async for sample in self.desk.probe(probes, budget):
                self._under_way[sample.crawler] -= 1
                self.counts.sent += sample.loss is not Loss.BUDGET
                for watch in self.watchers:
                    watch(sample)
                self._arrived(sample)
                if self._queues.get(sample.crawler):
                    self._call()
        except asyncio.CancelledError:
            raise  # by `close`: what has been decided until then is written
        except BaseException as error:  # noqa: BLE001 - the session raises it
            self.fail(error)

    def _arrived(self, sample: Sample) -> None:
        pair = sample.crawler, sample.address
        if sample.loss is not Loss.BUDGET:
            self._asked.add(pair)
        for attempt in self._waiting.pop(pair, ()):
            self.on_sample(attempt, sample)

    def load(self) -> dict[str, tuple[int, int]]:
        """Return how many probes wait here for each agent, and how many are under way."""
        names = {*self._queues, *self._under_way}
        return {name: (len(self._queues.get(name, ())), self._under_way.get(name, 0)) for name in names}

    async def close(self) -> None:
        """Send nothing more, and cancel what is under way; the next run asks agents for its answers."""
        if self._timer is not None:
            self._timer.cancel()
        self._queues.clear()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


def _pair(probe: Probe) -> Pair:
    assert probe.address is not None  # noqa: S101 - sites have addresses
    return probe.crawler, probe.address


def asked_pairs(store: StorePort, budget: str) -> set[Pair]:
    """Return what was probed for a budget."""
    answered = store.budget.answered(budget)
    return {(order.crawler, order.address) for order in answered if order.address is not None}
