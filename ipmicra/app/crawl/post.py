"""The mailboxes as a coordinator runs them: in a thread of their own, with owners asked for beside.

All that touches the ledger runs in one thread, so the event loop never waits for the disk, and messages are
taken one after the other. Hosts that nobody was asked about are handed to `shares_of_many` in batches.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

from ipmicra.app.crawl.mailbox_config import MailboxConfig
from ipmicra.app.crawl.mailboxes import Mailboxes
from ipmicra.edge.crawls.ledger import Ledger
from ipmicra.edge.log import EventLog
from ipmicra.errors import InputError, IpmicraError
from ipmicra.model.link import Share
from ipmicra.wire.links import (
    CrawlState,
    ExchangeAnswer,
    ExchangeRequest,
    JoinAnswer,
    JoinRequest,
)
from ipmicra.wire.observed import Observed

T = TypeVar("T")
BATCH = 500
"""Hosts that are asked about, or handed on, at a time."""
SWEPT = 5_000
"""Links that are looked at, to be removed, at a time."""
events = EventLog("crawl")


class ShareSource(Protocol):
    """Knows who owns hosts, or finds out."""

    def crawlers(self) -> Sequence[str]:
        """Return the crawlers that may have nodes."""

    def changed(self) -> Collection[str] | None:
        """Return the hosts that may have other owners since the last call; None if all may have."""

    def crawled(self, pages: Sequence[tuple[str, str, int]]) -> None:
        """Take the pages of a crawl that has ended: host, vantage, number."""

    def observed(self, crawler: str, sights: Sequence[Observed]) -> None:
        """Take what nodes of a crawler observed while they downloaded."""

    async def shares_of_many(self, hosts: Sequence[str]) -> dict[str, tuple[Share, ...] | str]:
        """Return the shares of each host, or the reason for which it can have none.

        A host that is missing in the answer is asked about again later.
        """


class Post:
    """The mailboxes of a coordinator; use as an asynchronous context."""

    def __init__(self, path: Path, owners: ShareSource, config: MailboxConfig | None = None) -> None:
        """Keep links in a file; nothing is opened yet."""
        self._path, self._owners = path, owners
        self._config = config or MailboxConfig()
        self._thread = ThreadPoolExecutor(1, "mailboxes")
        self._counting = ThreadPoolExecutor(1, "counting")
        """Tens of millions of links take minutes to count, and exchanges must not wait for that."""
        self._reporting: asyncio.Task[None] | None = None
        self._sweeping: asyncio.Task[None] | None = None
        self._is_stopping = False
        self._tasks: list[asyncio.Task[None]] = []
        self._changed = asyncio.Event()
        self._asked = asyncio.Event()
        self._turns: defaultdict[str, asyncio.Semaphore] = defaultdict(self._turn)
        """By crawler: one that sends much waits for itself, not others for it."""

    async def __aenter__(self) -> Self:
        """Open the file and start to look after the nodes."""
        self._ledger = await self._run(lambda: Ledger(self._path))
        self._counted = await self._count(lambda: Ledger(self._path))
        self._boxes = await self._run(
            lambda: Mailboxes(self._ledger, self._config, ticks=time.monotonic, clock=time.time)
        )
        self._tasks = [asyncio.create_task(self._ask()), asyncio.create_task(self._look_after())]
        return self

    async def __aexit__(self, *_error: object) -> None:
        """Answer those who wait, and close the file."""
        tasks = [*self._tasks, *filter(None, (self._reporting, self._sweeping))]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._counted.interrupt()
        await self._count(self._counted.close)
        await self._run(self._ledger.close)
        self._thread.shutdown()
        self._counting.shutdown()

    def stop(self) -> None:
        """Answer those who wait."""
        self._is_stopping = True
        self._wake()

    def _turn(self) -> asyncio.Semaphore:
        return asyncio.Semaphore(self._config.at_a_time)

    async def _exchanged(self, crawl: str, request: ExchangeRequest) -> ExchangeAnswer:
        _, node = self._boxes.find(crawl, request.session) or (None, None)
        if node is not None:
            node.waiting += 1
        try:
            async with self._turns[node.row.crawler if node else ""]:
                return await self._run(lambda: self._boxes.exchange(crawl, request))
        finally:
            if node is not None:
                node.waiting -= 1

    async def _run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    async def _count(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._counting, work)

    # --- what nodes ask

    async def join(self, crawl: str, request: JoinRequest) -> JoinAnswer:
        """Let a node take part.

        Raises:
            InputError: It downloads for a crawler that is not known.
        """
        known = self._owners.crawlers()
        if request.crawler not in known:
            names = ", ".join(sorted(known)[:10]) or "none"
            raise InputError(f"no crawler is called {request.crawler!r}: there are {names}")
        async with self._turns[request.crawler]:
            answer = await self._run(lambda: self._boxes.join(crawl, request))
        self._wake()
        return answer

    async def exchange(self, crawl: str, request: ExchangeRequest) -> ExchangeAnswer:
        """Take what a node says; wait until there is something to answer, as long as it allows."""
        deadline_s = time.monotonic() + request.wait_s
        answer = await self._exchanged(crawl, request)
        if answer.state is CrawlState.ENDED:
            await asyncio.wait({self._report_ended()}, timeout=self._config.lease_s / 4)
        self._report_sights()
        # What a node finished or claimed concerns nobody else.
        is_news = len(request.links) > len(request.claimed) or request.released or request.is_leaving
        if is_news or answer.state is CrawlState.ENDED:
            self._wake()
        later = ExchangeRequest(
            session=request.session, received=request.received, room=request.room, is_idle=request.is_idle
        )
        while (
            not _says_something(answer)
            and not self._is_stopping
            and not request.is_leaving  # its session is over: nothing more will be for it
            and (left_s := deadline_s - time.monotonic()) > 0
        ):
            with suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(self._next_change()), left_s)
            if self._boxes.has_news(crawl, request.session):
                answer = await self._exchanged(crawl, later)
        return answer

    async def status(self, crawl: str) -> dict[str, Any] | None:
        """Describe a crawl; None if there is none of that name."""
        row = self._boxes.row_of(crawl)
        if row is None:
            return None
        counts = await self._count(lambda: self._counted.counts(row.id))
        return await self._run(lambda: self._boxes.status(crawl, counts))

    def glimpse(self) -> list[dict[str, Any]]:
        """Describe the nodes of all crawls, without asking the disk."""
        return self._boxes.glimpse()

    async def crawls(self) -> list[dict[str, Any]]:
        """Describe all crawls."""
        return [status for name in self._boxes.names() if (status := await self.status(name))]

    # --- what happens beside

    def _report_ended(self) -> asyncio.Task[None]:
        """Begin to hand on how many pages sites have, once per crawl, or go on with it."""
        if self._reporting is None or self._reporting.done():
            self._reporting = asyncio.create_task(self._report_pages())
        return self._reporting

    async def _report_pages(self) -> None:
        for row in list(self._boxes.uncounted):
            try:
                pages = await self._count(lambda row=row: self._counted.pages(row.id))  # type: ignore[misc]
                for start in range(0, len(pages), BATCH):
                    self._owners.crawled(pages[start : start + BATCH])
                    await asyncio.sleep(0)
                await self._run(lambda row=row: self._boxes.note_counted(row))  # type: ignore[misc]
            except IpmicraError as error:  # the store is away: there is a next time
                events.warning("pages_untold", "pages of {crawl}: {error}", crawl=row.name, error=error)

    async def _sweep(self) -> None:
        """Remove the links of runs that others followed, while half of the time is left for exchanges."""
        try:
            over = await self._run(self._ledger.runs_over)
            counting = {row.id for row in self._boxes.uncounted}
            for crawl in (one for one in over if one not in counting):
                last: int | None = 0
                while last is not None:
                    began_s = time.monotonic()
                    last = await self._run(partial(self._ledger.sweep, crawl, last, SWEPT))
                    await asyncio.sleep(time.monotonic() - began_s)
        except IpmicraError as error:  # its disk is full: there is a next time
            events.warning("links_not_swept", "links of a run that is over stay: {error}", error=error)

    def _report_sights(self) -> None:
        """Hand on what nodes observed."""
        while self._boxes.sights:
            crawler, sights = self._boxes.sights.pop()
            try:
                self._owners.observed(crawler, sights)
            except IpmicraError as error:  # the crawl goes on without
                events.warning("sights_lost", "what {crawler} saw: {error}", crawler=crawler, error=error)

    def _wake(self) -> None:
        if self._boxes.has_questions:
            self._asked.set()
        self._changed.set()
        self._changed = asyncio.Event()

    async def _next_change(self) -> None:
        await self._changed.wait()

    async def _ask(self) -> None:
        while True:
            await self._asked.wait()
            self._asked.clear()
            while questions := await self._run(lambda: self._boxes.questions(BATCH)):
                for crawl, hosts in questions.items():
                    await self._ask_about(crawl, hosts)

    async def _ask_about(self, crawl: str, hosts: list[str]) -> None:
        try:
            answers = await self._owners.shares_of_many(hosts)
        except IpmicraError as error:
            events.warning(
                "owners_unknown", "owners of {hosts} hosts: {error}", hosts=len(hosts), error=error
            )
            answers = {}
        missing = [host for host in hosts if host not in answers]
        await self._run(lambda: self._boxes.routed(crawl, answers))
        if missing:
            await self._run(lambda: self._boxes.ask_again(crawl, missing))
            await asyncio.sleep(self._config.ask_again_s)
            self._asked.set()
        self._wake()

    async def _look_after(self) -> None:
        reviewed_s: float | None = None
        while True:
            self._asked.set()
            await asyncio.sleep(min(self._config.lease_s / 4, self._config.look_s))
            try:
                if await self._run(self._boxes.bury):
                    self._wake()
                self._report_ended()
                if self._sweeping is None or self._sweeping.done():
                    self._sweeping = asyncio.create_task(self._sweep())
                reviewed_s = await self._review(reviewed_s)
            except IpmicraError as error:  # the store is away, or its disk is full: there is a next time
                events.warning("crawls_unwatched", "nodes and owners wait: {error}", error=error)
                reviewed_s = None

    async def _review(self, reviewed_s: float | None) -> float | None:
        """See who owns what by now; return when everything was last looked at, None if it never was.

        What changed is looked at now, and everything now and then: a crawl of a million hosts would otherwise
        ask about all of them whenever one more is assigned.
        """
        if not self._boxes.host_count:
            return reviewed_s
        changed = self._owners.changed()
        if changed is not None and not changed and reviewed_s is not None:
            return reviewed_s
        now_s = time.monotonic()
        is_due = reviewed_s is None or (
            (now_s - reviewed_s) * self._config.reviewed_per_s >= self._boxes.host_count
        )
        if is_due or changed is None:
            reviewed_s, changed = now_s, None
        for crawl, hosts in (await self._run(partial(self._boxes.hosts, changed))).items():
            await self._ask_again_about(crawl, hosts)
        return reviewed_s

    async def _ask_again_about(self, crawl: str, hosts: list[str]) -> None:
        """See whether hosts have other owners than before; what cannot be told now stays as it is."""
        for start in range(0, len(hosts), BATCH):
            answers = await self._owners.shares_of_many(hosts[start : start + BATCH])
            known = {host: shares for host, shares in answers.items() if not isinstance(shares, str)}
            await self._run(lambda known=known: self._boxes.routed(crawl, known))  # type: ignore[misc]
            self._wake()


def _says_something(answer: ExchangeAnswer) -> bool:
    return bool(answer.links or answer.lost) or answer.state is not CrawlState.RUNNING
