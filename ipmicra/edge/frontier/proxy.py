"""The proxy: URLFrontier to its clients, a client to URLFrontier.

Theory of operation
-------------------
Crawlers stamp the links that they find with their own `crawlID`, so links would never reach their owner.
The proxy gives every discovered URL the queue of its owner. URLs that were fetched (`known`) stay in the
crawl that they were fetched for, under the key that came with them. All other calls pass.

    PutURLs, PutDiscovered ─┬─ host known ──▶ rewritten, on the client's own stream
                            └─ not known ───▶ held; delivered when it is decided; then acknowledged
    anything else ──────────────────────────▶ as it is

A stream stays open while URLs of it are held, and ends when the last of them is acknowledged. A client that
leaves before that loses nothing: what is held is delivered without it. Only URLs beyond the limit of what may
be held are refused, with FAIL, for which clients send them again.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import grpc
import grpc.aio
from google.protobuf.message import DecodeError

from ipmicra.edge.frontier.delivering import Delivery
from ipmicra.edge.frontier.messages import (
    FAIL,
    OK,
    PUT_DISCOVERED,
    PUT_URLS,
    SKIPPED,
    AckMessage,
    BatchAck,
    DiscoveredBatch,
    URLItem,
)
from ipmicra.edge.frontier.passing import open_call, pass_error, pass_on
from ipmicra.edge.frontier.routes import Routes, start_of
from ipmicra.errors import InputError


@dataclass(slots=True)
class Counts:
    """What went through, for the log."""

    rewritten: int = 0
    held: int = 0
    skipped: int = 0
    refused: int = 0


class FrontierProxy(grpc.GenericRpcHandler):  # type: ignore[misc]
    """Handles the calls of all clients."""

    def __init__(self, channel: Any, routes: Routes, delivery: Delivery) -> None:  # noqa: ANN401 - grpc has no types
        """Use a channel to the service."""
        self.channel, self.routes, self.delivery = channel, routes, delivery
        self.counts = Counts()

    def service(self, details: Any) -> Any:  # noqa: ANN401 - as above
        """Return what handles a method."""
        makes = {PUT_URLS: UrlStream, PUT_DISCOVERED: BatchStream}.get(details.method)

        async def handle(requests: AsyncIterator[bytes], context: Any) -> None:  # noqa: ANN401 - as above
            if makes is None:
                await pass_on(self.channel, details.method, requests, context)
            else:
                await makes(self, details.method, context).run(requests)

        return grpc.stream_stream_rpc_method_handler(handle)


class ClientStream:
    """A stream of URLs: those of known hosts go on, acknowledgements come back, also of what was held."""

    def __init__(self, proxy: FrontierProxy, method: str, context: Any) -> None:  # noqa: ANN401 - as above
        """Open the same stream at the service."""
        self._proxy, self._context = proxy, context
        self._call = open_call(proxy.channel, method, context)
        self._outgoing: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._held = 0
        self._writing = asyncio.Lock()
        self._is_answered = False
        """Whether the service has answered everything; what is held is not among it."""
        self._is_malformed = False

    async def run(self, requests: AsyncIterator[bytes]) -> None:
        """Handle the stream to its end."""
        tasks = [asyncio.create_task(self._send(requests)), asyncio.create_task(self._write())]
        try:
            while (data := await self._call.read()) is not grpc.aio.EOF:
                answer = self.answered(data)
                if answer is not None:
                    async with self._writing:
                        await self._context.write(answer)
            code = await self._call.code()
            if code is not grpc.StatusCode.OK:
                await self._context.abort(code, await self._call.details() or "")
            self._is_answered = True
            self._outgoing.put_nowait(None)
            await tasks[1]
        except grpc.aio.AioRpcError as error:
            await pass_error(self._context, error)
        except asyncio.CancelledError:
            if not self._is_malformed:
                raise
            await self._context.abort(grpc.StatusCode.INVALID_ARGUMENT, "not a message of URLFrontier")
        finally:
            for task in tasks:
                task.cancel()
            self._call.cancel()
            self._proxy.delivery.leave(self)

    async def _send(self, requests: AsyncIterator[bytes]) -> None:
        async for data in requests:
            try:
                message = self.rewritten(data)
            except DecodeError:
                self._is_malformed = True
                self._call.cancel()  # else both sides would wait for each other
                return
            if message is not None:
                await self._call.write(message)
        await self._call.done_writing()

    async def _write(self) -> None:
        """Write answers, one at a time, until all are out."""
        while not (self._is_answered and self._held == 0 and self._outgoing.empty()):
            answer = await self._outgoing.get()
            if answer is not None:
                async with self._writing:
                    await self._context.write(answer)

    def hold(self, item: Any, on_status: Callable[[int], object]) -> None:  # noqa: ANN401 - made by protobuf
        """Hold a URL until its host is decided; one too many is refused."""

        def done(status: int) -> None:
            self._held -= 1
            on_status(status)
            self._outgoing.put_nowait(None)  # it may have been the last

        self._held += 1
        self._proxy.counts.held += 1
        if not self._proxy.delivery.hold(item, done, self):
            self._proxy.counts.refused += 1
            done(FAIL)

    def answer(self, message: Any) -> None:  # noqa: ANN401 - made by protobuf
        """Answer the client."""
        self._outgoing.put_nowait(message.SerializeToString())

    def rewritten(self, data: bytes) -> bytes | None:
        """Return a message as it is forwarded; None if nothing of it is yet."""
        raise NotImplementedError

    def answered(self, data: bytes) -> bytes | None:
        """Return an acknowledgement as it goes back; None if it has to wait."""
        raise NotImplementedError


class UrlStream(ClientStream):
    """PutURLs: one URL in a message."""

    def rewritten(self, data: bytes) -> bytes | None:
        """Set the queue of a URL to that of its owner."""
        self._proxy.routes.tidy()
        item = URLItem.FromString(data)
        if item.HasField("known"):
            return self._known(item, data)
        info = item.discovered.info
        suffix = self._proxy.routes.direct.get(start_of(info.url)) or self._undirected(item)
        if suffix is None:
            return None
        self._proxy.counts.rewritten += 1
        info.MergeFromString(suffix)
        return bytes(item.SerializeToString())

    def _undirected(self, item: Any) -> bytes | None:  # noqa: ANN401 - made by protobuf
        """Return the fields that a URL gets; hold or skip one that goes nowhere yet, or to several queues."""
        url = item.discovered.info.url
        name = item.ID or url
        route = self._proxy.routes.find(url)
        if route is None or route.is_several:
            self.hold(item, lambda status: self.answer(AckMessage(ID=name, status=status)))
            return None
        suffixes = route.suffixes(url)
        if not suffixes:
            self._proxy.counts.skipped += 1
            self.answer(AckMessage(ID=name, status=SKIPPED))
            return None
        return suffixes[0]

    def _known(self, item: Any, data: bytes) -> bytes:  # noqa: ANN401 - made by protobuf
        """Return a fetched URL to the queue that it came from: its crawl, and the key that it was given."""
        info = item.known.info
        if "ip" in info.metadata and info.metadata["ip"].values:
            key = info.metadata["ip"].values[0]
        else:
            route = self._proxy.routes.find(info.url)
            key = route.key if route is not None else ""
        if not key or key == info.key:
            return data
        info.key = key
        return bytes(item.SerializeToString())

    def answered(self, data: bytes) -> bytes | None:
        """Return acknowledgements as they are."""
        return data


@dataclass(slots=True)
class MixedBatch:
    """A batch of which some URLs are held."""

    name: str
    statuses: list[int]
    direct: list[int] = field(default_factory=list)
    """Places of the URLs that went on at once."""
    left: int = 0


class BatchStream(ClientStream):
    """PutDiscovered: many URLs in a message, acknowledged together."""

    def __init__(self, proxy: FrontierProxy, method: str, context: Any) -> None:  # noqa: ANN401 - as above
        """Open the same stream at the service."""
        super().__init__(proxy, method, context)
        self._mixed: dict[str, MixedBatch] = {}

    def rewritten(self, data: bytes) -> bytes | None:
        """Set the queues of the URLs of a batch to those of their owners."""
        batch = DiscoveredBatch.FromString(data)
        self._proxy.routes.tidy()
        direct = self._proxy.routes.direct
        later: list[int] = []
        for place, info in enumerate(batch.items):
            url = info.url
            suffix = direct.get(url[: url.find("/", 8)])  # as `start_of`, which would take as long again
            if suffix is None:
                later.append(place)
            else:
                info.MergeFromString(suffix)
        self._proxy.counts.rewritten += len(batch.items) - len(later)
        return self._split(batch, later) if later else bytes(batch.SerializeToString())

    def _split(self, batch: Any, later: list[int]) -> bytes | None:  # noqa: ANN401 - made by protobuf
        """Send on what can go at once; hold or skip the rest, and acknowledge all of it together."""
        mixed = MixedBatch(batch.ID, [OK] * len(batch.items))
        held = set(later)
        going = DiscoveredBatch(ID=f"ipmicra-{secrets.token_hex(8)}")
        mixed.left = 1  # itself, until everything is on its way
        for place, info in enumerate(batch.items):
            if place not in held:
                mixed.direct.append(place)
                going.items.append(info)
                continue
            route = self._proxy.routes.find(info.url)
            suffixes = [] if route is None else route.suffixes(info.url)
            if route is not None and len(suffixes) == 1:
                info.MergeFromString(suffixes[0])
                mixed.direct.append(place)
                going.items.append(info)
            elif route is not None and not suffixes:
                self._proxy.counts.skipped += 1
                mixed.statuses[place] = SKIPPED
            else:
                mixed.left += 1
                item = URLItem()
                item.discovered.info.CopyFrom(info)
                self.hold(item, self._status_of(mixed, place))
        if mixed.direct:
            mixed.left += 1
            self._mixed[going.ID] = mixed
        self._one_less(mixed)
        return bytes(going.SerializeToString()) if mixed.direct else None

    def _status_of(self, mixed: MixedBatch, place: int) -> Callable[[int], object]:
        def on_status(status: int) -> None:
            mixed.statuses[place] = status
            self._one_less(mixed)

        return on_status

    def _one_less(self, mixed: MixedBatch) -> None:
        mixed.left -= 1
        if mixed.left == 0:
            self.answer(BatchAck(ID=mixed.name, statuses=mixed.statuses))

    def answered(self, data: bytes) -> bytes | None:
        """Return acknowledgements as they are, except of batches that were split."""
        if not self._mixed:
            return data
        ack = BatchAck.FromString(data)
        mixed = self._mixed.pop(ack.ID, None)
        if mixed is None:
            return data
        for place, status in zip(mixed.direct, ack.statuses, strict=False):
            mixed.statuses[place] = status
        self._one_less(mixed)
        return None


async def serve(
    proxy: FrontierProxy,
    listen: str,
    background: Callable[[], Awaitable[None]],
    ready: Callable[[int], object],
) -> None:
    """Serve until cancelled, or until what runs beside it fails."""
    server = grpc.aio.server(options=[("grpc.max_concurrent_streams", 1_000), ("grpc.so_reuseport", 0)])
    server.add_generic_rpc_handlers((proxy,))
    try:
        port = server.add_insecure_port(listen)
    except RuntimeError as error:
        raise InputError(f"cannot listen on {listen}: it is taken, or no address of this machine") from error
    await server.start()
    ready(port)
    try:
        await background()
    finally:
        await server.stop(5.0)
