"""Requests of crawlee: those of sites that a crawler owns, by the coordinator's answer.

The manager wraps another one, by default crawlee's own queue. Whatever is added is sorted by its host: own
requests go into the queue, others to `on_foreign`, with their owner. The coordinator is asked once for all
hosts of a list, and its answers are kept for some minutes. Requests without an owner are counted and not
fetched.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from crawlee import Request
from crawlee.request_loaders import RequestManager
from crawlee.storages import RequestQueue

from ipmicra.app.connect.answers import OwnerProblem
from ipmicra.app.connect.client import RemoteDelegator
from ipmicra.edge.files.seeds import UnresolvedSeed, parse_seed
from ipmicra.edge.log import EventLog
from ipmicra.errors import IpmicraError
from ipmicra.model.link import Share
from ipmicra.model.owner import Owner

events = EventLog("crawlee")
Foreign = Callable[[Request, str], Awaitable[object] | object]
"""Called with a request of another crawler, and its name."""
KEPT_S, MOST = 300.0, 1_000_000
VANTAGE_NEEDED = "vantage-needed"


@dataclass(slots=True)
class Tally:
    """Where requests went."""

    own: int = 0
    foreign: int = 0
    refused: int = 0
    """Without an owner: the host has no address, or rules leave nobody."""


class OwnedRequests(RequestManager):
    """Keeps the requests of a crawler's own sites, and hands others to `on_foreign`.

    ```python
    async with Delegator.connect(url, token) as delegator:
        requests = await OwnedRequests.open(delegator, "fra", on_foreign=hand_over)
        crawler = ParselCrawler(request_manager=requests)
        await crawler.run(["https://example.org/"])
    ```
    """

    def __init__(
        self,
        delegator: RemoteDelegator,
        crawler: str,
        queue: RequestManager,
        *,
        on_foreign: Foreign | None = None,
        vantage: str | None = None,
    ) -> None:
        """Name the crawler, and where its own requests go; `vantage` is that of sites with several."""
        self._delegator, self._crawler, self._queue = delegator, crawler, queue
        self._on_foreign, self._vantage = on_foreign, vantage
        self._kept: dict[str, tuple[float, tuple[Share, ...]]] = {}
        self.tally = Tally()

    @classmethod
    async def open(
        cls,
        delegator: RemoteDelegator,
        crawler: str,
        *,
        on_foreign: Foreign | None = None,
        vantage: str | None = None,
    ) -> OwnedRequests:
        """Use crawlee's default queue."""
        queue = await RequestQueue.open()
        return cls(delegator, crawler, queue, on_foreign=on_foreign, vantage=vantage)

    # --- who owns what

    async def _learn(self, hosts: Sequence[str]) -> None:
        now = time.monotonic()
        unknown = [one for one in dict.fromkeys(hosts) if self._kept.get(one, (0.0,))[0] < now]
        if not unknown:
            return
        if len(self._kept) + len(unknown) > MOST:
            self._kept.clear()
        at = 0
        async for answer in self._delegator.owners(unknown):
            host, at = unknown[at], at + 1
            self._kept[host] = now + KEPT_S, await self._shares(host, answer)

    async def _shares(self, host: str, answer: Owner | OwnerProblem) -> tuple[Share, ...]:
        if isinstance(answer, OwnerProblem) and answer.kind == VANTAGE_NEEDED and self._vantage:
            try:
                answer = await self._delegator.owner(host, self._vantage)
            except IpmicraError as error:
                answer = OwnerProblem(host=host, kind="nobody", reason=str(error))
        if isinstance(answer, OwnerProblem):
            events.warning("no_owner", "{host}: {reason}", host=host, reason=answer.reason)
            return ()
        if not answer.pieces:
            return (Share(crawler=answer.crawler, slot=""),)
        return tuple(Share(crawler=one.crawler or "", slot="", filters=one.filters) for one in answer.pieces)

    def _owner(self, request: Request) -> str | None:
        shares = self._kept.get(_host(request.url) or "", (0.0, ()))[1]
        first, slash, _ = urlsplit(request.url).path.lstrip("/").partition("/")
        directory = f"/{first}/" if slash else "/"
        return next((one.crawler for one in shares if one.admits(directory)), None)

    async def _sorted(self, requests: Sequence[str | Request]) -> list[Request]:
        """Return own requests; hand over the others."""
        made = self._transform_requests(requests)
        await self._learn([host for one in made if (host := _host(one.url)) is not None])
        own = []
        for one in made:
            owner = self._owner(one)
            if owner == self._crawler:
                own.append(one)
            elif owner is None:
                self.tally.refused += 1
            else:
                self.tally.foreign += 1
                found = self._on_foreign(one, owner) if self._on_foreign else None
                if asyncio.iscoroutine(found):
                    await found
        self.tally.own += len(own)
        return own

    # --- what crawlee calls

    async def add_request(self, request: str | Request, *, forefront: bool = False) -> Any:  # noqa: ANN401 - crawlee's own type
        """Add a request if it is ours."""
        own = await self._sorted([request])
        return await self._queue.add_request(own[0], forefront=forefront) if own else None

    async def add_requests(
        self,
        requests: Sequence[str | Request],
        *,
        forefront: bool = False,
        batch_size: int = 1000,
        wait_time_between_batches: timedelta = timedelta(seconds=1),
        wait_for_all_requests_to_be_added: bool = False,
        wait_for_all_requests_to_be_added_timeout: timedelta | None = None,
    ) -> None:
        """Add those requests that are ours; the coordinator is asked once for all of them."""
        own = await self._sorted(requests)
        if own:
            await self._queue.add_requests(
                own,
                forefront=forefront,
                batch_size=batch_size,
                wait_time_between_batches=wait_time_between_batches,
                wait_for_all_requests_to_be_added=wait_for_all_requests_to_be_added,
                wait_for_all_requests_to_be_added_timeout=wait_for_all_requests_to_be_added_timeout,
            )

    async def drop(self) -> None:
        """Remove the queue."""
        await self._queue.drop()

    async def purge(self) -> None:
        """Empty the queue."""
        await self._queue.purge()

    async def reclaim_request(self, request: Request, *, forefront: bool = False) -> Any:  # noqa: ANN401 - as above
        """Take a failed request back."""
        return await self._queue.reclaim_request(request, forefront=forefront)

    async def get_handled_count(self) -> int:
        """Count what was handled."""
        return await self._queue.get_handled_count()

    async def get_total_count(self) -> int:
        """Count all own requests."""
        return await self._queue.get_total_count()

    async def is_empty(self) -> bool:
        """Return whether nothing is left to fetch."""
        return await self._queue.is_empty()

    async def is_finished(self) -> bool:
        """Return whether everything was handled."""
        return await self._queue.is_finished()

    async def fetch_next_request(self) -> Request | None:
        """Return the next request."""
        return await self._queue.fetch_next_request()

    async def mark_request_as_handled(self, request: Request) -> Any:  # noqa: ANN401 - as above
        """Note that a request was handled."""
        return await self._queue.mark_request_as_handled(request)


def _host(url: str) -> str | None:
    seed = parse_seed(url)
    return None if isinstance(seed, UnresolvedSeed) or seed.is_range else seed.host
