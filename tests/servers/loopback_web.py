"""A small web on loopback: any number of hosts behind one port, as an HTTP proxy, with a log of visits.

A node reaches it through `http_proxy`, so that hosts may have any name and no resolver is needed. Who visits
is told by the User-Agent.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True, kw_only=True)
class Page:
    """What a URL answers."""

    links: tuple[str, ...] = ()
    status: int = 200
    location: str | None = None
    text: str | None = None
    """Sent instead of a page of links."""
    wait_s: float = 0.0
    drip_s: float = 0.0
    """Pause after each byte."""
    is_gone: bool = False
    """Whether the connection is closed without an answer."""


@dataclass(frozen=True, kw_only=True)
class Visit:
    """One request."""

    at_s: float
    who: str
    host: str
    path: str

    @property
    def url(self) -> str:
        return f"http://{self.host}{self.path}"


Web = Callable[[str, str], Page | None]
"""Returns the page of a host and a path; None where there is none."""


@dataclass
class LoopbackWeb:
    port: int
    visits: list[Visit] = field(default_factory=list)
    connections: int = 0
    """Of anybody, whatever came of them."""

    @property
    def environment(self) -> dict[str, str]:
        return {"http_proxy": f"http://127.0.0.1:{self.port}", "no_proxy": "127.0.0.1,localhost"}

    def urls(self, who: str | None = None, *, robots: bool = False) -> list[str]:
        """Return the URLs that were visited, in order."""
        return [
            visit.url
            for visit in self.visits
            if who in {None, visit.who} and (robots or visit.path != "/robots.txt")
        ]

    def hosts(self, who: str) -> set[str]:
        return {visit.host for visit in self.visits if visit.who == who}


@contextmanager
def loopback_web(web: Web, address: str = "127.0.0.1") -> Iterator[LoopbackWeb]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            host = parts.netloc or self.headers.get("Host", "")
            path = parts.path + (f"?{parts.query}" if parts.query else "")
            who = self.headers.get("User-Agent", "")
            site.visits.append(Visit(at_s=time.monotonic(), who=who, host=host, path=path))
            self._answer(web(host, path) or Page(status=404))

        def _answer(self, page: Page) -> None:
            time.sleep(page.wait_s)
            if page.is_gone:
                self.close_connection = True
                return
            html = "".join(f'<a href="{link}">x</a>\n' for link in page.links)
            body = (page.text if page.text is not None else f"<html><body>{html}</body></html>").encode()
            self.send_response(page.status)
            kind = "text/plain" if page.text is not None else "text/html"
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            if page.location:
                self.send_header("Location", page.location)
            self.end_headers()
            pieces = [body] if not page.drip_s else [body[i : i + 1] for i in range(len(body))]
            try:
                for piece in pieces:
                    self.wfile.write(piece)
                    time.sleep(page.drip_s)
            except OSError:
                self.close_connection = True

        def log_message(self, *_args: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128

        def verify_request(self, *_args: Any) -> bool:
            site.connections += 1
            return True

        def handle_error(self, *_args: Any) -> None:
            """Say nothing of visitors that were killed."""

    with Server((address, 0), Handler) as server:
        site = LoopbackWeb(port=server.server_address[1])
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield site
        finally:
            server.shutdown()
            thread.join()
