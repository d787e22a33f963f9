"""`/v1/owner` and `/v1/owners`: who owns one host, or each of a list."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable

from starlette.responses import Response

from ipmicra.app.describe.delegation import describe_decision
from ipmicra.app.serve.api.calls import Call, Resource
from ipmicra.app.serve.api.problem import describe_problem
from ipmicra.app.serve.refusals import RefusedError
from ipmicra.app.serve.rendered import Asked
from ipmicra.model.delegation import Decision
from ipmicra.model.foreign_text import json_text
from ipmicra.wire.fields import is_writable


async def owner(call: Call) -> Response:
    """Answer who owns a host."""
    asked = Asked(call.text("host"), call.text_or_none("vantage") or None)
    body = await call.coordinator.owners.owner(asked)
    call.coordinator.owners.keep_query(call.request.scope["query_string"], body)
    return Response(body, media_type="application/json")


async def owners(call: Call) -> Response:
    """Answer who owns each host of a list, in order."""
    asked = await read_hosts(call)
    return call.stream(_lines(call, asked))


async def _lines(call: Call, asked: list[Asked]) -> AsyncIterator[bytes]:
    at = 0
    async for answers in call.coordinator.owners.many(asked):
        lines = []
        for one in answers:
            lines.append(one if isinstance(one, bytes) else _problem_line(asked[at], one))
            at += 1
        yield b"\n".join(lines) + b"\n"


def _problem_line(asked: Asked, refusal: RefusedError) -> bytes:
    line = {"host": asked.text, "vantage": asked.vantage, "problem": describe_problem(refusal)}
    return json_text(line).encode()


async def read_hosts(call: Call) -> list[Asked]:
    """Read a list of hosts: a text per line, or a JSON string or object per line."""
    has_json = call.has_json_lines()
    lines = await call.lines(call.limits.hosts)
    return list(_from_json(lines)) if has_json else [Asked(line) for line in lines]


def _from_json(lines: Iterable[str]) -> Iterable[Asked]:
    for number, line in enumerate(lines, 1):
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise RefusedError("bad-request", f"line {number} is no JSON: {str(error)[:200]}") from error
        host = found.get("host") if isinstance(found, dict) else found
        vantage = found.get("vantage") if isinstance(found, dict) else None
        if not is_writable([host, vantage]):
            raise RefusedError("bad-request", f"line {number}: a text has half a character in it")
        if not isinstance(host, str) or not host or not isinstance(vantage, str | None):
            raise RefusedError("bad-request", f'line {number} must be "HOST" or {{"host": "HOST"}}')
        yield Asked(host, vantage or None)


async def delegate(call: Call) -> Response:
    """Answer with the decision for each host of a list, in order."""
    asked = await read_hosts(call)
    if any(one.vantage for one in asked):
        raise RefusedError("bad-input", "subnets are delegated, and have no vantage")
    return call.stream(_decisions(call, [one.text for one in asked]))


async def _decisions(call: Call, texts: list[str]) -> AsyncIterator[bytes]:
    async for part in call.coordinator.owners.decisions(texts):
        lines = [
            _problem_line(Asked(text), one) if isinstance(one, RefusedError) else _decision_line(one)
            for text, one in part
        ]
        yield b"\n".join(lines) + b"\n"


def _decision_line(decision: Decision) -> bytes:
    return json_text(describe_decision(decision)).encode()


RESOURCES = (
    Resource("POST", "/v1/delegate", delegate, is_stream=True),
    Resource("GET", "/v1/owner", owner),
    Resource("POST", "/v1/owners", owners, is_stream=True),
)
