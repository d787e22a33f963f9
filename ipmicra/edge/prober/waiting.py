"""Waiting on sockets that do not block, with a deadline, and the moment at which the wait was over.

asyncio's own calls resolve addresses anew, try before they wait, and tell the time only when their caller
gets its turn; with a thousand probes under way each of these shows.
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import time

_UNDER_WAY = {errno.EINPROGRESS, errno.EWOULDBLOCK, errno.EINTR}


async def connect(made: socket.socket, place: tuple[str, int], deadline_s: float) -> float:
    """Connect to a literal address; give the moment it was done, by `time.perf_counter`."""
    code = made.connect_ex(place)
    if code in _UNDER_WAY:
        moment_s = await writable(made, deadline_s)
        code = made.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    else:
        moment_s = time.perf_counter()
    if code:
        raise OSError(code, os.strerror(code))
    return moment_s


async def send(made: socket.socket, data: bytes, deadline_s: float) -> None:
    """Send all of it."""
    while data:
        try:
            data = data[made.send(data) :]
        except (BlockingIOError, InterruptedError):
            await writable(made, deadline_s)


async def receive(made: socket.socket, limit: int, deadline_s: float) -> tuple[bytes, float]:
    """Wait for bytes; give them and the moment they were there."""
    while True:
        moment_s = await readable(made, deadline_s)
        try:
            return made.recv(limit), moment_s
        except (BlockingIOError, InterruptedError):
            continue


async def readable(made: socket.socket, deadline_s: float) -> float:
    """Wait until there is something to read."""
    loop, file = asyncio.get_running_loop(), made.fileno()
    future: asyncio.Future[float] = loop.create_future()
    loop.add_reader(file, _wake, future)
    try:
        return await _before(future, loop, deadline_s)
    finally:
        loop.remove_reader(file)


async def writable(made: socket.socket, deadline_s: float) -> float:
    """Wait until something can be written, or a connection is there or has failed."""
    loop, file = asyncio.get_running_loop(), made.fileno()
    future: asyncio.Future[float] = loop.create_future()
    loop.add_writer(file, _wake, future)
    try:
        return await _before(future, loop, deadline_s)
    finally:
        loop.remove_writer(file)


async def _before(future: asyncio.Future[float], loop: asyncio.AbstractEventLoop, deadline_s: float) -> float:
    alarm = loop.call_later(max(0.0, deadline_s - time.perf_counter()), _expire, future)
    try:
        return await future
    finally:
        alarm.cancel()


def _wake(future: asyncio.Future[float]) -> None:
    if not future.done():
        future.set_result(time.perf_counter())


def _expire(future: asyncio.Future[float]) -> None:
    if not future.done():
        future.set_exception(TimeoutError())
