"""`/v1/agents`: what agents that only call out ask for. See `edge/coordinator/switchboard.py`.

| path | token | does |
|---|---|---|
| `GET authority` | none | shows the certificates that a join token may pin |
| `POST join` | join | makes the agent a member |
| `POST poll` | agent | waits for orders, up to 50 s |
| `POST results` | agent | hands in results |
| `POST leave` | agent | lets its crawler leave the fleet |
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from ipmicra.app.serve.api.calls import Call, Resource
from ipmicra.app.serve.api.problem import problem, refusal_of
from ipmicra.app.serve.membership import AgentDesk, NotMemberError
from ipmicra.app.serve.refusals import RefusedError
from ipmicra.edge.coordinator.mailbox import SupersededError
from ipmicra.edge.web.bodies import read_body
from ipmicra.errors import IpmicraError
from ipmicra.wire.joining import decode_join, encode_joined
from ipmicra.wire.limits import LIMITS
from ipmicra.wire.polling import decode_poll, decode_results, encode_polled

T = TypeVar("T")
Endpoint = Callable[[AgentDesk, Request], Awaitable[Response]]


def _answered(desk: AgentDesk, endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        try:
            return await endpoint(desk, request)
        except IpmicraError as error:
            return problem(_refusal(error))

    return answer


def _called(endpoint: Endpoint) -> Callable[[Call], Awaitable[Response]]:
    async def answer(call: Call) -> Response:
        return await _answered(call.coordinator.agents, endpoint)(call.request)

    answer.__doc__ = endpoint.__doc__
    return answer


def _refusal(error: IpmicraError) -> RefusedError:
    """Return what an agent hears of an error."""
    if isinstance(error, NotMemberError):
        return RefusedError("not-member", str(error))
    if isinstance(error, SupersededError):
        return RefusedError("superseded", str(error))
    return refusal_of(error)


async def _authority(desk: AgentDesk, _request: Request) -> Response:
    """Show the certificates that a join token may pin."""
    return PlainTextResponse(desk.authority(), media_type="application/x-pem-file")


async def _join(desk: AgentDesk, request: Request) -> Response:
    """Make an agent a member of the fleet, with a join token."""
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not secret:
        raise NotMemberError("a join token is needed")
    wanted = decode_join(await read_body(request, LIMITS.max_line_bytes, desk.body_s))
    peer = request.client.host if request.client else ""
    answer = await desk.membership.join(secret.strip(), wanted, peer)
    return _json(encode_joined(answer))


async def _poll(desk: AgentDesk, request: Request) -> Response:
    """Wait for work, up to 50 s."""
    crawler = _caller(desk, request)
    poll = decode_poll(await read_body(request, LIMITS.max_line_bytes, desk.body_s))
    answer = await _unless_gone(request, desk.membership.switchboard.poll(crawler, poll))
    if answer is None:
        return _json(b"")
    return _json(encode_polled(replace(answer, coordinators=desk.coordinators())))


async def _results(desk: AgentDesk, request: Request) -> Response:
    """Hand in results."""
    crawler = _caller(desk, request)
    results = decode_results(await read_body(request, LIMITS.max_request_bytes, desk.body_s))
    used = desk.membership.switchboard.take(crawler, results)
    return _json(json.dumps({"version": 1, "used": used}).encode())


async def _leave(desk: AgentDesk, request: Request) -> Response:
    """Let the agent's crawler leave the fleet."""
    crawler = _caller(desk, request)
    if desk.on_leave is not None:
        await desk.on_leave(crawler)
    else:
        desk.membership.fleet().remove(crawler)
    desk.membership.access.refresh()
    desk.membership.switchboard.forget(crawler, f"{crawler} left the fleet")
    return _json(json.dumps({"version": 1, "crawler": crawler, "state": "left"}).encode())


def _caller(desk: AgentDesk, request: Request) -> str:
    """Return the crawler whose agent calls."""
    given = request.headers.getlist("authorization")
    return str(desk.membership.agent_of(given[0] if len(given) == 1 else None).crawler)


async def _unless_gone(request: Request, answer: Awaitable[T]) -> T | None:
    """Wait for an answer, unless whoever wants it goes away."""
    wanted, gone = asyncio.ensure_future(answer), asyncio.create_task(_disconnected(request))
    try:
        await asyncio.wait({wanted, gone}, return_when=asyncio.FIRST_COMPLETED)
        return wanted.result() if wanted.done() else None
    finally:
        for task in (wanted, gone):
            task.cancel()
        await asyncio.gather(wanted, gone, return_exceptions=True)


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _json(body: bytes) -> Response:
    return Response(body, media_type="application/json")


_ENDPOINTS: tuple[tuple[str, str, Endpoint], ...] = (
    ("GET", "/v1/agents/authority", _authority),
    ("POST", "/v1/agents/join", _join),
    ("POST", "/v1/agents/poll", _poll),
    ("POST", "/v1/agents/results", _results),
    ("POST", "/v1/agents/leave", _leave),
)
RESOURCES = tuple(
    # Agents learn from `agent_of` why they are refused, which a role alone does not tell.
    Resource(method, path, _called(endpoint), None)
    for method, path, endpoint in _ENDPOINTS
)


def agent_routes(desk: AgentDesk) -> list[Route]:
    """Return the same as routes over any desk."""
    return [Route(path, _answered(desk, endpoint), methods=[method]) for method, path, endpoint in _ENDPOINTS]
