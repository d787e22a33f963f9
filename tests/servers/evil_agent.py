"""Agents that misbehave: raw sockets that answer any request with given bytes."""

from __future__ import annotations

import contextlib
import itertools
import json
import socket
import threading
from collections.abc import Callable, Iterable
from typing import Any, Self

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nConnection: close\r\n\r\n"
Talk = Callable[[dict[str, Any]], bytes | Iterable[bytes]]
"""What is sent in answer to a request: bytes at once, or piece after piece."""
PAUSE_S = 0.05
"""Between two pieces: short beside any limit in a test, so that each piece starts a socket's timer anew."""


class EvilAgent:
    """Reads one request per connection, sends what it was given, and disconnects."""

    def __init__(self, *talks: Talk) -> None:
        self._talks = list(talks)
        self.requests: list[dict[str, Any]] = []
        self.is_closed = threading.Event()
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=100)
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.is_closed.set()
        self._listening.shutdown(socket.SHUT_RDWR)
        self._thread.join(5)
        self._listening.close()

    def _serve(self) -> None:
        while True:
            try:
                line, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._talk, args=(line,), daemon=True).start()

    def _talk(self, line: socket.socket) -> None:
        with line, contextlib.suppress(OSError):
            request = self._read(line)
            self.requests.append(request)
            said = self._talks[min(len(self.requests), len(self._talks)) - 1](request)
            for piece in (said,) if isinstance(said, bytes) else said:
                line.sendall(piece)
                if not isinstance(said, bytes) and self.is_closed.wait(PAUSE_S):
                    return

    @staticmethod
    def _read(visitor: socket.socket) -> dict[str, Any]:
        data = b""
        while b"\r\n\r\n" not in data:
            piece = visitor.recv(65_536)
            if not piece:
                raise ConnectionResetError
            data += piece
        head, _, body = data.partition(b"\r\n\r\n")
        lines = [h for h in head.split(b"\r\n") if h.lower().startswith(b"content-length")]
        size = int(lines[0].split(b":")[1]) if lines else 0
        while len(body) < size:
            body += visitor.recv(65_536)
        content: dict[str, Any] = json.loads(body or b"{}")
        return content


def answer_line(asked: dict[str, Any], **changes: object) -> bytes:
    fields = {
        "version": 1,
        "kind": "answer",
        "order": asked["id"],
        "address": asked["address"],
        "rtt_ms": 0.5,
        "loss": None,
        "rung": "tcp",
        "all_ms": [0.5],
        "timings": None,
        "detail": "",
        "taken_s": 0,
        **changes,
    }
    return json.dumps(fields).encode() + b"\n"


def end_line(request: dict[str, Any]) -> bytes:
    if "orders" not in request:
        return b""
    return json.dumps({"version": 1, "kind": "end", "count": len(request["orders"])}).encode() + b"\n"


def honest(request: dict[str, Any], **changes: object) -> bytes:
    return (
        HEAD
        + b"".join(answer_line(order, **changes) for order in request.get("orders", ()))
        + end_line(request)
    )


def names_seen(request: dict[str, Any], seen: dict[str, str]) -> bytes:
    """Answer a request for names with addresses of one's own choice."""
    lines = [
        {"version": 1, "kind": "name", "name": name, "status": "found", "addresses": [seen[name]]}
        for name in request["names"]
    ]
    end = {"version": 1, "kind": "end", "count": len(lines)}
    return HEAD + b"".join(json.dumps(line).encode() + b"\n" for line in [*lines, end])


# --- agents that answer everything but orders to probe


def stalling(said: Callable[[dict[str, Any]], Iterable[bytes]]) -> Talk:
    """Answer `/health` like an honest agent, and orders as given."""
    return lambda request: said(request) if "orders" in request else honest(request)


def one_byte_at_a_time(data: bytes) -> Iterable[bytes]:
    """Send bytes one by one; then go on with spaces."""
    return itertools.chain((bytes([byte]) for byte in data), itertools.repeat(b" "))


STALLS: dict[str, Talk] = {
    "says nothing": stalling(lambda _: itertools.repeat(b"")),
    "drips a status line": stalling(lambda request: one_byte_at_a_time(honest(request))),
    "drips headers": stalling(
        lambda _: itertools.chain(
            [b"HTTP/1.1 200 OK\r\n"], (b"X-%d: a\r\n" % number for number in itertools.count())
        )
    ),
    "repeats status 103": stalling(lambda _: itertools.repeat(b"HTTP/1.1 103 Early Hints\r\n\r\n")),
    "drips a body": stalling(
        lambda request: itertools.chain([HEAD], one_byte_at_a_time(honest(request)[len(HEAD) :]))
    ),
    "drips an error": stalling(
        lambda _: itertools.chain([b"HTTP/1.1 500 Oops\r\n\r\n"], one_byte_at_a_time(b'{"error": "'))
    ),
    "drips the size of a chunk": stalling(
        lambda _: itertools.chain(
            [HEAD.replace(b"Connection: close", b"Transfer-Encoding: chunked")], itertools.repeat(b"0")
        )
    ),
    "sends headers only": stalling(lambda _: itertools.chain([HEAD], itertools.repeat(b""))),
    "answers one order and stops": stalling(
        lambda request: itertools.chain([HEAD, answer_line(request["orders"][0])], itertools.repeat(b""))
    ),
}
"""Ways to hold a coordinator, by what they do."""
BROKEN: dict[str, Talk] = {
    "an infinite version": stalling(
        lambda _: [b'HTTP/1.1 500 Oops\r\nConnection: close\r\n\r\n{"error":"x","versions":[1e999]}']
    ),
    "a redirect": stalling(lambda _: [b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n"]),
    "a round trip of 1e-300 ms": lambda request: honest(request, rtt_ms=1e-300, all_ms=[1e-300]),
    "a round trip of 1e999 ms": stalling(
        lambda request: [
            HEAD + b'{"version":1,"kind":"answer","order":"a","rtt_ms":1e999}\n' for _ in request
        ]
    ),
}
"""Answers that are wrong at once."""
