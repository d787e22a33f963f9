"""What loads a coordinator: lists of sites, and nodes that fetch nothing and report everything."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice

import aiohttp

from ipmicra.model.link import Link
from ipmicra.wire.links import (
    CrawlState,
    ExchangeRequest,
    JoinRequest,
    decode_exchanged,
    decode_joined,
    encode_exchange,
    encode_join,
)
from tests.torture.load.world import LoadedWeb, Seen, host_of

LISTED, LISTS = 2_000, 8
"""Sites of a list, and lists that are under way at a time."""
CRAWL = "load"
ATTEMPTS = 10


@dataclass
class Client:
    """Asks one coordinator as its operator."""

    url: str
    token: str
    http: aiohttp.ClientSession
    named: int = 0
    """Sites whose owner was named."""
    fetched: int = 0
    """Pages that nodes fetched."""

    async def post(self, path: str, body: bytes, kind: str = "application/json") -> bytes:
        """Send a message, again if its connection was closed: whatever comes twice changes nothing."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": kind}
        for _ in range(ATTEMPTS):
            try:
                async with self.http.post(f"{self.url}{path}", data=body, headers=headers) as response:
                    found = await response.read()
            except aiohttp.ClientError:
                await asyncio.sleep(0.1)
                continue
            if response.status != 200:
                raise OSError(f"{path}: {response.status} {found[:300]!r}")
            return found
        raise OSError(f"{path}: {ATTEMPTS} connections were closed")


async def ask_owners(client: Client, first: int, last: int) -> int:
    """Ask for the owners of sites until each is named; return how many had to be asked for again."""
    numbers, again = iter(range(first, last)), 0

    async def ask() -> None:
        nonlocal again
        while part := [host_of(number) for number in islice(numbers, LISTED)]:
            while part:
                body = await client.post("/v1/owners", "\n".join(part).encode(), "text/plain")
                answers = [json.loads(line) for line in body.splitlines()]
                client.named += sum("problem" not in one for one in answers)
                part = [host for host, one in zip(part, answers, strict=True) if "problem" in one]
                again += len(part)

    await asyncio.gather(*(ask() for _ in range(LISTS)))
    return again


@dataclass
class LoadNode:
    """A node that finds pages as quickly as it is given them."""

    name: str
    crawler: str
    web: LoadedWeb
    seen: Seen
    client: Client
    starts: list[Link] = field(default_factory=list)
    room: int = 500
    _session: str = ""

    async def _send(self, request: ExchangeRequest) -> bytes:
        return await self.client.post(f"/v1/crawls/{CRAWL}/exchange", encode_exchange(request))

    async def join(self) -> None:
        body = encode_join(JoinRequest(node=self.name, crawler=self.crawler))
        self._session = decode_joined(await self.client.post(f"/v1/crawls/{CRAWL}/join", body)).session

    async def leave(self) -> None:
        """Leave at once: from now on other nodes stand in for the crawler."""
        await self._send(ExchangeRequest(session=self._session, is_leaving=True))

    async def crawl(self, on_fetched: Callable[[], object]) -> None:
        """Fetch until the crawl has ended."""
        found, received = self.starts, 0
        done: list[int] = []
        finished: list[int]
        lost: tuple[str, ...] = ()
        state = CrawlState.RUNNING
        while state is CrawlState.RUNNING:
            sent, found = found[:2_000], found[2_000:]
            # A page is done only when all links on it were sent.
            finished, done = ([], done) if found else (done[:2_000], done[2_000:])
            is_idle = not (sent or finished or found or done or lost)
            request = ExchangeRequest(
                session=self._session,
                received=received,
                links=tuple(sent),
                done=tuple(finished),
                released=lost,
                room=0 if found or done else self.room,
                is_idle=is_idle,
                wait_s=5.0 if is_idle else 0.0,
            )
            answer = decode_exchanged(await self._send(request))
            received, lost, state = answer.delivery, answer.lost, answer.state
            for one in answer.links:
                host, page = self.web.place(one.link)
                self.seen.see(host, page)
                found += self.web.links_of(host, page)
                done.append(one.number)
            on_fetched()


def parts_of(web: LoadedWeb, count: int) -> Iterator[list[Link]]:
    """Share the first pages out among nodes."""
    return (web.starts(number, count) for number in range(count))
