"""Timed sockets over real ones: deadlines, disconnecting, and nothing left behind."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Awaitable, Callable

import pytest

from ipmicra.edge.prober.sockets import POLLERS, TimedSocket


def with_pair(run: Callable[[TimedSocket, socket.socket], Awaitable[None]]) -> None:
    """Run with a timed socket and the socket at its other end."""

    async def main() -> None:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        timed = TimedSocket(ours)
        try:
            await run(timed, theirs)
        finally:
            timed.close()
            theirs.close()

    asyncio.run(main())


def soon(seconds: float) -> float:
    return time.perf_counter() + seconds


def test_bytes_come_with_the_moment_they_were_there() -> None:
    async def run(timed: TimedSocket, theirs: socket.socket) -> None:
        before = time.perf_counter()
        asyncio.get_running_loop().call_later(0.05, theirs.send, b"here")
        data, moment_s = await timed.receive(100, soon(60))
        assert data == b"here"
        assert before + 0.05 <= moment_s <= time.perf_counter()

    with_pair(run)


def test_wait_ends_at_its_deadline_and_the_socket_stays_usable() -> None:
    async def run(timed: TimedSocket, theirs: socket.socket) -> None:
        deadline_s = soon(0.03)
        with pytest.raises(TimeoutError):
            await timed.receive(100, deadline_s)
        assert time.perf_counter() >= deadline_s
        theirs.send(b"late")
        assert (await timed.receive(100, soon(60)))[0] == b"late"

    with_pair(run)


def test_short_deadline_is_kept_beside_a_long_one() -> None:
    async def run(timed: TimedSocket, theirs: socket.socket) -> None:
        theirs.setblocking(False)
        other = TimedSocket(theirs)
        patient = asyncio.create_task(timed.receive(100, soon(60)))
        await asyncio.sleep(0)
        with pytest.raises(TimeoutError):
            await other.receive(100, soon(0.02))
        assert not patient.done()
        await other.send(b"at last", soon(60))
        assert (await patient)[0] == b"at last"
        other.close()

    with_pair(run)


def test_data_beyond_the_buffer_is_written_to_the_end() -> None:
    async def run(timed: TimedSocket, theirs: socket.socket) -> None:
        data = bytes(3_000_000)
        reading = asyncio.get_running_loop().run_in_executor(None, received, theirs, len(data))
        await timed.send(data, soon(60))
        assert await reading == len(data)

    with_pair(run)


def received(theirs: socket.socket, count: int) -> int:
    """Read until a number of bytes has arrived."""
    got = 0
    while got < count:
        got += len(theirs.recv(1 << 20))
    return got


def test_socket_that_nobody_waits_on_does_not_keep_the_loop_busy() -> None:
    async def run(timed: TimedSocket, theirs: socket.socket) -> None:
        theirs.send(b"first")
        await timed.receive(100, soon(60))
        theirs.send(b"nobody asked")
        before = time.process_time()
        await asyncio.sleep(0.3)
        assert time.process_time() - before < 0.15
        assert (await timed.receive(100, soon(60)))[0] == b"nobody asked"

    with_pair(run)


def test_cancelled_wait_leaves_a_usable_socket() -> None:
    async def run(timed: TimedSocket, theirs: socket.socket) -> None:
        task = asyncio.create_task(timed.receive(100, soon(60)))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        theirs.send(b"still there")
        assert (await timed.receive(100, soon(60)))[0] == b"still there"

    with_pair(run)


def test_refused_connection_is_reported_as_such() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        place = closed.getsockname()

    async def main() -> None:
        timed = TimedSocket(socket.socket(type=socket.SOCK_STREAM | socket.SOCK_NONBLOCK))
        try:
            with pytest.raises(ConnectionRefusedError):
                await timed.connect(place, soon(60))
        finally:
            timed.close()

    asyncio.run(main())


def test_poller_ends_with_its_last_socket() -> None:
    async def run(_line: TimedSocket, _theirs: socket.socket) -> None:
        assert len(POLLERS) == 1

    with_pair(run)
    assert not POLLERS
