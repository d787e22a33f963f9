"""Serve the pages of a loopback web with the time that they would take, and record who asked for what.

The kernel completes handshakes on loopback at once, so the first answer of a connection waits for two round
trips, later ones for one. Then come the server's wait and the bytes at the line's rate: a page that has a
connection of its own takes 2·RTT + wait + bytes/rate, and its status line arrives before the last term.
"""

from __future__ import annotations

import asyncio
import csv
import time
from collections import Counter
from http import HTTPStatus
from pathlib import Path
from typing import NamedTuple, TextIO

from ipmicra.edge.loopback.web_pages import WebAnswer, WebPages
from ipmicra.edge.loopback.web_plan import WebPlan

LINGER_S = 0.05
"""How long a connection stays open after an answer without body."""


class Hit(NamedTuple):
    """A request that was answered."""

    began_s: float
    """When the request arrived; seconds since 1970, UTC."""
    ended_s: float
    """When the last byte was sent."""
    crawler: str
    host: str
    path: str
    status: int
    size: int
    """Bytes of the body."""
    connections: int
    """Requests of this crawler that were being answered when it arrived, this one included."""


class WebServer:
    """The servers of all sites."""

    def __init__(self, plan: WebPlan, port: int, log: Path | None = None) -> None:
        """Serve a plan; a log gets a line of CSV for each answer."""
        self.pages = WebPages(plan, port)
        self.plan = plan
        self.hits: list[Hit] = []
        self.busy: Counter[str] = Counter()
        """Requests being answered, by crawler."""
        self._log: TextIO | None = log.open("w", encoding="utf-8", buffering=1) if log else None

    def record(self, hit: Hit) -> None:
        """Keep an answer in mind, or in the log if there is one."""
        if self._log is None:
            self.hits.append(hit)
        elif not self._log.closed:
            csv.writer(self._log).writerow(hit)

    def close(self) -> None:
        """Close the log."""
        if self._log is not None:
            self._log.close()


class WebConnection:
    """The requests of one connection, answered in order."""

    def __init__(self, server: WebServer, transport: asyncio.Transport, crawler: str, rtt_ms: float) -> None:
        """Know how far the crawler is."""
        self._server, self._transport, self._crawler = server, transport, crawler
        self._rtt_s = rtt_ms / 1e3
        self._answered = 0
        self._free_s = 0.0

    def serve(self, request: bytes) -> None:
        """Answer a GET when its time has come."""
        lines = request.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        path = lines[0].split(" ")[1]
        host = headers.get("host", "").partition(":")[0]
        answer = self._server.pages.answer(host, path, headers)
        self._answered += 1
        loop, plan = asyncio.get_running_loop(), self._server.plan
        trips = 2 if self._answered == 1 else 1
        first_s = max(loop.time(), self._free_s) + trips * self._rtt_s + plan.wait_ms / 1e3
        line_s = len(answer.body) * 8 / plan.line_bps if answer.has_line else 0.0
        self._free_s = first_s + line_s
        closes = self._answered == plan.pages_per_connection
        self._server.busy[self._crawler] += 1
        hit = Hit(
            time.time(),
            0.0,
            self._crawler,
            host,
            path,
            answer.status,
            len(answer.body),
            self._server.busy[self._crawler],
        )
        loop.call_at(first_s, self._write, _head(answer, closes=closes))
        loop.call_at(self._free_s, self._finish, answer, hit, closes)

    def _write(self, data: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(data)

    def _finish(self, answer: WebAnswer, hit: Hit, closes: bool) -> None:  # noqa: FBT001 - as the loop calls it
        self._server.busy[self._crawler] -= 1
        self._server.record(hit._replace(ended_s=time.time()))
        if answer.drips:
            self._drip()
            return
        self._write(answer.body)
        if closes and answer.body:
            self._transport.close()
        elif closes:
            # Twisted takes an answer without body that ends together with its connection for a lost one.
            asyncio.get_running_loop().call_later(LINGER_S, self._transport.close)

    def _drip(self) -> None:
        if not self._transport.is_closing():
            self._transport.write(b"1\r\n.\r\n")
            asyncio.get_running_loop().call_later(1.0, self._drip)


def _head(answer: WebAnswer, *, closes: bool) -> bytes:
    """Write the status line and headers."""
    size = ("Transfer-Encoding", "chunked") if answer.drips else ("Content-Length", str(len(answer.body)))
    ends = (("Connection", "close"),) if closes else ()
    lines = [f"{name}: {value}\r\n" for name, value in (*answer.headers, size, *ends)]
    status = HTTPStatus(answer.status)
    return f"HTTP/1.1 {status.value} {status.phrase}\r\n{''.join(lines)}\r\n".encode()


def read_hits(path: Path, offset: int = 0) -> list[Hit]:
    """Read a log from a byte on; a line that is still being written is left out."""
    with path.open("rb") as file:
        file.seek(offset)
        whole = file.read().rpartition(b"\n")[0].decode()
    return [
        Hit(float(row[0]), float(row[1]), row[2], row[3], row[4], int(row[5]), int(row[6]), int(row[7]))
        for row in csv.reader(whole.splitlines())
    ]
