"""Ask other coordinators of the same database to decide sites, many in a request.

Sites for the same coordinator are gathered for a few milliseconds and sent together; its answers come line by
line, as sites are decided, so none waits for a slow one. A request that breaks off leaves its sites without
an answer: whoever asked looks again who decides them, and asks anew. Asking twice does no harm, since a site
that is decided has its answer.
"""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass, field

import aiohttp

from ipmicra.edge.log import EventLog
from ipmicra.errors import MessageError
from ipmicra.wire.limits import LIMITS
from ipmicra.wire.peers import MAX_SITES, PeerAnswer, PeerWish, decode_peer_answer, encode_wishes

events = EventLog("coordinator")
DECIDE = "/v1/peers/decide"
OK = 200


@dataclass(slots=True)
class PeerClient:
    """Carries sites to other coordinators and answers back; all calls come from one event loop."""

    session: aiohttp.ClientSession
    token: str
    tls: ssl.SSLContext | None = None
    gather_s: float = 0.005
    """How long a site waits for others that go the same way."""
    ask_s: float = 70.0
    """How long a request may take."""
    _waiting: dict[str, dict[str, tuple[PeerWish, asyncio.Future[PeerAnswer | None]]]] = field(
        default_factory=dict
    )
    """By coordinator and host: what is sent next."""
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def ask(self, url: str, wish: PeerWish) -> PeerAnswer | None:
        """Have a site decided; None if that coordinator could not be asked."""
        waiting = self._waiting.setdefault(url, {})
        if not waiting:
            task = asyncio.create_task(self._send_soon(url))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        if wish.site.host in waiting:
            return await asyncio.shield(waiting[wish.site.host][1])
        future: asyncio.Future[PeerAnswer | None] = asyncio.get_running_loop().create_future()
        waiting[wish.site.host] = (wish, future)
        return await future

    async def close(self) -> None:
        """Cancel what is under way."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _send_soon(self, url: str) -> None:
        await asyncio.sleep(self.gather_s)
        waiting = self._waiting.pop(url, {})
        hosts = list(waiting)
        parts = [
            {host: waiting[host] for host in hosts[i : i + MAX_SITES]}
            for i in range(0, len(hosts), MAX_SITES)
        ]
        await asyncio.gather(*(self._send(url, part) for part in parts))

    async def _send(
        self, url: str, part: dict[str, tuple[PeerWish, asyncio.Future[PeerAnswer | None]]]
    ) -> None:
        try:
            async with self.session.post(
                url + DECIDE,
                data=encode_wishes([wish for wish, _ in part.values()]),
                headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
                ssl=self.tls if self.tls is not None and url.startswith("https:") else True,
                timeout=aiohttp.ClientTimeout(total=self.ask_s),
                allow_redirects=False,
                read_bufsize=LIMITS.max_line_bytes,
            ) as response:
                if response.status == OK:
                    async for line in response.content:
                        self._answered(part, decode_peer_answer(line.rstrip(b"\n")))
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError, MessageError) as error:
            events.debug("peer_silent", "{url}: {reason}", url=url, reason=str(error) or type(error).__name__)
        finally:
            for _, future in part.values():
                if not future.done():
                    future.set_result(None)

    def _answered(
        self, part: dict[str, tuple[PeerWish, asyncio.Future[PeerAnswer | None]]], answer: PeerAnswer
    ) -> None:
        wanted = part.get(answer.host)
        if wanted is not None and not wanted[1].done():
            wanted[1].set_result(answer)
