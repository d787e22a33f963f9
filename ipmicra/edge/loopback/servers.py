"""The sites of a loopback world: HTTP servers that answer after as long as the asking crawler is far."""

from __future__ import annotations

import asyncio
import random
import socket
from ipaddress import IPv4Address, ip_address

from ipmicra.edge.loopback.world import Address, Fault, LoopbackWorld

_OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"
_ELSEWHERE = b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/again\r\nContent-Length: 0\r\n"
_END = b"\r\n\r\n"
_LONGEST = 65_536


class SiteServers:
    """All servers of a world, in one event loop and on one port."""

    def __init__(self, world: LoopbackWorld, port: int) -> None:
        """Prepare; `start` opens the sockets."""
        self._world = world
        self._port = port
        self._names = {address: name for name, address in world.sources().items()}
        self._random = random.Random(world.seed)  # noqa: S311 - no secrets, and the same each time
        self._servers: list[asyncio.Server] = []
        self.requests: dict[Address, int] = {}
        """Requests that reached each address."""

    async def start(self) -> None:
        """Listen on the loopback address of each site."""
        loop = asyncio.get_running_loop()
        for address, place in self._world.addresses().items():
            if self._world.faults.get(address) is Fault.REFUSES:
                continue
            listening = socket.create_server((str(place), self._port), backlog=512)
            self._servers.append(
                await loop.create_server(lambda a=address: _Visit(self, a), sock=listening)  # type: ignore[misc]
            )

    def close(self) -> None:
        """Stop listening."""
        for server in self._servers:
            server.close()

    def reaction(self, address: Address, source: IPv4Address, request: bytes) -> tuple[float, bytes] | None:
        """Say after how many seconds what is answered; None if nothing ever is, b"" to hang up."""
        count = self.requests[address] = self.requests.get(address, 0) + 1
        rtt_ms = self._world.rtt_ms.get((self._names.get(source, ""), address))
        fault = self._world.faults.get(address)
        if rtt_ms is None or fault is Fault.SILENT or (fault is Fault.FLAPS and count % 2 == 0):
            return None
        if fault is Fault.LOSES and self._random.random() < self._world.loss:
            return None
        thinking_ms = self._world.slow_ms if fault in {Fault.SLOW, Fault.SLOW_TOLD} else 0.0
        return (rtt_ms + thinking_ms) / 1e3, self._answer(fault, request)

    def _answer(self, fault: Fault | None, request: bytes) -> bytes:
        if fault is Fault.NO_HEAD and request.startswith(b"HEAD"):
            return b""
        if fault is Fault.GARBAGE:
            return b"220 mail.example ESMTP ready, this is no web server\r\n"
        if fault is Fault.REDIRECTS:
            return _ELSEWHERE + b"\r\n"
        if fault is Fault.SLOW_TOLD:
            return _OK + f"Server-Timing: app;dur={self._world.slow_ms:g}\r\n\r\n".encode()
        return b"" if fault is Fault.HANGS_UP else _OK + b"\r\n"


class _Visit(asyncio.Protocol):
    """One connection."""

    def __init__(self, servers: SiteServers, address: Address) -> None:
        self._servers = servers
        self._address = address
        self._transport: asyncio.Transport | None = None
        self._source = IPv4Address(0)
        self._data = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]
        self._source = ip_address(transport.get_extra_info("peername")[0])  # type: ignore[assignment]

    def data_received(self, data: bytes) -> None:
        self._data += data
        if len(self._data) > _LONGEST and self._transport is not None:
            self._transport.abort()
        while _END in self._data:
            request, self._data = self._data.split(_END, 1)
            reaction = self._servers.reaction(self._address, self._source, request)
            if reaction is not None:
                asyncio.get_running_loop().call_later(reaction[0], self._send, reaction[1])

    def _send(self, answer: bytes) -> None:
        if self._transport is None or self._transport.is_closing():
            return
        if answer:
            self._transport.write(answer)
        else:
            self._transport.close()
