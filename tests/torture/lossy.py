"""A network that misbehaves on request: wires on loopback that delay, cut, lose and repeat what they carry.

Theory of operation
-------------------
A `Wire` listens on a port of its own and passes every connection on: to one place, or, as an HTTP proxy does,
to where the first request wants to go. All wires share one event loop in a thread; a campaign talks to them
from its own thread.

What a wire does to the bytes of a direction is one of three states: pass them on, hold them, or lose them.
A connection that has lost bytes is broken for good, as in TCP, and is reset when the wire is whole again. New
connections are accepted in any state, and nothing is heard of them while bytes are held or lost: that is what
a partition looks like to whoever connects through a middlebox. (In `namespaces.py` not even that is heard.)

Requests over HTTP are remembered, so that one can be sent a second time on a connection of its own, as a
client or a proxy does that did not hear the answer.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from random import Random
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

T = TypeVar("T")
Place = tuple[str, int] | Path
"""Host and port, or a socket in the file system."""
CHUNK = 1 << 14
RESET = struct.pack("ii", 1, 0)
REMEMBERED = 4


class Passing(Enum):
    """What becomes of the bytes of a direction."""

    PASS = "pass"
    HOLD = "hold"
    LOSE = "lose"


@dataclass(eq=False)
class Connection:
    """A client, the place it talks to, and what is told of it."""

    client: asyncio.StreamWriter
    server: asyncio.StreamWriter | None = None
    has_lost: bool = False
    is_half: bool = False
    """Whether nothing more goes to the server."""

    def reset(self) -> None:
        """Break it off as a network does: without a farewell."""
        for writer in (self.client, self.server):
            if writer is None:
                continue
            raw = writer.get_extra_info("socket")
            with suppress(OSError):
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            writer.transport.abort()

    def half_close(self) -> None:
        """Tell the server that nothing more comes; its answers still pass."""
        if self.server is not None and self.server.can_write_eof():
            with suppress(OSError):
                self.server.write_eof()
            self.is_half = True


class RequestLog:
    """Remembers the last requests of a wire, whole."""

    def __init__(self) -> None:
        self.whole: deque[tuple[Place, bytes]] = deque(maxlen=REMEMBERED)
        self._parts: dict[Connection, bytes] = {}

    def feed(self, connection: Connection, place: Place, data: bytes) -> None:
        """Take bytes of a connection; a request that is complete is remembered."""
        kept = self._parts.get(connection, b"") + data
        while (size := request_size(kept)) is not None and size <= len(kept):
            self.whole.append((place, kept[:size]))
            kept = kept[size:]
        self._parts[connection] = kept

    def forget(self, connection: Connection) -> None:
        self._parts.pop(connection, None)


def request_size(data: bytes) -> int | None:
    """Return the bytes of a request that begins here; None as long as its headers are not there."""
    head, end, _ = data.partition(b"\r\n\r\n")
    if not end:
        return None
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            return len(head) + len(end) + int(value)
    return len(head) + len(end)


@dataclass(eq=False)
class Wire:
    """One port and where it leads; all of it belongs to the thread of its network."""

    name: str
    to: Place | None
    """None for a proxy that is told by each connection's first request."""
    is_http: bool
    rng: Random
    port: int = 0
    there: Passing = Passing.PASS
    """From the client to the server."""
    back: Passing = Passing.PASS
    delay_s: float = 0.0
    """Most that each piece waits."""
    cuts_next: bool = False
    """Whether the next piece is passed on by half, and then nothing more."""
    is_refusing: bool = False
    connections: set[Connection] = field(default_factory=set)
    requests: RequestLog = field(default_factory=RequestLog)
    carried: int = 0
    """Bytes, both ways."""
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def set(self, **state: Any) -> None:
        """Change what happens from now on."""
        for name, value in state.items():
            setattr(self, name, value)
        self._changed.set()
        self._changed = asyncio.Event()

    def heal(self) -> None:
        """Pass everything on again; connections that lost something are reset."""
        for one in list(self.connections):
            if one.has_lost:
                one.reset()
        self.set(there=Passing.PASS, back=Passing.PASS, delay_s=0.0, cuts_next=False, is_refusing=False)

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry a connection until one of its ends closes it."""
        connection = Connection(writer)
        if self.is_refusing:
            connection.reset()
            return
        self.connections.add(connection)
        try:
            await self._carry(connection, reader)
        except (OSError, ValueError):
            pass  # it was reset, or asked for no place
        except asyncio.CancelledError:
            pass  # the network is taken down
        finally:
            self.connections.discard(connection)
            self.requests.forget(connection)
            connection.reset()

    async def _carry(self, connection: Connection, reader: asyncio.StreamReader) -> None:
        while self.there is not Passing.PASS:  # nothing is heard of a connection into a partition
            connection.has_lost = True
            await self._changed.wait()
        first, place = b"", self.to
        if place is None:
            first = await reader.readline()
            wanted = urlsplit(first.split()[1].decode())
            place = (wanted.hostname or "", wanted.port or 80)
        server_reader, server = await (
            asyncio.open_unix_connection(place)
            if isinstance(place, Path)
            else asyncio.open_connection(*place)
        )
        connection.server = server
        await asyncio.gather(
            self._pump(connection, reader, server, lambda: self.there, (place, first)),
            self._pump(connection, server_reader, connection.client, lambda: self.back),
        )

    async def _pump(
        self,
        connection: Connection,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        passing: Callable[[], Passing],
        request: tuple[Place, bytes] | None = None,
    ) -> None:
        """Pass pieces on, one after the other, as the wire's state says."""
        data = request[1] if request else b""
        while data := data or await reader.read(CHUNK):
            if request and self.to is None and not isinstance(request[0], Path):
                data = data.replace(b" http://%s:%d/" % (request[0][0].encode(), request[0][1]), b" /", 1)
            while passing() is Passing.HOLD:
                await self._changed.wait()
            if self.delay_s:
                await asyncio.sleep(self.rng.uniform(0.0, self.delay_s))
            if passing() is Passing.LOSE or (request and connection.is_half):
                connection.has_lost = True
                data = b""
                continue
            if self.cuts_next:
                self.cuts_next = False
                writer.write(data[: len(data) // 2])
                with suppress(OSError):
                    await writer.drain()
                connection.reset()
                return
            self.carried += len(data)
            if request and self.is_http:
                self.requests.feed(connection, request[0], data)
            writer.write(data)
            await writer.drain()
            data = b""
        if writer.can_write_eof() and not writer.transport.is_closing():
            writer.write_eof()

    async def replay(self) -> bool:
        """Send a request that was carried a second time, on a connection of its own; its answer is lost."""
        if not self.requests.whole:
            return False
        place, data = self.rng.choice(list(self.requests.whole))
        try:
            reader, writer = await (
                asyncio.open_unix_connection(place)
                if isinstance(place, Path)
                else asyncio.open_connection(*place)
            )
        except OSError:
            return False
        writer.write(data)
        with suppress(OSError, TimeoutError):
            await writer.drain()
            await asyncio.wait_for(reader.read(CHUNK), 0.3)
        writer.transport.abort()
        return True


class LossyNetwork:
    """All wires of a campaign."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="network", daemon=True)
        self._servers: list[asyncio.Server] = []
        self.wires: dict[str, Wire] = {}

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.run(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do something in the network's thread, and wait for it."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    def add(self, name: str, to: Place | None, *, is_http: bool = True) -> Wire:
        """Make a wire."""
        wire = Wire(name, to, is_http, Random(f"{self._seed} {name}"))
        self.wires[name] = wire

        async def listen() -> None:
            server = await asyncio.start_server(wire.accept, "127.0.0.1", 0)
            wire.port = server.sockets[0].getsockname()[1]
            self._servers.append(server)

        self.run(listen())
        return wire

    def set(self, wire: Wire, **state: Any) -> None:
        async def change() -> None:
            wire.set(**state)

        self.run(change())

    def heal(self, wire: Wire) -> None:
        async def change() -> None:
            wire.heal()

        self.run(change())

    def cut(self, wire: Wire) -> None:
        """Reset all connections."""

        async def change() -> None:
            for one in list(wire.connections):
                one.reset()

        self.run(change())

    def half_close(self, wire: Wire) -> None:
        """Close all connections in one direction."""

        async def change() -> None:
            for one in list(wire.connections):
                one.half_close()

        self.run(change())

    def replay(self, wire: Wire) -> bool:
        return self.run(wire.replay())

    async def _close(self) -> None:
        for server in self._servers:
            server.close()
        for wire in self.wires.values():
            for one in list(wire.connections):
                one.reset()
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
