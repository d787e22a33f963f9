"""Deliver held URLs: one stream of the proxy's own, which outlives those of its clients.

A held URL may be decided when the client that sent it is long gone. So it is sent on a stream of the proxy,
with a number as its identifier, until the service acknowledges it; then it is let go, and whoever waits for
it is told. If the stream breaks, everything that was not acknowledged is sent again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import grpc
import grpc.aio

from ipmicra.edge.frontier.holding import Holding
from ipmicra.edge.frontier.messages import FAIL, OK, PUT_URLS, SKIPPED, AckMessage, URLItem
from ipmicra.edge.frontier.routes import Route, Routes
from ipmicra.edge.log import EventLog

events = EventLog("frontier")
OnStatus = Callable[[int], object]
"""Called with the status of a URL that was held."""


class Delivery:
    """Holds URLs until their hosts are decided, and delivers them."""

    def __init__(self, channel: Any, routes: Routes, holding: Holding, pause_s: float = 0.5) -> None:  # noqa: ANN401 - grpc has no types
        """Use a channel to the service."""
        self._channel, self._routes, self._holding, self._pause_s = channel, routes, holding, pause_s
        self._callers: dict[int, tuple[OnStatus, object]] = {}
        self._open: dict[str, bytes] = {}
        """Copies that the service has not acknowledged, by identifier."""
        self._copies: dict[int, list[int]] = {}
        """Of each held URL: how many copies are open, and the worst status so far."""
        self._ready: asyncio.Queue[str] = asyncio.Queue()

    async def take_up(self) -> int:
        """Take up what was held when the proxy last stopped; return how many."""
        rows = await self._holding.load()
        for number, message in rows:
            self._wait(number, URLItem.FromString(message))
        return len(rows)

    def hold(self, item: Any, on_status: OnStatus, whose: object) -> bool:  # noqa: ANN401 - made by protobuf
        """Hold a URL, and call back when it was delivered; return False if there are too many."""
        number = self._holding.hold(item.SerializeToString())
        if number is None:
            return False
        self._callers[number] = on_status, whose
        self._wait(number, item)
        return True

    def leave(self, whose: object) -> None:
        """Call a client back no more: it has disconnected. Its URLs are delivered all the same."""
        for number in [number for number, (_, one) in self._callers.items() if one is whose]:
            del self._callers[number]

    def _wait(self, number: int, item: Any) -> None:  # noqa: ANN401 - made by protobuf
        url = item.discovered.info.url
        self._routes.when_known(url, lambda route: self._decided(number, item, route))

    def _decided(self, number: int, item: Any, route: Route) -> None:  # noqa: ANN401 - made by protobuf
        suffixes = route.suffixes(item.discovered.info.url)
        if not suffixes:
            self._done(number, SKIPPED)
            return
        self._copies[number] = [len(suffixes), OK]
        for copy, suffix in enumerate(suffixes):
            one = URLItem()
            one.CopyFrom(item)
            one.discovered.info.MergeFromString(suffix)
            one.ID = f"{number}-{copy}"
            self._open[one.ID] = one.SerializeToString()
            self._ready.put_nowait(one.ID)

    def _acknowledged(self, name: str, status: int) -> None:
        if status == FAIL:
            asyncio.get_running_loop().call_later(self._pause_s, self._ready.put_nowait, name)
            return
        if self._open.pop(name, None) is None:
            return
        number = int(name.partition("-")[0])
        left = self._copies[number]
        left[0] -= 1
        left[1] = max(left[1], status)
        if left[0] == 0:
            del self._copies[number]
            self._done(number, left[1])

    def _done(self, number: int, status: int) -> None:
        self._holding.release(number)
        caller = self._callers.pop(number, None)
        if caller is not None:
            on_status, _ = caller
            on_status(status)

    async def run(self) -> None:
        """Deliver, until cancelled; begin again when the stream breaks."""
        while True:
            first = await self._ready.get()
            self._ready.put_nowait(first)
            try:
                await self._stream()
            except grpc.RpcError as error:
                code = getattr(error, "code", lambda: None)()
                events.warning(
                    "not_delivered", "{held} URLs wait: {code}", held=len(self._open), code=str(code)
                )
                await asyncio.sleep(self._pause_s)
                while not self._ready.empty():
                    self._ready.get_nowait()
                for name in self._open:
                    self._ready.put_nowait(name)

    async def _stream(self) -> None:
        call = self._channel.stream_stream(PUT_URLS)()
        sending = asyncio.create_task(self._send(call))
        try:
            while (data := await call.read()) is not grpc.aio.EOF:
                ack = AckMessage.FromString(data)
                self._acknowledged(ack.ID, ack.status)
            raise grpc.aio.AioRpcError(
                grpc.StatusCode.UNAVAILABLE, grpc.aio.Metadata(), grpc.aio.Metadata(), "the stream ended"
            )
        finally:
            sending.cancel()
            call.cancel()

    async def _send(self, call: Any) -> None:  # noqa: ANN401 - grpc has no types
        while True:
            name = await self._ready.get()
            if name in self._open:
                await call.write(self._open[name])
