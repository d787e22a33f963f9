"""Batches: lists of hosts that are delegated in the background, on the same machine as questions.

Theory of operation
-------------------
A batch is a record in the store, a budget of probes, results, and the list itself, which is kept so that the
coordinator can go on after it was killed. All four are made in one transaction; the request that starts a
batch is answered after that.

    waiting ──▶ running ──▶ done        each host has a result, or a reason why not
                   └──────▶ cancelled   by a client; results so far stay

A running batch reads its list from the beginning: hosts with a result are done, the others are asked for, so
many at a time (`window`). After a kill the same happens again: results are there, orders that were paid are
asked for again by the session, and the rest goes on. Sites that nobody can be asked about wait until somebody
can; a batch never gives them up by itself.
"""

from __future__ import annotations

import asyncio
import json
import uuid
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ipmicra.app.delegate.options import EXAMPLES
from ipmicra.app.describe.texts import time_text
from ipmicra.app.serve.deciding import Deciding
from ipmicra.app.serve.peers import NotDecidedError
from ipmicra.app.serve.refusals import RefusedError
from ipmicra.edge.dns.bulk import BulkResolver, NamesOnDemand
from ipmicra.edge.files.seeds import UnresolvedSeed
from ipmicra.edge.log import EventLog
from ipmicra.edge.store.ports import BatchRecord
from ipmicra.edge.store.probes import budget_name
from ipmicra.errors import StoreError
from ipmicra.model.site import Site

events = EventLog("coordinator")
KEY = "batch of a coordinator"
"""Begins the key of each batch that was started here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchesConfig:
    """How much is under way."""

    running: int = 2
    """Batches that run at a time; others wait."""
    waiting: int = 100
    """Batches that may wait."""
    window: int = 2_000
    """Hosts of a batch that wait for a decision."""
    retry_s: float = 2.0
    """Time until a host that nobody could be asked about is asked for again."""


class BatchState(StrEnum):
    """How far a batch is."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"


@dataclass(slots=True)
class RunningBatch:
    """A batch, and what came of it so far."""

    record: BatchRecord
    seeds: list[str]
    budget: int | None
    state: BatchState = BatchState.WAITING
    read: int = 0
    sites: int = 0
    """Hosts with a result."""
    doubles: int = 0
    missing: Counter[str] = field(default_factory=Counter)
    examples: list[tuple[str, str]] = field(default_factory=list)
    trouble: str | None = None
    """Why it does not get on."""
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen."""
        return self.state in {BatchState.DONE, BatchState.CANCELLED}

    def miss(self, text: str, reason: str) -> None:
        """Note a seed without an answer."""
        self.missing[reason] += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append((text[:200], reason))


class Batches:
    """All batches of a coordinator."""

    def __init__(self, deciding: Deciding, config: BatchesConfig | None = None) -> None:
        """Use the session of a coordinator."""
        self.config = config or BatchesConfig()
        self._deciding = deciding
        self._batches: dict[int, RunningBatch] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._slots = asyncio.Semaphore(self.config.running)
        self._stack = AsyncExitStack()
        self._names = NamesOnDemand(deciding.options.dns, self._stack)
        self._name = "" if deciding.peers is None else deciding.peers.name
        """Of this coordinator, where several share a database."""
        deciding.batches = self._unfinished
        deciding.on_gone = self.take_over

    # --- the life of all

    def load(self) -> None:
        """Find the batches that an earlier process left unfinished; comes before the session opens."""
        for record in self._deciding.store.batches.all():
            saved = self._saved(record.id) if record.key.startswith(KEY) and record.ended_s is None else None
            if saved is not None and "seeds" in saved and saved.get("runner", "") == self._name:
                self._batches[record.id] = RunningBatch(record, saved["seeds"], saved["budget"])

    def resume(self) -> None:
        """Go on with them."""
        for one in self._batches.values():
            events.info("batch_resumed", "batch {batch} resumes", batch=one.record.id)
            self._begin(one)

    def take_over(self, names: Collection[str]) -> None:
        """Go on with what other coordinators were running that are gone; if others took over ours, stop."""
        if self._name in names:
            for number in self._unfinished():
                self._tasks.pop(number).cancel()
                del self._batches[number]
        for record in self._deciding.store.batches.all():
            is_open = record.key.startswith(KEY) and record.ended_s is None and record.id not in self._batches
            saved = self._saved(record.id) if is_open else None
            if saved is not None and "seeds" in saved and saved.get("runner") in names:
                self._save(record.id, {**saved, "runner": self._name})
                one = self._batches[record.id] = RunningBatch(record, saved["seeds"], saved["budget"])
                events.info("batch_taken_over", "batch {batch} resumes here", batch=record.id)
                self._begin(one)

    async def close(self) -> None:
        """Stop; what is unfinished resumes at the next start."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        await self._stack.aclose()

    def _unfinished(self) -> list[int]:
        return [number for number, one in self._batches.items() if not one.is_over]

    # --- what clients do

    def start(
        self, seeds: list[str], budget: int | None, words: str, key: str | None = None
    ) -> dict[str, Any]:
        """Start a batch; it is kept before this returns. With a key that was used before, return that one."""
        full_key = f"{KEY} {key or uuid.uuid4().hex}"
        for record in self._deciding.store.batches.all() if key else ():
            if record.key == full_key:
                return self.describe(record.id)
        if len(self._unfinished()) >= self.config.waiting + self.config.running:
            raise RefusedError("busy", f"{len(self._unfinished())} batches are under way or wait")
        store, now_s = self._deciding.store, self._deciding.clock()
        with store.transaction():
            record = store.batches.begin(full_key, words, now_s)
            store.budget.open(budget_name(record.id), budget)
            self._save(record.id, {"seeds": seeds, "budget": budget, "runner": self._name})
        one = self._batches[record.id] = RunningBatch(record, seeds, budget)
        events.info("batch_started", "batch {batch}: {seeds} seeds", batch=record.id, seeds=len(seeds))
        self._begin(one)
        return self.describe(record.id)

    async def cancel(self, number: int) -> dict[str, Any]:
        """Cancel a batch; its results stay."""
        one = self._batches.get(number)
        if one is None or one.is_over:
            return self.describe(number)
        task = self._tasks.pop(number, None)
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        if not one.is_over:
            self._deciding.leave(number)
            self._finish(one, BatchState.CANCELLED)
        return self.describe(number)

    def page(self, after: int, count: int) -> tuple[list[dict[str, Any]], int | None]:
        """Describe batches, newest first, below a number; and the number below which there are more."""
        records = [one for one in self._deciding.store.batches.all() if one.key.startswith(KEY)]
        rest = [one.id for one in reversed(records) if not after or one.id < after]
        page = rest[:count]
        return [self.describe(number) for number in page], page[-1] if len(rest) > count else None

    def describe(self, number: int) -> dict[str, Any]:
        """Describe a batch."""
        one = self._batches.get(number)
        if one is None:
            return self._describe_old(number)
        budget = self._deciding.store.budget.state(budget_name(number))
        return {
            "id": number,
            "state": one.state.value,
            "words": one.record.words,
            "started": time_text(one.record.started_s),
            "seeds": len(one.seeds),
            "read": one.read,
            "sites": one.sites,
            "doubles": one.doubles,
            "missing": one.missing.total(),
            "reasons": dict(one.missing.most_common(EXAMPLES)),
            "examples": [{"seed": text, "reason": reason} for text, reason in one.examples],
            "probes": budget.spent,
            "probe_budget": budget.total,
            "trouble": one.trouble,
        }

    def _describe_old(self, number: int) -> dict[str, Any]:
        saved = self._saved(number)
        if saved is None or "summary" not in saved:
            raise RefusedError("not-found", f"there is no batch {number}")
        found: dict[str, Any] = saved["summary"]
        return found

    def is_over(self, number: int) -> bool:
        """Return whether a batch is done or cancelled."""
        return number not in self._batches

    async def watch(self, number: int) -> AsyncIterator[dict[str, Any]]:
        """Describe a batch now, whenever it gets on, and at its end."""
        while True:
            described = self.describe(number)
            yield described
            one = self._batches.get(number)
            if one is None or one.is_over:
                return
            one.changed.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(10.0):  # a sign of life
                    await one.changed.wait()
            await asyncio.sleep(0.1)  # progress is shown, not counted

    # --- running

    def _begin(self, one: RunningBatch) -> None:
        self._tasks[one.record.id] = asyncio.create_task(self._run(one))

    async def _run(self, one: RunningBatch) -> None:
        async with self._slots:
            one.state = BatchState.RUNNING
            while (trouble := await self._tried(one)) is not None:
                one.trouble = trouble
                events.warning("batch_waits", "batch {batch}: {reason}", batch=one.record.id, reason=trouble)
                await asyncio.sleep(self.config.retry_s)

    async def _tried(self, one: RunningBatch) -> str | None:
        """Work; return what went wrong with the store, which may be well again in a moment."""
        try:
            await self._work(one)
            self._finish(one, BatchState.DONE)
        except StoreError as error:
            return str(error)
        except ExceptionGroup as group:
            if not all(isinstance(one, StoreError) for one in group.exceptions):
                raise
            return str(group.exceptions[0])
        return None

    async def _work(self, one: RunningBatch) -> None:
        """Read the list from the beginning; return when each seed has an answer or a reason."""
        one.read = one.sites = one.doubles = 0
        one.missing, one.examples, seen = Counter(), [], set[str]()
        store, number = self._deciding.store, one.record.id
        window = asyncio.Semaphore(self.config.window)
        resolver = BulkResolver(self._names, store.names, store.sites, clock=self._deciding.clock)
        async with asyncio.TaskGroup() as group:
            async for part in resolver.resolve_parts(one.seeds):
                sites = self._new_sites(one, part, seen)
                known = store.results.of(number, [site.host for site in sites])
                one.sites += len(known)
                for site in sites:
                    if site.host not in known:
                        await window.acquire()
                        group.create_task(self._settle(one, site, window.release))
                one.changed.set()
                await asyncio.sleep(0)

    def _new_sites(self, one: RunningBatch, part: list[Site | UnresolvedSeed], seen: set[str]) -> list[Site]:
        sites: list[Site] = []
        for found in part:
            one.read += 1
            if isinstance(found, UnresolvedSeed):
                one.miss(found.text, found.reason)
            elif found.host in seen:
                one.doubles += 1
            else:
                seen.add(found.host)
                sites.append(found)
        return sites

    async def _settle(self, one: RunningBatch, site: Site, release: Callable[[], None]) -> None:
        """Wait for the result of a host, however long that takes."""
        try:
            while True:
                try:
                    await self._deciding.ask(site, one.record.id)
                except NotDecidedError as error:
                    one.trouble = error.reason
                    one.changed.set()
                    await asyncio.sleep(self.config.retry_s)
                else:
                    break
            one.sites += 1
            one.trouble = None
            one.changed.set()
        finally:
            release()

    def _finish(self, one: RunningBatch, state: BatchState) -> None:
        """Keep what came of a batch in place of its list."""
        one.state, number, now_s = state, one.record.id, self._deciding.clock()
        summary = {**self.describe(number), "ended": time_text(now_s)}
        store = self._deciding.store
        with store.transaction():
            store.batches.end(number, now_s)
            self._save(number, {"summary": summary})
        del self._batches[number]
        self._tasks.pop(number, None)
        one.changed.set()
        events.info(
            "batch_over",
            "batch {batch} is {state}: {sites} sites",
            batch=number,
            state=state.value,
            sites=one.sites,
        )

    # --- what is kept

    def _save(self, number: int, content: dict[str, Any]) -> None:
        packed = zlib.compress(json.dumps(content).encode(), 1)
        self._deciding.store.states.put(f"batch {number}", packed, self._deciding.clock())

    def _saved(self, number: int) -> dict[str, Any] | None:
        """Read what is kept of a batch; None if nothing is, or it is damaged."""
        packed = self._deciding.store.states.get(f"batch {number}")
        try:
            found = json.loads(zlib.decompress(packed)) if packed is not None else None
        except (ValueError, zlib.error, RecursionError):
            return None
        return found if isinstance(found, dict) else None
