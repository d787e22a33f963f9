"""Lines: sockets that do not block, waited on with a deadline, and the moment at which a wait was over.

asyncio's own calls resolve addresses anew, try before they wait, register a socket for each wait and set a
timer for each deadline; with a thousand probes under way each of these shows. Here a loop has one watch for
all its lines: a line is registered once for all waits of a kind in a row, and one timer serves all deadlines.
"""

from __future__ import annotations

import asyncio
import errno
import math
import os
import select
import socket
import time

from ipmicra.errors import IpmicraError

_UNDER_WAY = {errno.EINPROGRESS, errno.EWOULDBLOCK, errno.EINTR}
_READ, _WRITE = getattr(select, "EPOLLIN", 1), getattr(select, "EPOLLOUT", 4)
_ALARM_STEP_S = 0.005
"""Deadlines are looked at this often at most, so one may be late by as much."""


class Line:
    """A socket within the loop that runs; whoever opens one must close it."""

    __slots__ = ("_waiter", "_wanted", "_watch", "deadline_s", "file", "socket")

    def __init__(self, made: socket.socket) -> None:
        """Take over a socket that does not block."""
        self.socket = made
        self.file = made.fileno()
        self.deadline_s = math.inf
        """Until when the present wait may last, by `time.perf_counter`."""
        self._wanted = 0
        self._waiter: asyncio.Future[float] | None = None
        self._watch = _watch()
        self._watch.lines[self.file] = self

    async def connect(self, place: tuple[str, int], deadline_s: float) -> tuple[tuple[str, int], float]:
        """Connect to a literal address; give who is there, and the moment by `time.perf_counter`."""
        code = self.socket.connect_ex(place)
        moment_s = await self.writable(deadline_s) if code in _UNDER_WAY else time.perf_counter()
        try:
            return self.socket.getpeername()[:2], moment_s
        except OSError:
            code = self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) or code
            raise OSError(code, os.strerror(code)) from None

    async def send(self, data: bytes, deadline_s: float) -> None:
        """Send all of it."""
        while data := self.push(data):
            await self.writable(deadline_s)

    async def receive(self, limit: int, deadline_s: float) -> tuple[bytes, float]:
        """Wait for bytes; give them and the moment they were there."""
        while True:
            moment_s = await self.readable(deadline_s)
            data = self.pull(limit)
            if data is not None:
                return data, moment_s

    def push(self, data: bytes) -> bytes:
        """Send what can be sent without waiting; give the rest."""
        try:
            return data[self.socket.send(data) :]
        except (BlockingIOError, InterruptedError):
            return data

    def pull(self, limit: int) -> bytes | None:
        """Take what is there; None if nothing is, after all."""
        try:
            return self.socket.recv(limit)
        except (BlockingIOError, InterruptedError):
            return None

    def readable(self, deadline_s: float) -> asyncio.Future[float]:
        """Give what is done, with the moment, once there is something to read."""
        return self._ready(_READ, deadline_s)

    def writable(self, deadline_s: float) -> asyncio.Future[float]:
        """Give what is done once something can be written, or a connection is there or has failed."""
        return self._ready(_WRITE, deadline_s)

    def close(self) -> None:
        """Hang up; the kernel forgets a closed socket by itself."""
        self._watch.forget(self)
        self.socket.close()

    def _ready(self, wanted: int, deadline_s: float) -> asyncio.Future[float]:
        if wanted != self._wanted:
            self._watch.want(self.file, self._wanted, wanted)
            self._wanted = wanted
        self.deadline_s = deadline_s
        if deadline_s < self._watch.alarm_s:
            self._watch.set_alarm(deadline_s)
        self._waiter = waiter = self._watch.loop.create_future()
        return waiter

    def wake(self, moment_s: float) -> None:
        """End the wait; a line that nobody waits on is not watched on, lest it wake the loop without end."""
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            self.deadline_s = math.inf
            waiter.set_result(moment_s)
        elif waiter is None and self._wanted:
            self._watch.want(self.file, self._wanted, 0)
            self._wanted = 0

    def expire(self) -> None:
        """End the wait without success."""
        waiter, self._waiter, self.deadline_s = self._waiter, None, math.inf
        if waiter is not None and not waiter.done():
            waiter.set_exception(TimeoutError())


class _Watch:
    """Waits for all lines of a loop, from the first that is opened to the last that is closed."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.lines: dict[int, Line] = {}
        self.alarm_s = math.inf
        """When deadlines are looked at next."""
        self._alarm: asyncio.TimerHandle | None = None
        if not hasattr(select, "epoll"):
            raise IpmicraError("probes need Linux (its epoll): run agents there, and ask them from here")
        self._poll = select.epoll()
        loop.add_reader(self._poll.fileno(), self._look)

    def want(self, file: int, before: int, wanted: int) -> None:
        """Watch for something else than before; 0 is nothing."""
        if not before:
            self._poll.register(file, wanted)
        elif wanted:
            self._poll.modify(file, wanted)
        else:
            self._poll.unregister(file)

    def forget(self, line: Line) -> None:
        """Drop a line; the last one takes the watch with it."""
        if self.lines.get(line.file) is line:
            del self.lines[line.file]
            if not self.lines:
                self._end()

    def set_alarm(self, deadline_s: float) -> None:
        """Look at the deadlines when this one is over."""
        if self._alarm is not None:
            self._alarm.cancel()
        self.alarm_s = deadline_s
        delay_s = max(0.0, deadline_s - time.perf_counter())
        self._alarm = self.loop.call_later(delay_s, self._look_at_deadlines)

    def _look(self) -> None:
        events = self._poll.poll(0)
        moment_s = time.perf_counter()
        for file, _ in events:
            line = self.lines.get(file)
            if line is not None:
                line.wake(moment_s)

    def _look_at_deadlines(self) -> None:
        now_s = time.perf_counter()
        self.alarm_s, self._alarm = math.inf, None
        least_s = math.inf
        for line in list(self.lines.values()):
            if line.deadline_s <= now_s:
                line.expire()
            elif line.deadline_s < least_s:
                least_s = line.deadline_s
        if least_s < math.inf:
            self.set_alarm(max(least_s, now_s + _ALARM_STEP_S))

    def _end(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        if not self.loop.is_closed():
            self.loop.remove_reader(self._poll.fileno())
        self._poll.close()
        _WATCHES.pop(self.loop, None)


_WATCHES: dict[asyncio.AbstractEventLoop, _Watch] = {}


def _watch() -> _Watch:
    loop = asyncio.get_running_loop()
    found = _WATCHES.get(loop)
    if found is None:
        found = _WATCHES[loop] = _Watch(loop)
    return found
