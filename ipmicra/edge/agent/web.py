"""The agent's HTTP interface: `POST /probe`, `GET /health`, `GET /metrics`; nothing without permission."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from importlib.metadata import version

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ipmicra.edge.agent.access import TokenCheck
from ipmicra.edge.agent.door import LET_IN
from ipmicra.edge.agent.metrics import AgentMetrics
from ipmicra.edge.agent.service import ProbeService
from ipmicra.errors import MessageError, UnknownVersionError
from ipmicra.wire.answers import End, ErrorMessage, encode_answer, encode_end, encode_error
from ipmicra.wire.limits import LIMITS, VERSIONS, WireLimits
from ipmicra.wire.orders import ProbeRequest, decode_request

OK, BAD_REQUEST, UNAUTHORISED, TIMED_OUT, TOO_LARGE, UNPROCESSABLE, BUSY = 200, 400, 401, 408, 413, 422, 503


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentParts:
    """What the interface is made of."""

    service: ProbeService
    metrics: AgentMetrics
    check: TokenCheck | None
    """None only where mutual TLS keeps strangers out."""
    limits: WireLimits = LIMITS
    started_s: float = 0.0
    body_s: float = 10.0
    """Seconds within which a request's body must have come."""


def make_app(parts: AgentParts) -> ASGIApp:
    """Make the agent's ASGI application."""
    routes = [
        Route("/probe", _counted(parts, _probe), methods=["POST"]),
        Route("/health", _counted(parts, _health), methods=["GET"]),
        Route("/metrics", _counted(parts, _metrics), methods=["GET"]),
    ]
    return _Gate(Starlette(routes=routes), parts)


class _Gate:
    """Turns strangers away before anything of their request is read."""

    def __init__(self, app: ASGIApp, parts: AgentParts) -> None:
        self._app = app
        self._parts = parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._admits(scope):
            self._parts.metrics.requests.labels(str(UNAUTHORISED)).inc()
            refusal = _refused(UNAUTHORISED, "a bearer token is needed")
            refusal.headers["WWW-Authenticate"] = "Bearer"
            refusal.headers["Connection"] = "close"
            await refusal(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            scope.get("state", {}).get(LET_IN, _nobody)()
            await self._app(scope, receive, send)

    def _admits(self, scope: Scope) -> bool:
        if self._parts.check is None:
            return True
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        return len(given) == 1 and self._parts.check.admits(given[0].decode("latin-1"))


def _nobody() -> None:
    """Stand for the doorman where there is none."""


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
            "up_s": round(time.time() - parts.started_s, 1),
        },
        status_code=BUSY if parts.service.is_stopping else OK,
    )


async def _metrics(parts: AgentParts, _request: Request) -> Response:
    parts.metrics.pending.set(parts.service.pending)
    return Response(parts.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


async def _probe(parts: AgentParts, request: Request) -> Response:
    try:
        async with asyncio.timeout(parts.body_s):
            body = await _body(request, parts.limits.max_request_bytes)
        order = decode_request(body, parts.limits)
    except (TimeoutError, ClientDisconnect, MessageError) as error:
        return _refused(*_complaint(error, parts.body_s))
    if parts.service.is_stopping or not parts.service.has_room(len(order.orders)):
        return _refused(BUSY, "stopping" if parts.service.is_stopping else "too many orders are pending")
    return StreamingResponse(_lines(parts, order), media_type="application/x-ndjson")


def _complaint(error: Exception, body_s: float) -> tuple[int, str]:
    """Say what is wrong with a request, and the status for it."""
    if isinstance(error, TimeoutError):
        return TIMED_OUT, f"the request did not come within {body_s:g} s"
    if isinstance(error, ClientDisconnect):
        return BAD_REQUEST, "the request was cut off"
    statuses = {UnknownVersionError: UNPROCESSABLE, _TooLargeError: TOO_LARGE}
    return statuses.get(type(error), BAD_REQUEST), str(error)


async def _lines(parts: AgentParts, request: ProbeRequest) -> AsyncIterator[bytes]:
    count = 0
    async for answers in parts.service.answers(request):
        count += len(answers)
        yield b"".join(map(encode_answer, answers))
    yield encode_end(End(count=count))


class _TooLargeError(MessageError):
    """A request beyond the limit."""


async def _body(request: Request, limit: int) -> bytes:
    """Read a body, and no more of it than is allowed."""
    announced = request.headers.get("content-length", "0")
    if not announced.isdigit() or int(announced) > limit:
        raise _TooLargeError(f"a request of {announced[:20]} bytes is over the limit of {limit:,}")
    pieces: list[bytes] = []
    size = 0
    async for piece in request.stream():
        size += len(piece)
        if size > limit:
            raise _TooLargeError(f"the request is over the limit of {limit:,} bytes")
        pieces.append(piece)
    return b"".join(pieces)


def _refused(status: int, reason: str) -> Response:
    content = encode_error(ErrorMessage(error=reason))
    return Response(content, status_code=status, media_type="application/json")
