"""A registry that answers RDAP on loopback."""

from __future__ import annotations

import contextlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase
from typing import Any, Literal, Self


class RdapServer:
    """Answers `/ip/ADDRESS` from a table; anything else is not found."""

    def __init__(self, answers: dict[str, dict[str, Any]]) -> None:
        self.asked: list[str] = []
        self.refusals: list[tuple[int, dict[str, str]]] = []
        """Statuses and headers of the next answers, in place of the good ones."""
        self.drips: Literal["", "headers", "body"] = ""
        """Send this byte by byte, for ever."""
        self.is_closed = threading.Event()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                address = self.path.rsplit("/", 1)[-1]
                server.asked.append(address)
                answer = answers.get(address)
                headers: dict[str, str] = {}
                status = 200 if answer else 404
                if server.refusals:
                    status, headers = server.refusals.pop(0)
                body = json.dumps(answer or {"errorCode": status}).encode()
                if server.drips:
                    server.drip(self.wfile)
                    return
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Type", "application/rdap+json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def drip(self, to: BufferedIOBase) -> None:
        body = b"Content-Type: application/rdap+json\r\n\r\n" if self.drips == "body" else b""
        to.write(b"HTTP/1.1 200 OK\r\n" + (body or b"X-Long: "))
        with contextlib.suppress(OSError):
            while not self.is_closed.wait(0.02):
                to.write(b" ")

    def __exit__(self, *_: object) -> None:
        self.is_closed.set()
        self._server.shutdown()
        self._thread.join(5)
        self._server.server_close()


def network(first: str, last: str, **more: object) -> dict[str, Any]:
    return {
        "objectClassName": "ip network",
        "handle": "NET-1",
        "startAddress": first,
        "endAddress": last,
        "ipVersion": "v4",
        "name": "EXAMPLE",
        "type": "ASSIGNED PA",
        "country": "GR",
        "links": [],
        "entities": [],
        **more,
    }
