"""Apply a pace to clients that block: requests, and urllib inside ipwhois.

Theory of operation
-------------------
A thread that waits in `recv` cannot be cancelled, but its socket can be shut down, and then it sees the end
of the stream. `guard` opens a stretch of time; connections of the classes below register their socket with
the guard of their thread as soon as they wait for an answer, and when the time is over all sockets of the
guard are shut down. One daemon thread watches all guards, so a guard costs a lock and an entry in a heap:
cheap enough to put one around every piece of a body.

The client sees the end of the stream, or a complaint of the HTTP library about it; it may even take what came
so far for the whole. So callers ask `Guard.is_over` in any case. Name resolution and TLS handshakes have
limits of their own: the system's resolver gives up by itself, and the timeout of a TLS socket covers the
whole handshake.
"""

from __future__ import annotations

import heapq
import itertools
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from typing import Any
from urllib.request import HTTPHandler, HTTPSHandler, Request

import requests
import urllib3
from requests.adapters import HTTPAdapter


class Guard:
    """Sockets that are shut down when the time is over."""

    def __init__(self) -> None:
        """Guard nothing yet."""
        self._sockets: list[socket.socket] = []
        self._lock = threading.Lock()
        self._is_ended = False
        self.is_over = False
        """Whether the time was over before the work was done."""

    def watch(self, watched: socket.socket) -> None:
        """Watch one more socket; if the time is over, shut it down immediately."""
        with self._lock:
            self._sockets.append(watched)
        if self.is_over:
            self.expire()

    def end(self) -> None:
        """Leave the sockets alone from now on."""
        with self._lock:
            self._is_ended = True
            self._sockets.clear()

    def expire(self) -> None:
        """Shut the sockets down, unless the work is done."""
        with self._lock:
            if self._is_ended:
                return
            self.is_over = True
            for one in self._sockets:
                with suppress(OSError):
                    # The plain socket's method: that of a TLS socket would take TLS away from its reader.
                    socket.socket.shutdown(one, socket.SHUT_RDWR)


class _Watcher:
    """The thread that ends guards whose time is over; started with the first one."""

    def __init__(self) -> None:
        self._due: list[tuple[float, int, Guard]] = []
        self._numbers = itertools.count()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def add(self, guard: Guard, seconds: float) -> None:
        due_s = time.monotonic() + seconds
        with self._changed:
            heapq.heappush(self._due, (due_s, next(self._numbers), guard))
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="pace", daemon=True)
                self._thread.start()
            elif self._due[0][2] is guard:
                self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._due or self._due[0][0] > time.monotonic():
                    self._changed.wait(self._due[0][0] - time.monotonic() if self._due else None)
                _, _, guard = heapq.heappop(self._due)
            guard.expire()


_watcher = _Watcher()
_current: ContextVar[Guard | None] = ContextVar("guard", default=None)


@contextmanager
def guard(seconds: float, *sockets: socket.socket) -> Iterator[Guard]:
    """Shut down the sockets of this block, those given and those it opens, unless it ends in time."""
    made = Guard()
    for one in sockets:
        made.watch(one)
    before = _current.set(made)
    _watcher.add(made, seconds)
    try:
        yield made
    finally:
        made.end()
        _current.reset(before)


class _Guarded:
    """A connection that registers its socket before it waits for an answer."""

    sock: Any

    def getresponse(self) -> Any:  # noqa: ANN401 - two libraries, two classes
        """Wait for the headers of an answer, which keeps the socket it is read from."""
        watched, current = self.sock, _current.get()
        if current is not None:
            current.watch(watched)
        response = super().getresponse()  # type: ignore[misc]
        response.guarded_socket = watched
        return response


def sockets_of(answer: requests.Response) -> tuple[socket.socket, ...]:
    """Return what the body of an answer is read from; nothing unless its session is a guarded one."""
    found = getattr(answer.raw, "guarded_socket", None)
    return () if found is None else (found,)


# --- requests


class _Http(_Guarded, urllib3.connection.HTTPConnection):
    pass


class _Https(_Guarded, urllib3.connection.HTTPSConnection):
    pass


class _HttpPool(urllib3.HTTPConnectionPool):
    ConnectionCls = _Http


class _HttpsPool(urllib3.HTTPSConnectionPool):
    ConnectionCls = _Https


_POOLS = {"http": _HttpPool, "https": _HttpsPool}


class _Adapter(HTTPAdapter):
    def init_poolmanager(self, *args: Any, **more: Any) -> None:  # noqa: ANN401 - the library's own
        super().init_poolmanager(*args, **more)
        self.poolmanager.pool_classes_by_scheme = _POOLS

    def proxy_manager_for(self, *args: Any, **more: Any) -> Any:  # noqa: ANN401 - the library's own
        manager = super().proxy_manager_for(*args, **more)
        manager.pool_classes_by_scheme = _POOLS
        return manager


def guarded_session() -> requests.Session:
    """Make a session whose connections can be guarded."""
    session = requests.Session()
    for scheme in ("http://", "https://"):
        session.mount(scheme, _Adapter())
    return session


# --- urllib


class BoundedResponse(HTTPResponse):
    """A response that is never read beyond a size."""

    max_bytes: int | None = None

    def read(self, amt: int | None = None) -> bytes:
        """Read as much as is asked for, but no more than the limit allows."""
        return super().read(self.max_bytes if amt is None else amt)


class _PlainHttp(_Guarded, HTTPConnection):
    response_class = BoundedResponse


class _PlainHttps(_Guarded, HTTPSConnection):
    response_class = BoundedResponse


class GuardedHttpHandler(HTTPHandler):
    """Open http URLs over connections that can be guarded."""

    def http_open(self, request: Request) -> HTTPResponse:
        """Send a request."""
        return self.do_open(_PlainHttp, request)


class GuardedHttpsHandler(HTTPSHandler):
    """Open https URLs over connections that can be guarded."""

    def https_open(self, request: Request) -> HTTPResponse:
        """Send a request."""
        return self.do_open(_PlainHttps, request, context=self._context)  # type: ignore[attr-defined]
