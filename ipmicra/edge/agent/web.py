"""Serve the agent's HTTP interface: `/probe`, `/resolve`, `/health`, `/metrics`; none without the token.

Every request passes `_Gate` before anything else looks at it: first the length of its headers, then its
token. What is refused there costs a few microseconds, is counted, and closes the connection, so that nobody
without the token can make the agent read a body, open a socket or write more than a debug line. A request
with the token tells the connection limiter so; its body must then arrive within a time and a size before it
is decoded.
"""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ipmicra.edge.agent.names import NameService
from ipmicra.edge.agent.service import ProbeService
from ipmicra.edge.agent.target_log import TargetLog
from ipmicra.edge.log import EventLog
from ipmicra.edge.web.bodies import BodyError, head_bytes, read_body
from ipmicra.edge.web.connection_limits import AUTHENTICATED
from ipmicra.errors import MessageError, UnknownVersionError
from ipmicra.model.name import NameStatus
from ipmicra.wire.limits import LIMITS, VERSIONS, WireLimits
from ipmicra.wire.messages import (
    Answer,
    End,
    ErrorMessage,
    ProbeRequest,
    decode_request,
    encode_answer,
    encode_end,
    encode_error,
)
from ipmicra.wire.names import NamesRequest, decode_names, encode_name

OK, BAD_REQUEST, UNAUTHORISED, UNPROCESSABLE, BUSY = 200, 400, 401, 422, 503
LONG_HEADERS, NOT_DONE_HERE = 431, 501
BUCKETS_S = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
"""Bounds of the histogram of round trips."""
events = EventLog("agent")
T = TypeVar("T")


class AgentMetrics:
    """Counters for Prometheus: requests, answers, dropped connections; each agent has its own registry."""

    def __init__(self) -> None:
        """Start at zero."""
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "ipmicra_agent_requests", "Requests by status.", ["status"], registry=self.registry
        )
        self.answers = Counter(
            "ipmicra_agent_answers", "Answers by rung or loss.", ["outcome"], registry=self.registry
        )
        self.dropped = Counter(
            "ipmicra_agent_dropped_connections",
            "Connections that were too slow or too many.",
            ["reason"],
            registry=self.registry,
        )
        self.names = Counter(
            "ipmicra_agent_names", "Names resolved, by status.", ["status"], registry=self.registry
        )
        self._outcomes: dict[str, Counter] = {}
        self.pending = Gauge(
            "ipmicra_agent_pending", "Orders in progress or waiting.", registry=self.registry
        )
        self.rtt = Histogram(
            "ipmicra_agent_rtt_seconds", "Round trips.", buckets=BUCKETS_S, registry=self.registry
        )

    def note(self, answer: Answer) -> None:
        """Count an answer."""
        outcome = answer.loss or answer.rung
        name = outcome.value if outcome else "unknown"
        counter = self._outcomes.get(name)
        if counter is None:
            counter = self._outcomes[name] = self.answers.labels(name)
        counter.inc()
        if answer.rtt_ms is not None:
            self.rtt.observe(answer.rtt_ms / 1e3)

    def note_name(self, status: NameStatus) -> None:
        """Count a name."""
        self.names.labels(status.value).inc()

    def note_dropped(self, reason: str) -> None:
        """Count a dropped connection."""
        self.dropped.labels(reason).inc()

    def text(self) -> bytes:
        """Write everything in the text format of Prometheus."""
        return generate_latest(self.registry)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentParts:
    """The parts behind the interface."""

    service: ProbeService
    metrics: AgentMetrics
    check: TokenCheck | None
    """None only where mutual TLS authenticates clients."""
    names: NameService | None = None
    """None where the operator does not want names to be resolved."""
    target_log: TargetLog | None = None
    """None where targets are not written down."""
    limits: WireLimits = LIMITS
    started_s: float = 0.0
    body_s: float = 10.0
    """Seconds within which a request's body must arrive."""
    head_bytes: int = 16_384
    """Most bytes of a request's first line and headers."""


def make_app(parts: AgentParts) -> ASGIApp:
    """Make the agent's ASGI application."""
    routes = [
        Route("/probe", _counted(parts, _probe), methods=["POST"]),
        Route("/resolve", _counted(parts, _resolve), methods=["POST"]),
        Route("/health", _counted(parts, _health), methods=["GET"]),
        Route("/metrics", _counted(parts, _metrics), methods=["GET"]),
    ]
    return _Gate(Starlette(routes=routes), parts)


class TokenCheck:
    """Compares tokens in constant time."""

    def __init__(self, token: str) -> None:
        """Keep a digest, so that all comparisons have the same length."""
        self._digest = _digest(token.encode())

    def admits(self, header: str | None) -> bool:
        """Return whether an Authorization header carries the token."""
        scheme, _, given = (header or "").partition(" ")
        is_same = hmac.compare_digest(_digest(given.strip().encode("utf-8", "replace")), self._digest)
        return is_same and scheme.lower() == "bearer"


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


class _Gate:
    """Refuses requests with long headers or without the token, before anything of their body is read."""

    def __init__(self, app: ASGIApp, parts: AgentParts) -> None:
        self._app = app
        self._parts = parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and head_bytes(scope) > self._parts.head_bytes:
            self._parts.metrics.requests.labels(str(LONG_HEADERS)).inc()
            refusal = _refused(LONG_HEADERS, f"the headers are over {self._parts.head_bytes:,} bytes")
            refusal.headers["Connection"] = "close"
            await refusal(scope, receive, send)
        elif scope["type"] == "http" and not self._admits(scope):
            self._parts.metrics.requests.labels(str(UNAUTHORISED)).inc()
            events.debug(
                "unauthenticated_refused", "a request without the token was refused", path=scope["path"]
            )
            refusal = _refused(UNAUTHORISED, "a bearer token is needed")
            refusal.headers["WWW-Authenticate"] = "Bearer"
            refusal.headers["Connection"] = "close"
            await refusal(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            scope.get("state", {}).get(AUTHENTICATED, _no_limiter)()
            await self._app(scope, receive, send)

    def _admits(self, scope: Scope) -> bool:
        if self._parts.check is None:
            return True
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        return len(given) == 1 and self._parts.check.admits(given[0].decode("latin-1"))


def _no_limiter() -> None:
    """Stand in for the connection limiter where the application is served without one."""


Endpoint = Callable[[AgentParts, Request], Awaitable[Response]]


def _counted(parts: AgentParts, endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        response = await endpoint(parts, request)
        parts.metrics.requests.labels(str(response.status_code)).inc()
        return response

    return answer


async def _health(parts: AgentParts, _request: Request) -> Response:
    state = "stopping" if parts.service.is_stopping else "ready"
    return JSONResponse(
        {
            "state": state,
            "ipmicra": version("ipmicra"),
            "versions": list(VERSIONS),
            "pending": parts.service.pending,
            "resolves": parts.names is not None,
            "up_s": round(time.monotonic() - parts.started_s, 1),
        },
        status_code=BUSY if parts.service.is_stopping else OK,
    )


async def _metrics(parts: AgentParts, _request: Request) -> Response:
    parts.metrics.pending.set(parts.service.pending)
    return Response(parts.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


async def _probe(parts: AgentParts, request: Request) -> Response:
    order = await _understood(parts, request, decode_request)
    if isinstance(order, Response):
        return order
    if parts.service.is_stopping or not parts.service.has_room(len(order.orders)):
        return _refused(BUSY, "stopping" if parts.service.is_stopping else "too many orders are pending")
    return StreamingResponse(_lines(parts, order), media_type="application/x-ndjson")


async def _resolve(parts: AgentParts, request: Request) -> Response:
    asked = await _understood(parts, request, decode_names)
    if isinstance(asked, Response):
        return asked
    if parts.names is None:
        return _refused(NOT_DONE_HERE, "names are not resolved here: its operator turned that off")
    if parts.service.is_stopping or not parts.names.has_room(len(asked.names)):
        return _refused(BUSY, "stopping" if parts.service.is_stopping else "too many names are pending")
    return StreamingResponse(_name_lines(parts.names, asked), media_type="application/x-ndjson")


async def _understood(
    parts: AgentParts, request: Request, decode: Callable[[bytes, WireLimits], T]
) -> T | Response:
    """Read a request; return what it says, or the refusal if it makes no sense."""
    try:
        body = await read_body(request, parts.limits.max_request_bytes, parts.body_s)
        return decode(body, parts.limits)
    except BodyError as error:
        return _refused(error.status, str(error))
    except MessageError as error:
        return _refused(UNPROCESSABLE if isinstance(error, UnknownVersionError) else BAD_REQUEST, str(error))


async def _lines(parts: AgentParts, request: ProbeRequest) -> AsyncIterator[bytes]:
    events.debug(
        "orders_taken", "{orders} orders taken", orders=len(request.orders), is_repeat=request.only_repeat
    )
    count = 0
    async for answers in parts.service.answers(request):
        count += len(answers)
        yield b"".join(map(encode_answer, answers))
    events.debug("orders_answered", "{orders} orders answered", orders=count)
    yield encode_end(End(count=count))


async def _name_lines(names: NameService, request: NamesRequest) -> AsyncIterator[bytes]:
    events.debug("names_taken", "{names} names to resolve", names=len(request.names))
    async for resolved in names.answers(request):
        yield b"".join(map(encode_name, resolved))
    yield encode_end(End(count=len(request.names)))


def _refused(status: int, reason: str) -> Response:
    content = encode_error(ErrorMessage(error=reason))
    return Response(content, status_code=status, media_type="application/json")
