"""Agents that misbehave: raw sockets that answer any request with given bytes."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from typing import Any, Self

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nConnection: close\r\n\r\n"
Talk = Callable[[dict[str, Any]], bytes]


class EvilAgent:
    """Reads one request per connection, sends what it was given, and disconnects."""

    def __init__(self, *talks: Talk) -> None:
        self._talks = list(talks)
        self.requests: list[dict[str, Any]] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._thread.join(5)
        self._listening.close()

    def _serve(self) -> None:
        while True:
            try:
                line, _ = self._listening.accept()
            except OSError:
                return
            with line:
                request = self._read(line)
                self.requests.append(request)
                talk = self._talks[min(len(self.requests), len(self._talks)) - 1]
                try:
                    line.sendall(talk(request))
                except OSError:
                    continue

    @staticmethod
    def _read(visitor: socket.socket) -> dict[str, Any]:
        data = b""
        while b"\r\n\r\n" not in data:
            data += visitor.recv(65_536)
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
