"""The agent's side of calling out: fetch work by long polls, carry it out, bring back results.

How it works
------------
Two loops share one connection pool. `_fetch` holds a poll open at the coordinator, and opens the next one as
soon as it is answered; each work becomes a task over the same `ProbeService` that answers a listening agent's
requests, with the same rules and limits. `_bring` sends what the tasks leave in the outbox, many at a time.

Nothing depends on a connection. The cursor is sent again until work has arrived; results stay in the outbox
until the coordinator confirmed them. The outbox is bounded: the oldest results go first, and the coordinator
asks for them again by their ids if it still wants them (`only_repeat`).

After a failure a loop pauses for a random time, up to a bound that doubles (`Backoff`): agents that lost the
same coordinator at the same moment must not all come back at the same moment. `Retry-After` is honoured.
Whatever the coordinator says for good (401, 403, 409 …) ends the agent with the coordinator's own sentence.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import version
from random import Random

from ipmicra.edge.agent.link import CoordinatorLink, DismissedError, NotNowError
from ipmicra.edge.agent.names import NameService
from ipmicra.edge.agent.service import ProbeService
from ipmicra.edge.log import EventLog
from ipmicra.errors import IpmicraError, MessageError
from ipmicra.wire.messages import Answer, ProbeRequest
from ipmicra.wire.names import NamesRequest, ResolvedName
from ipmicra.wire.polling import (
    PollRequest,
    Refusal,
    Results,
    Work,
    decode_polled,
    encode_poll,
    encode_results,
)

events = EventLog("agent")


@dataclass(frozen=True, slots=True, kw_only=True)
class CallingConfig:
    """How an agent calls."""

    wait_s: float = 50.0
    """How long the coordinator may hold a poll."""
    slack_s: float = 20.0
    """Time for an answer beyond that."""
    first_pause_s: float = 1.0
    """Bound of the first pause after a failure; it doubles."""
    longest_pause_s: float = 15.0
    """Largest bound: a coordinator that comes back asks for lost answers, and waits a little longer."""
    longest_retry_s: float = 600.0
    """Most that `Retry-After` may ask for."""
    batch: int = 500
    """Results in one request."""
    queued: int = 10_000
    """Results that wait for the coordinator."""
    gather_s: float = 0.005
    """How long a result may wait for others to be sent with it."""


@dataclass(slots=True)
class Backoff:
    """Chooses pauses after failures: random ones, below a bound that doubles."""

    config: CallingConfig
    rng: Random
    failures: int = 0

    def pause_s(self, retry_s: float | None = None) -> float:
        """Return how long to pause after a further failure."""
        bound_s = min(self.config.first_pause_s * 2.0 ** min(self.failures, 30), self.config.longest_pause_s)
        self.failures += 1
        jitter_s = self.rng.uniform(0.0, bound_s)
        return jitter_s if retry_s is None else min(retry_s, self.config.longest_retry_s) + jitter_s

    def reset(self) -> None:
        """Note a success."""
        self.failures = 0


@dataclass(slots=True)
class _Outbox:
    """Results that the coordinator has not confirmed, oldest first."""

    most: int
    items: deque[Answer | tuple[str, ResolvedName] | Refusal] = field(default_factory=deque)
    filled: asyncio.Event = field(default_factory=asyncio.Event)
    dropped: int = 0

    def put(self, item: Answer | tuple[str, ResolvedName] | Refusal) -> None:
        """Leave a result; one too many drops the oldest."""
        self.items.append(item)
        while len(self.items) > self.most:
            self.items.popleft()
            self.dropped += 1
        self.filled.set()

    def first(self, count: int) -> list[Answer | tuple[str, ResolvedName] | Refusal]:
        """Return the oldest results, which stay."""
        return [self.items[at] for at in range(min(count, len(self.items)))]

    def confirm(self, sent: list[Answer | tuple[str, ResolvedName] | Refusal]) -> None:
        """Remove what has arrived; the oldest of it may have been dropped meanwhile."""
        arrived = set(map(id, sent))
        while self.items and id(self.items[0]) in arrived:
            self.items.popleft()
        if not self.items:
            self.filled.clear()


class Caller:
    """Calls a coordinator until it is stopped or dismissed."""

    def __init__(
        self,
        link: CoordinatorLink,
        service: ProbeService,
        names: NameService | None = None,
        config: CallingConfig | None = None,
        *,
        rng: Random | None = None,
        on_answer: Callable[[tuple[str, ...]], object] = lambda _coordinators: None,
    ) -> None:
        """Carry out orders by a service.

        `on_answer` is called whenever the coordinator answered, with the URLs of all coordinators that it
        named.
        """
        self._link, self._service, self._names = link, service, names
        self._config = config or CallingConfig()
        self._rng = rng or Random()  # noqa: S311 - spreads load, keeps no secret
        self._on_answer = on_answer
        self.boot = secrets.token_hex(8)
        self._cursor = ""
        self._outbox = _Outbox(self._config.queued)
        self._works: dict[str, asyncio.Task[None]] = {}

    async def run(self) -> None:
        """Call until cancelled; `DismissedError` says that the coordinator does not want this agent."""
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._fetch())
                group.create_task(self._bring())
        except BaseExceptionGroup as group_of:
            dismissed, _ = group_of.split(DismissedError)
            if dismissed is None:
                raise
            raise next(one for one in _flat(dismissed) if isinstance(one, DismissedError)) from None
        finally:
            for task in self._works.values():
                task.cancel()

    async def finish(self) -> None:
        """Bring what is still in the outbox, once, before the agent stops."""
        self._service.stop()
        await self._service.drain()
        await asyncio.gather(*self._works.values(), return_exceptions=True)
        with contextlib.suppress(IpmicraError):
            while self._outbox.items:
                await self._bring_some()

    async def _fetch(self) -> None:
        backoff = Backoff(self._config, self._rng)
        config = self._config
        while True:
            poll = PollRequest(
                boot=self.boot,
                cursor=self._cursor,
                capacity=self._service.room,
                wait_s=config.wait_s,
                software=version("ipmicra"),
            )
            try:
                data = await self._link.post(
                    "/v1/agents/poll", encode_poll(poll), config.wait_s + config.slack_s
                )
                answer = decode_polled(data)
            except (NotNowError, MessageError) as error:
                await self._pause(backoff, error)
                continue
            backoff.reset()
            self._on_answer(answer.coordinators)
            self._cursor = answer.cursor
            for work in answer.works:
                self._start(work)

    async def _bring(self) -> None:
        backoff = Backoff(self._config, self._rng)
        while True:
            await self._outbox.filled.wait()
            await asyncio.sleep(self._config.gather_s)
            try:
                await self._bring_some()
            except NotNowError as error:
                await self._pause(backoff, error)
            else:
                backoff.reset()

    async def _bring_some(self) -> None:
        items = self._outbox.first(self._config.batch)
        results = Results(
            boot=self.boot,
            answers=tuple(one for one in items if isinstance(one, Answer)),
            names=tuple(one for one in items if isinstance(one, tuple)),
            refusals=tuple(one for one in items if isinstance(one, Refusal)),
        )
        body = encode_results(results)
        await self._link.post("/v1/agents/results", body, self._config.slack_s)
        self._outbox.confirm(items)

    async def _pause(self, backoff: Backoff, error: IpmicraError) -> None:
        pause_s = backoff.pause_s(getattr(error, "retry_s", None))
        events.info(
            "coordinator_silent",
            "the coordinator does not answer ({reason}); again in {pause_s} s",
            reason=str(error),
            pause_s=round(pause_s, 1),
        )
        await asyncio.sleep(pause_s)

    def _start(self, work: Work) -> None:
        """Begin work, once; work that comes again is under way or done."""
        if work.id in self._works:
            return
        refusal = self._refusal(work)
        if refusal is not None:
            self._outbox.put(refusal)
            return
        task = asyncio.create_task(self._do(work))
        self._works[work.id] = task
        task.add_done_callback(lambda _: self._works.pop(work.id, None))

    def _refusal(self, work: Work) -> Refusal | None:
        if self._service.is_stopping:
            return Refusal(work=work.id, reason="stopping")
        if isinstance(work.request, ProbeRequest):
            has_room, reason = self._service.has_room(len(work.request.orders)), "too many orders are pending"
        elif self._names is None:
            reason = "names are not resolved here: its operator turned that off"
            return Refusal(work=work.id, reason=reason, is_unable=True)
        else:
            has_room, reason = self._names.has_room(len(work.request.names)), "too many names are pending"
        return None if has_room else Refusal(work=work.id, reason=reason)

    async def _do(self, work: Work) -> None:
        if isinstance(work.request, ProbeRequest):
            async for answers in self._service.answers(work.request):
                for answer in answers:
                    self._outbox.put(answer)
        elif self._names is not None:
            await self._resolve(self._names, work.id, work.request)

    async def _resolve(self, names: NameService, work: str, request: NamesRequest) -> None:
        async for resolved in names.answers(request):
            for one in resolved:
                self._outbox.put((work, one))


def _flat(group: BaseExceptionGroup[BaseException]) -> list[BaseException]:
    found: list[BaseException] = []
    for one in group.exceptions:
        found += _flat(one) if isinstance(one, BaseExceptionGroup) else [one]
    return found
