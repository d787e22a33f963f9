"""Serve the sites of a loopback world: each answers after the round trip of the crawler that asks."""

from __future__ import annotations

import asyncio
import errno
import random
import socket
from collections.abc import Iterable
from contextlib import ExitStack
from ipaddress import IPv4Address, ip_address
from pathlib import Path
from typing import cast

from ipmicra.edge.loopback.loopback_world import Fault, LoopbackWorld
from ipmicra.edge.loopback.web_server import WebConnection, WebServer
from ipmicra.model.address import Address

_OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"
_ELSEWHERE = b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/again\r\nContent-Length: 0\r\n"
_PAGE = b"<p>A page</p>"
_END = b"\r\n\r\n"
_LONGEST = 65_536
_BACKLOG = 512
_TRIES = 100
"""Ports to try: one of the addresses may be in use on any of them."""


class SiteServers:
    """All servers of a world, in one event loop and on one port."""

    def __init__(self, world: LoopbackWorld, log: Path | None = None) -> None:
        """Prepare; `open` binds a port, `start` serves; the log gets the pages that are served."""
        self._world = world
        self._log = log
        self.web: WebServer | None = None
        """Serves the pages of a world that has some, once the sites are open."""
        self._held: dict[Address, socket.socket] = {}
        self.port = 0
        """Of all sites, once they are open."""
        self._names = {address: name for name, address in world.sources().items()}
        self._random = random.Random(world.seed)  # noqa: S311 - no secrets, and the same each time
        self._servers: list[asyncio.Server] = []
        self.visits: set[asyncio.Transport] = set()
        """Connections that are open."""
        self.requests: dict[Address, int] = {}
        """Requests that reached each address."""

    def open(self) -> None:
        """Bind one port on the loopback addresses of all sites."""
        places = self._world.addresses()
        self.port, held = _one_port(places.values())
        self._held = dict(zip(places, held, strict=True))
        if self._world.web is not None:
            self.web = WebServer(self._world.web, self.port, self._log)

    async def start(self) -> None:
        """Listen at each site; those that refuse connections keep their port bound."""
        loop = asyncio.get_running_loop()
        for address, held in self._held.items():
            if self._world.faults.get(address) is not Fault.REFUSES:
                self._servers.append(
                    await loop.create_server(
                        lambda a=address: _Visit(self, a),  # type: ignore[misc]
                        sock=held,
                        backlog=_BACKLOG,
                    )
                )

    def close(self) -> None:
        """Stop listening and close all connections."""
        for server in self._servers:
            server.close()
        for visit in self.visits:
            visit.abort()
        for held in self._held.values():
            held.close()
        if self.web is not None:
            self.web.close()

    def reaction(self, address: Address, source: IPv4Address, request: bytes) -> tuple[float, bytes] | None:
        """Return the seconds until an answer, and the answer; b"" to disconnect, None to stay silent."""
        count = self.requests[address] = self.requests.get(address, 0) + 1
        rtt_ms = self._world.rtt_ms.get((self._names.get(source, ""), address))
        fault = self._world.faults.get(address)
        if rtt_ms is None or fault is Fault.SILENT or (fault is Fault.FLAPS and count % 2 == 0):
            return None
        if fault is Fault.LOSES and self._random.random() < self._world.loss:
            return None
        thinking_ms = self._world.slow_ms if fault in {Fault.SLOW, Fault.SLOW_DECLARED} else 0.0
        return (rtt_ms + thinking_ms) / 1e3, self._answer(fault, request)

    def web_connection(
        self, address: Address, source: IPv4Address, transport: asyncio.Transport
    ) -> WebConnection | None:
        """Return what serves pages to a visitor; None if this site has no pages, or none for this visitor."""
        crawler = self._names.get(source, "")
        rtt_ms = self._world.rtt_ms.get((crawler, address))
        if self.web is None or rtt_ms is None or address in self._world.faults:
            return None
        return WebConnection(self.web, transport, crawler, rtt_ms)

    def page_s(self, address: Address, source: IPv4Address, request: bytes) -> float:
        """Return how long the page takes after its first byte; 0 for requests of less than all of it."""
        if not request.startswith(b"GET") or b"Range:" in request:
            return 0.0
        return self._world.page_ms.get((self._names.get(source, ""), address), 0.0) / 1e3

    def _answer(self, fault: Fault | None, request: bytes) -> bytes:
        if fault is Fault.NO_HEAD and request.startswith(b"HEAD"):
            return b""
        if fault is Fault.GARBAGE:
            return b"220 mail.example ESMTP ready, this is no web server\r\n"
        if fault is Fault.REDIRECTS:
            return _ELSEWHERE + b"\r\n"
        if fault is Fault.SLOW_DECLARED:
            return _OK + f"Server-Timing: app;dur={self._world.slow_ms:g}\r\n\r\n".encode()
        return b"" if fault is Fault.HANGS_UP else _OK + b"\r\n"


def _one_port(places: Iterable[IPv4Address]) -> tuple[int, list[socket.socket]]:
    """Bind sockets to one port that is free on all places."""
    for left in reversed(range(_TRIES)):
        with ExitStack() as opened:
            held: list[socket.socket] = []
            port = 0
            try:
                for place in places:
                    one = opened.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM))
                    one.bind((str(place), port))
                    port = one.getsockname()[1]
                    held.append(one)
            except OSError as error:
                if error.errno != errno.EADDRINUSE or not left:
                    raise
                continue
            opened.pop_all()
            return port, held
    raise AssertionError


class _Visit(asyncio.Protocol):
    """One connection."""

    def __init__(self, servers: SiteServers, address: Address) -> None:
        self._servers = servers
        self._address = address
        self._transport: asyncio.Transport | None = None
        self._source = IPv4Address(0)
        self._data = b""
        self._web: WebConnection | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._servers.visits.add(self._transport)
        self._source = ip_address(transport.get_extra_info("peername")[0])  # type: ignore[assignment]
        self._web = self._servers.web_connection(self._address, self._source, self._transport)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - however it ended
        if self._transport is not None:
            self._servers.visits.discard(self._transport)

    def data_received(self, data: bytes) -> None:
        self._data += data
        if len(self._data) > _LONGEST and self._transport is not None:
            self._transport.abort()
        while _END in self._data:
            request, self._data = self._data.split(_END, 1)
            if self._web is not None and request.startswith(b"GET /") and b"Range:" not in request:
                self._web.serve(request)
                continue
            reaction = self._servers.reaction(self._address, self._source, request)
            if reaction is None:
                continue
            after_s, answer = reaction
            page_s = self._servers.page_s(self._address, self._source, request)
            loop = asyncio.get_running_loop()
            if page_s:
                answer = answer.replace(b"Content-Length: 0", b"Content-Length: %d" % len(_PAGE))
                loop.call_later(after_s + page_s, self._send, _PAGE)
            loop.call_later(after_s, self._send, answer)

    def _send(self, answer: bytes) -> None:
        if self._transport is None or self._transport.is_closing():
            return
        if answer:
            self._transport.write(answer)
        else:
            self._transport.close()
