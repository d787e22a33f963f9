"""A registry's file server on loopback that can misbehave, one request at a time."""

from __future__ import annotations

import re
import threading
from collections import defaultdict, deque
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Literal, Self
from urllib.parse import urlsplit

from tests.patience import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Callable

MODIFIED = "Mon, 28 Sep 2026 22:11:50 GMT"
PIECE = 1 << 16
"""Bytes that are sent at a time."""
DRIP_S = 0.02
"""Between two bytes of an answer that drips."""


@dataclass(frozen=True, kw_only=True)
class Published:
    """A file as the server has it now."""

    body: bytes
    etag: str | None = None
    last_modified: str | None = MODIFIED


@dataclass(frozen=True, kw_only=True)
class Mood:
    """How the server treats one request; the plain one is honest."""

    status: int | None = None
    """Answer with this status and no body of the file."""
    headers: dict[str, str | None] = field(default_factory=dict)
    """Put these in place of the right ones; None leaves one out."""
    body: bytes | None = None
    """Send this in place of the file."""
    cut_after: int | None = None
    """Close the connection after this many bytes of the body."""
    ignores_range: bool = False
    ignores_conditions: bool = False
    is_chunked: bool = False
    ends_with_connection: bool = False
    """Announce no size at all: the body lasts until the connection is closed."""
    stops_after: int | None = None
    """Send nothing more after this many bytes of the body; at -1 not even the head."""
    drips: Literal["", "headers", "body"] = ""
    """Send this byte by byte, for ever: quicker than any timeout for silence, slower than any download."""
    then: Callable[[], None] = lambda: None
    """Done once the answer is sent."""


HONEST = Mood()


@dataclass(frozen=True, kw_only=True)
class Seen:
    """A request as it came in."""

    path: str
    """With the query."""
    headers: Message


class DumpServer:
    """Serves files from memory and remembers what was asked."""

    def __init__(self) -> None:
        self.files: dict[str, Published] = {}
        self.moods: dict[str, deque[Mood]] = defaultdict(deque)
        """For each path what to do with the next requests; honest once they are used up."""
        self.seen: list[Seen] = []
        self.is_closed = threading.Event()
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.is_closed.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """Address of the root folder, without a slash at the end."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def publish(self, path: str, body: bytes, *, etag: str | None = '"v1"', **more: Any) -> None:
        """Put a file at a path, in place of the one before."""
        self.files[path] = Published(body=body, etag=etag, **more)

    def expect(self, path: str, *moods: Mood) -> None:
        """Decide how the next requests for a path are treated."""
        self.moods[path].extend(moods)

    def asked_for(self, path: str) -> list[Message]:
        """Headers of each request for a path, without regard to its query."""
        return [seen.headers for seen in self.seen if urlsplit(seen.path).path == path]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, dumps: DumpServer) -> None:
        self.dumps = dumps
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, *_: object) -> None:
        """Keep quiet: clients that hang up are part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def log_message(self, *_: object) -> None:
        """Keep quiet."""

    def do_GET(self) -> None:
        dumps = self.server.dumps
        dumps.seen.append(Seen(path=self.path, headers=self.headers))
        path = urlsplit(self.path).path
        moods = dumps.moods[path]
        mood = moods.popleft() if moods else HONEST
        if mood.stops_after == -1:
            self._say_nothing_more()
            return
        published = dumps.files.get(path)
        if mood.status is not None or published is None:
            self._send(mood.status or 404, {"Content-Type": "text/plain"}, mood.body or b"", mood)
        else:
            self._send(*self._answer(published, mood), mood)
        mood.then()

    def _answer(self, published: Published, mood: Mood) -> tuple[int, dict[str, str | None], bytes]:
        """Find status, headers and body as RFC 9110 has them."""
        headers: dict[str, str | None] = {
            "ETag": published.etag,
            "Last-Modified": published.last_modified,
            "Accept-Ranges": "bytes",
            "Content-Type": "application/octet-stream",
        }
        if self._is_unchanged(published) and not mood.ignores_conditions:
            return 304, headers, b""
        body = published.body if mood.body is None else mood.body
        first = self._first_byte(published)
        if first is None or mood.ignores_range:
            return 200, headers, body
        if first >= len(body):
            return 416, headers | {"Content-Range": f"bytes */{len(body)}"}, b""
        content_range = f"bytes {first}-{len(body) - 1}/{len(body)}"
        return 206, headers | {"Content-Range": content_range}, body[first:]

    def _is_unchanged(self, published: Published) -> bool:
        tags = self.headers.get("If-None-Match")
        if tags is not None:
            return tags == published.etag
        since = self.headers.get("If-Modified-Since")
        return since is not None and since == published.last_modified

    def _first_byte(self, published: Published) -> int | None:
        """Read the start of the range that is asked for and still stands."""
        match = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        condition = self.headers.get("If-Range")
        stands = condition is None or condition in (published.etag, published.last_modified)
        return int(match[1]) if match and stands else None

    def _send(self, status: int, headers: dict[str, str | None], body: bytes, mood: Mood) -> None:
        sizes: dict[str, str | None] = {"Content-Length": str(len(body))}
        if mood.is_chunked:
            sizes = {"Transfer-Encoding": "chunked"}
        elif mood.ends_with_connection:
            sizes = {"Connection": "close"}
        elif status == 304:
            sizes = {}
        if mood.drips == "headers":
            self._drip(b"HTTP/1.1 200 OK\r\nX-Long: ")
            return
        self.send_response_only(status)
        for name, value in ({"Date": self.date_time_string()} | headers | sizes | mood.headers).items():
            if value is not None:
                self.send_header(name, value)
        self.end_headers()
        if mood.drips == "body":
            self._drip(b"")
            return
        ends = [end for end in (mood.cut_after, mood.stops_after) if end is not None]
        self._send_body(body[: min(ends, default=len(body))], mood)
        if mood.stops_after is not None:
            self._say_nothing_more()
        if mood.cut_after is not None or mood.ends_with_connection or "Content-Length" in mood.headers:
            self.close_connection = True

    def _drip(self, start: bytes) -> None:
        """Send a byte every few milliseconds until the client or the test has had enough."""
        self.close_connection = True
        self.wfile.write(start)
        while not self.server.dumps.is_closed.wait(DRIP_S):
            self.wfile.write(b"x")

    def _say_nothing_more(self) -> None:
        """Keep the connection open and still."""
        self.close_connection = True
        self.server.dumps.is_closed.wait(PATIENCE_S)

    def _send_body(self, body: bytes, mood: Mood) -> None:
        for start in range(0, len(body), PIECE):
            piece = body[start : start + PIECE]
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece) if mood.is_chunked else piece)
            self.wfile.flush()
        if mood.is_chunked and mood.cut_after is None:
            self.wfile.write(b"0\r\n\r\n")
