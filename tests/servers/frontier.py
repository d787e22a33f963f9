"""A small URLFrontier service for tests: keeps what it is given, by queue; and a proxy in front of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import grpc.aio

from ipmicra.edge.frontier.delivering import Delivery
from ipmicra.edge.frontier.holding import Holding
from ipmicra.edge.frontier.messages import (
    PUT_DISCOVERED,
    PUT_URLS,
    SERVICE,
    AckMessage,
    BatchAck,
    DiscoveredBatch,
    URLInfo,
    URLItem,
)
from ipmicra.edge.frontier.proxy import FrontierProxy, serve
from ipmicra.edge.frontier.routes import OwnedPart, Routes, RoutesConfig, Verdict
from tests.patience import PATIENCE_S


async def until(is_so: Callable[[], object]) -> None:
    """Wait for a condition on the other side of a connection."""
    async with asyncio.timeout(PATIENCE_S):
        while not is_so():  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.005)


class SmallFrontier(grpc.GenericRpcHandler):  # type: ignore[misc]
    """Keeps URLs by crawl and key."""

    def __init__(self, *, has_batches: bool = True) -> None:
        self.queues: dict[tuple[str, str], list[Any]] = {}
        self.known: list[Any] = []
        self.cancelled = 0
        self.fails_once: set[str] = set()
        """URLs whose first attempt is answered with FAIL."""
        self._has_batches = has_batches
        self.port = 0

    def service(self, details: Any) -> Any:
        made = {
            PUT_URLS: self._put_urls,
            PUT_DISCOVERED: self._put_discovered if self._has_batches else None,
            f"{SERVICE}GetURLs": self._get_urls,
            f"{SERVICE}GetStats": self._get_stats,
        }.get(details.method)
        return None if made is None else grpc.stream_stream_rpc_method_handler(made)

    def _keep(self, info: Any) -> int:
        if info.url in self.fails_once:
            self.fails_once.remove(info.url)
            return 2
        self.queues.setdefault((info.crawlID, info.key), []).append(info)
        return 0

    def urls(self) -> dict[str, set[tuple[str, str]]]:
        """The queues that each URL is in."""
        found: dict[str, set[tuple[str, str]]] = {}
        for queue, infos in self.queues.items():
            for info in infos:
                found.setdefault(info.url, set()).add(queue)
        return found

    async def _put_urls(self, requests: AsyncIterator[bytes], context: Any) -> None:
        async for data in requests:
            item = URLItem.FromString(data)
            if item.HasField("known"):
                self.known.append(item.known.info)
                status, url = 0, item.known.info.url
            else:
                status, url = self._keep(item.discovered.info), item.discovered.info.url
            await context.write(AckMessage(ID=item.ID or url, status=status).SerializeToString())

    async def _put_discovered(self, requests: AsyncIterator[bytes], context: Any) -> None:
        async for data in requests:
            batch = DiscoveredBatch.FromString(data)
            statuses = [self._keep(info) for info in batch.items]
            await context.write(BatchAck(ID=batch.ID, statuses=statuses).SerializeToString())

    async def _get_urls(self, requests: AsyncIterator[bytes], context: Any) -> None:
        """Stream a crawl's URLs; the parameter `forever` of the metadata goes on until cancelled."""
        crawl = URLInfo.FromString(await anext(requests)).url  # field 1, whatever it is called
        for queue, infos in self.queues.items():
            if queue[0] == crawl:
                for info in infos:
                    await context.write(info.SerializeToString())
        if ("forever", "yes") in tuple(context.invocation_metadata()):
            try:
                await asyncio.sleep(3_600)
            finally:
                self.cancelled += 1

    async def _get_stats(self, requests: AsyncIterator[bytes], context: Any) -> None:
        await anext(requests)
        await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "no such queue", (("hint", "look elsewhere"),))

    @asynccontextmanager
    async def running(self, port: int = 0) -> AsyncIterator[SmallFrontier]:
        server = grpc.aio.server()
        server.add_generic_rpc_handlers((self,))
        self.port = server.add_insecure_port(f"127.0.0.1:{port}")
        await server.start()
        try:
            yield self
        finally:
            await server.stop(None)


@dataclass
class FakeAsker:
    """Knows owners, or does not know them yet."""

    owners: dict[str, tuple[OwnedPart, ...]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    is_down: bool = False

    def owns(self, host: str, crawler: str, key: str = "192.0.2.0/24", **more: Any) -> None:
        part = OwnedPart(crawler=crawler, key=key, subnet=key, **more)
        self.owners[host] = (*self.owners.get(host, ()), part)

    async def ask(self, hosts: Sequence[str]) -> AsyncIterator[Verdict]:
        self.asked += hosts
        if self.is_down:
            raise OSError("the coordinator is down")
        for host in hosts:
            known = self.owners.get(host)
            yield Verdict(host=host, parts=known or (), is_final=known is not None)


@dataclass
class RunningProxy:
    """A proxy, and a channel to it."""

    proxy: FrontierProxy
    holding: Holding
    channel: Any
    port: int

    async def put(self, *items: Any) -> dict[str, int]:
        """Put URLs on a stream of their own; return the status of each."""
        call = self.channel.stream_stream(PUT_URLS)()
        for item in items:
            await call.write(item.SerializeToString())
        await call.done_writing()
        found = {}
        while (data := await call.read()) is not grpc.aio.EOF:
            ack = AckMessage.FromString(data)
            found[ack.ID] = ack.status
        return found

    async def put_batch(self, batch: Any) -> Any:
        """Put a batch on a stream of its own; return its acknowledgement."""
        call = self.channel.stream_stream(PUT_DISCOVERED)()
        await call.write(batch.SerializeToString())
        await call.done_writing()
        data = await call.read()
        assert await call.read() is grpc.aio.EOF
        return BatchAck.FromString(data)


@asynccontextmanager
async def running_proxy(
    upstream: int, asker: FakeAsker, held: Path, *, most: int = 1_000, fresh_s: float = 300.0
) -> AsyncIterator[RunningProxy]:
    """A proxy of a service on loopback, with a file for what it holds."""
    holding = Holding(held, most)
    async with grpc.aio.insecure_channel(f"127.0.0.1:{upstream}") as channel:
        loop = asyncio.get_running_loop()
        routes = Routes(asker, loop.time, RoutesConfig(pause_s=0.05, fresh_s=fresh_s))
        delivery = Delivery(channel, routes, holding, pause_s=0.05)
        await delivery.take_up()
        proxy = FrontierProxy(channel, routes, delivery)
        place: asyncio.Future[int] = loop.create_future()

        async def beside() -> None:
            async with asyncio.TaskGroup() as group:
                group.create_task(routes.run())
                group.create_task(delivery.run())
                group.create_task(holding.run(0.01))

        serving = asyncio.create_task(serve(proxy, "127.0.0.1:0", beside, place.set_result))
        port = await place
        try:
            async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as client:
                yield RunningProxy(proxy, holding, client, port)
        finally:
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)
            await holding.close()


def discovered(url: str, name: str = "", crawl: str = "self", **metadata: str) -> Any:
    item = URLItem(ID=name)
    item.discovered.info.url = url
    item.discovered.info.crawlID = crawl
    item.discovered.info.key = "its-own-key"
    for word, value in metadata.items():
        item.discovered.info.metadata[word].values.append(value)
    return item
