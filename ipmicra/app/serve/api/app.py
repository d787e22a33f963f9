"""The API as one ASGI application: every request passes the gate, then reaches its endpoint.

The gate, in this order: the token, and how many connections it has; the length of the headers; how much the
token has sent of late; the role; and how many streams the token has.
What is refused there costs microseconds, and nothing of a body is read. A request that asks for the owner of
a host whose answer is kept is answered by the gate itself: it is most of what a coordinator is asked, and
routing it would cost more than answering it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ipmicra.app.serve.api import (
    agents,
    assignments,
    batches,
    crawlers,
    crawls,
    exports,
    health,
    owners,
    peers,
    sites,
)
from ipmicra.app.serve.api.calls import Call, Resource
from ipmicra.app.serve.api.described import parameters_of
from ipmicra.app.serve.api.limits import ApiLimits
from ipmicra.app.serve.api.problem import problem, refusal_of
from ipmicra.app.serve.coordinator import Coordinator
from ipmicra.app.serve.refusals import RefusedError
from ipmicra.edge.log import EventLog
from ipmicra.edge.web.bodies import body_bytes, head_bytes
from ipmicra.edge.web.connection_limits import AUTHENTICATED
from ipmicra.edge.web.request_pace import RequestPace
from ipmicra.model.token import Identity, Role

events = EventLog("coordinator")
RESOURCES: tuple[Resource, ...] = (
    *health.RESOURCES,
    *owners.RESOURCES,
    *sites.RESOURCES,
    *crawlers.RESOURCES,
    *batches.RESOURCES,
    *assignments.RESOURCES,
    *exports.RESOURCES,
    *agents.RESOURCES,
    *crawls.RESOURCES,
    *peers.RESOURCES,
)
"""Everything under `/v1`; a test compares it with `openapi.json`."""
IDENTITY = "ipmicra_identity"
"""Key in a request's scope of who sent it."""
OWNER_PATH = "/v1/owner"
_API = "/v1/"
_NO_METHOD, _NOT_FOUND = 405, 404


def make_app(
    coordinator: Coordinator, limits: ApiLimits | None = None, also: Sequence[BaseRoute] = ()
) -> ASGIApp:
    """Make the application; `also` are routes that look after tokens themselves, as pages do."""
    allowed = limits or ApiLimits()
    by_path: dict[str, dict[str, Resource]] = {}
    streams: Counter[str] = Counter()
    for one in RESOURCES:
        by_path.setdefault(one.path, {})[one.method] = one
    routes: list[BaseRoute] = [
        Route(path, PathEndpoint(coordinator, allowed, methods, streams), methods=list(methods))
        for path, methods in by_path.items()
    ]
    app = Starlette(routes=[*routes, *also], exception_handlers={HTTPException: _http_problem})
    return Gate(app, coordinator, allowed)


class PathEndpoint:
    """All methods of one path."""

    def __init__(
        self,
        coordinator: Coordinator,
        limits: ApiLimits,
        methods: dict[str, Resource],
        streams: Counter[str],
    ) -> None:
        """Answer by the resource of a method; `streams` counts those under way, by token."""
        self._coordinator, self._limits, self._methods, self._streams = coordinator, limits, methods, streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; the answer to a stream is counted until its last line is sent."""
        request = Request(scope, receive, send)
        resource = self._methods["GET" if request.method == "HEAD" else request.method]
        identity: Identity | None = scope.get(IDENTITY)
        name = identity.name if identity is not None and resource.is_stream else ""
        self._streams[name] += bool(name)
        try:
            response = await self._answer(resource, Call(request, self._coordinator, self._limits, identity))
            await response(scope, receive, send)
        finally:
            self._streams[name] -= bool(name)
            if not self._streams[name]:
                del self._streams[name]

    async def _answer(self, resource: Resource, call: Call) -> Response:
        try:
            self._check(resource, call)
            return await resource.endpoint(call)
        except Exception as error:  # noqa: BLE001 - translated once, at the border
            return problem(refusal_of(error))

    def _check(self, resource: Resource, call: Call) -> None:
        """Refuse whoever may not do this, or does too much of it, and parameters that nobody knows."""
        if resource.role is not None:
            self._check_access(resource, call)
        unknown = set(call.request.query_params) - parameters_of(resource.method, resource.path)
        if unknown:
            raise RefusedError("bad-request", f"the parameter `{min(unknown)[:64]}` is not known here")

    def _check_access(self, resource: Resource, call: Call) -> None:
        who = call.identity
        if who is None:
            given = call.request.headers.get("authorization")
            raise RefusedError("unauthenticated", self._coordinator.access.refusal(given))
        if resource.role is not None and not who.may(resource.role):
            detail = f"the token {who.name!r} is of role {who.role.value}; this is for {resource.role.value}"
            raise RefusedError("forbidden", detail)
        if resource.is_stream and self._streams[who.name] > self._limits.streams:
            raise RefusedError("too-many", f"{self._limits.streams} such requests are under way")


async def _http_problem(_request: Request, error: Exception) -> Response:
    """Answer as Starlette would, but as a problem."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    headers = dict(error.headers or {}) if isinstance(error, HTTPException) else {}
    kind = {_NO_METHOD: "no-method", _NOT_FOUND: "not-found"}.get(status, "bad-request")
    return problem(RefusedError(kind, str(getattr(error, "detail", ""))), **headers)


class Gate:
    """Looks at every request before anything of its body is read."""

    def __init__(self, app: ASGIApp, coordinator: Coordinator, limits: ApiLimits) -> None:
        """Stand before an application."""
        self._app, self._coordinator, self._limits = app, coordinator, limits
        self._paces = {
            Role.AGENT: RequestPace(limits.agent_pace),
            Role.CRAWLER: RequestPace(limits.crawler_pace),
        }
        self._unauthenticated = RequestPace(limits.unauthenticated_pace)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, answer it, or hand it on."""
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        identity = None
        if len(given) == 1:
            identity = self._coordinator.access.identify(given[0].decode("latin-1"))
        if identity is not None:
            is_agent = identity.role is Role.AGENT
            most = self._limits.agent_connections if is_agent else self._limits.connections
            name = f"{identity.role.value} {identity.name}"
            scope.get("state", {}).get(AUTHENTICATED, _no_limiter)(name, most)
            if scope["path"] == OWNER_PATH and scope["method"] == "GET" and identity.may(Role.CRAWLER):
                body = self._coordinator.owners.kept(scope["query_string"])
                if body is not None:
                    await _send(send, body)
                    return
        if head_bytes(scope) > self._limits.head_bytes:
            reason = f"the headers are over {self._limits.head_bytes:,} bytes"
            await problem(RefusedError("long-headers", reason), Connection="close")(scope, receive, send)
            return
        if not await self._is_in_time(identity, scope):
            who = "unauthenticated clients send" if identity is None else f"the token {identity.name!r} sends"
            reason = f"{who} more than is read"
            await problem(RefusedError("too-many", reason))(scope, receive, send)
            return
        scope[IDENTITY] = identity
        await self._app(scope, receive, send)

    async def _is_in_time(self, identity: Identity | None, scope: Scope) -> bool:
        """Let a request wait until its token may send so much; return whether that is soon enough."""
        if scope["method"] in {"GET", "HEAD"} or not scope["path"].startswith(_API):
            return True
        pace = self._unauthenticated if identity is None else self._paces.get(identity.role)
        if pace is None:
            return True
        wait_s = pace.wait_s(identity.name if identity else "", body_bytes(scope))
        await asyncio.sleep(self._limits.refusal_s if wait_s is None else wait_s)
        return wait_s is not None


async def _send(send: Send, body: bytes) -> None:
    start: Message = {
        "type": "http.response.start",
        "status": 200,
        "headers": [
            (b"content-length", str(len(body)).encode()),
            (b"content-type", b"application/json"),
        ],
    }
    await send(start)
    await send({"type": "http.response.body", "body": body})


def _no_limiter(_name: str, _most: int) -> None:
    """Stand in for the connection limiter where the application is served without one."""
