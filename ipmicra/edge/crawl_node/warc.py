"""Responses as WARC records, one gzip member each, in files of limited size."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from ipmicra.edge.crawl_node.outputs import Outputs

ENDING = ".warc.gz"
_UNTRUE = frozenset(("transfer-encoding",))
"""Headers that do not hold for the body as it is kept: it is not chunked any more."""

Headers = Iterable[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchanged:
    """A request and its response, as they went over the wire."""

    url: str
    method: str
    target: str
    """Path and query, as in the request line."""
    request_headers: Headers
    status: int
    reason: str
    headers: Headers
    body: bytes
    address: str | None = None
    """Of the server."""
    fetched_s: float
    """Seconds since 1970, UTC."""


class WarcOutput:
    """The WARC files of a node."""

    def __init__(self, outputs: Outputs, prefix: str, most_bytes: int) -> None:
        """Continue the file that was open; names are the prefix with a number."""
        self._outputs, self._prefix, self._most = outputs, prefix, most_bytes
        frontier = outputs.frontier
        self._number = int(frontier.fact("warc_number") or 0)
        open_ones = [name for name in outputs.names() if name.endswith(ENDING)]
        self._name = open_ones[-1] if open_ones else ""

    def write(self, one: Exchanged) -> tuple[str, int]:
        """Append request and response; return the file and where the response begins.

        A response 304 becomes a record of a revisit, as the standard asks for.
        """
        file = self._outputs.file(self._name) if self._name else None
        if file is None or file.length >= self._most:
            file = self._outputs.file(self._next())
        buffer = io.BytesIO()
        writer = WARCWriter(buffer, gzip=True)
        when = datetime.fromtimestamp(one.fetched_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        about = {"WARC-Date": when, **({"WARC-IP-Address": one.address} if one.address else {})}
        headers = [(name, value) for name, value in one.headers if name.lower() not in _UNTRUE]
        http = StatusAndHeaders(f"{one.status} {one.reason}", headers, protocol="HTTP/1.1")
        is_revisit = one.status == 304  # noqa: PLR2004 - not modified
        response = writer.create_warc_record(
            one.url,
            "revisit" if is_revisit else "response",
            payload=io.BytesIO(one.body),
            http_headers=http,
            warc_headers_dict=about | _revisited() if is_revisit else about,
        )
        line = StatusAndHeaders(
            f"{one.method} {one.target} HTTP/1.1", one.request_headers, is_http_request=True
        )
        request = writer.create_warc_record(
            one.url, "request", http_headers=line, warc_headers_dict={"WARC-Date": when}
        )
        writer.write_request_response_pair(request, response)
        return file.name, file.write(buffer.getvalue())

    def _next(self) -> str:
        if self._name:
            self._outputs.complete(self._name)
        self._number += 1
        self._outputs.frontier.keep_fact("warc_number", str(self._number))
        self._name = f"{self._prefix}-{self._number:05}{ENDING}"
        info = io.BytesIO()
        writer = WARCWriter(info, gzip=True)
        facts = {"software": "ipmicra", "format": "WARC File Format 1.0", "robots": "obey"}
        writer.write_record(writer.create_warcinfo_record(self._name, facts))
        self._outputs.file(self._name).write(info.getvalue())
        return self._name


def _revisited() -> dict[str, str]:
    return {"WARC-Profile": "http://netpreserve.org/warc/1.0/revisit/server-not-modified"}
