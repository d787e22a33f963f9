"""Nodes of a crawl, as far as the coordinator can tell: they exchange links, and pages are made up.

A page has two further pages of its host below it, as in a binary tree, and the first page of each host leads
to the next host: so all pages are found from the first of the first host.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from ipmicra.model.link import Link
from ipmicra.wire.links import (
    CrawlState,
    ExchangeRequest,
    JoinAnswer,
    JoinRequest,
    decode_exchanged,
    decode_joined,
    encode_exchange,
    encode_join,
)

Note = Callable[..., Any]
CONFLICT = 409


@dataclass(frozen=True, slots=True)
class MadeUpWeb:
    """Hosts with so many pages each."""

    hosts: tuple[str, ...]
    pages: int

    @property
    def count(self) -> int:
        return len(self.hosts) * self.pages

    def link(self, host: int, page: int) -> Link:
        name = self.hosts[host]
        url = f"http://{name}/{page}"
        key = int.from_bytes(hashlib.blake2b(url.encode(), digest_size=8).digest(), "big", signed=True)
        return Link(url=url, host=name, depth=page.bit_length(), key=key, extra=f"{host}")

    def links_of(self, link: Link) -> list[Link]:
        """Return what is on a page."""
        host, page = int(link.extra), int(link.url.rpartition("/")[2])
        below = [self.link(host, one) for one in (2 * page + 1, 2 * page + 2) if one < self.pages]
        return below if page else [*below, self.link((host + 1) % len(self.hosts), 0)]


class RefusedNodeError(Exception):
    """The coordinator does not take a message; the node must join again, or is none any more."""


@dataclass
class StubNode:
    """Takes part in runs of a crawl until it is killed or leaves."""

    name: str
    crawler: str
    crawl: str
    web: MadeUpWeb
    url: str
    http: aiohttp.ClientSession
    note: Note
    token: Callable[[], str]
    """Returns a token that may ask, which may be another one each time."""
    now_s: Callable[[], float]
    pause_s: float = 1.0
    room: int = 8
    task: asyncio.Task[None] | None = None
    _session: str = ""
    _run_number: int = 0
    _lease_s: float = 0.0
    _heard_s: float = 0.0
    _received: int = 0
    _links: list[Link] = field(default_factory=list)
    _done: dict[int, str] = field(default_factory=dict)
    """Pages that are fetched and not reported, by the number of their link."""
    _lost: tuple[str, ...] = ()

    def start(self, run: int | None) -> None:
        """Take part in a run, or begin one."""
        self.task = asyncio.create_task(self._take_part(run))

    @property
    def is_running(self) -> bool:
        return self.task is not None and not self.task.done()

    async def kill(self) -> None:
        task, self.task = self.task, None
        if task is not None and not task.done():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            self._note_end("killed")

    async def leave(self) -> None:
        """Finish what is at hand and leave the run."""
        task, self.task = self.task, None
        if task is None or task.done():
            return
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        try:
            await self._exchange(is_leaving=True)
        except (aiohttp.ClientError, OSError, RefusedNodeError) as error:
            self.note("trouble", who=self.name, error=str(error)[:200])
        self._note_end("left")

    def _note_end(self, state: str, **more: Any) -> None:
        if self._session:
            self.note("node", node=self.name, session=self._session, state=state, **more)
            self._session = ""

    async def _take_part(self, run: int | None) -> None:
        while True:
            try:
                joined = await self._join(run)
                run = joined.run
                if joined.state is CrawlState.RUNNING:
                    await self._exchange_to_the_end()
            except RefusedNodeError:
                self._note_end("refused", since=min(self.now_s(), round(self._heard_s + self._lease_s, 4)))
            except (aiohttp.ClientError, OSError) as error:
                self.note("trouble", who=self.name, error=str(error)[:200])
            else:
                return
            await asyncio.sleep(self.pause_s)

    async def _exchange_to_the_end(self) -> None:
        while await self._exchange() is CrawlState.RUNNING:
            is_busy = self._links or self._done or self._lost
            await asyncio.sleep(self.pause_s if is_busy else 0.1)
        self._note_end("ended")

    async def _join(self, run: int | None) -> JoinAnswer:
        self._note_end("joins again")
        request = JoinRequest(node=self.name, crawler=self.crawler, run=run)
        joined = decode_joined(await self._post("join", encode_join(request)))
        if joined.state is CrawlState.RUNNING:
            self._session, self._run_number, self._lease_s = joined.session, joined.run, joined.lease_s
            self._received, self._done, self._lost = 0, {}, ()
            self._links = [self.web.link(0, 0)]
            self._heard_s = self.now_s()
            self.note("node", node=self.name, session=self._session, state="joined", run=joined.run)
        return joined

    async def _exchange(self, *, is_leaving: bool = False) -> CrawlState:
        links, done, released = list(self._links), dict(self._done), self._lost
        is_idle = not (links or done or released)
        request = ExchangeRequest(
            session=self._session,
            received=self._received,
            links=tuple(links),
            done=tuple(done),
            released=released,
            room=self.room,
            is_idle=is_idle,
            is_leaving=is_leaving,
            wait_s=5.0 if is_idle else 0.0,
        )
        for slot in released:
            self.note("released", run=self._run_number, session=self._session, slot=slot)
        answer = decode_exchanged(await self._post("exchange", encode_exchange(request)))
        self._heard_s = self.now_s()
        for url in done.values():
            self.note("finished", run=self._run_number, session=self._session, url=url)
        self._links, self._done, self._lost = [], {}, answer.lost
        self._received = answer.delivery
        for one in answer.links:
            self.note("fetched", run=self._run_number, session=self._session, slot=one.slot, url=one.link.url)
            self._links += self.web.links_of(one.link)
            self._done[one.number] = one.link.url
        return answer.state

    async def _post(self, path: str, body: bytes) -> bytes:
        headers = {"Authorization": f"Bearer {self.token()}"}
        url = f"{self.url}/v1/crawls/{self.crawl}/{path}"
        async with self.http.post(url, data=body, headers=headers) as response:
            found = await response.read()
            if response.status == CONFLICT or (path == "join" and 400 <= response.status < 500):
                raise RefusedNodeError(f"{path}: {response.status} {found[:200]!r}")
            if response.status != 200:
                raise OSError(f"{path}: {response.status} {found[:200]!r}")
            return found
