"""`/v1/explain`, `/v1/lookup` and `/v1/locate`: what is known of a host or an address."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from starlette.responses import PlainTextResponse, Response

from ipmicra.app.serve.api.calls import Call, Resource
from ipmicra.app.serve.refusals import RefusedError
from ipmicra.model.foreign_text import json_text

_PART = 200
"""Targets of a list that are looked up together."""


async def explain(call: Call) -> Response:
    """Answer why a site has its crawler."""
    host, form = call.text("host"), call.text_or_none("format") or "json"
    if form == "text":
        lines = await call.coordinator.looking.explain_lines(host)
        return PlainTextResponse("".join(f"{line}\n" for line in lines))
    if form != "json":
        raise RefusedError("bad-request", "`format` is json or text")
    return call.answer(await call.coordinator.looking.explain(host))


async def look_up(call: Call) -> Response:
    """Answer which subnets contain a target."""
    (found,) = await call.coordinator.looking.lookup([call.text("target")], one_each=True)
    return call.tagged(found)


async def look_up_many(call: Call) -> Response:
    """Answer which subnets contain each target of a list."""
    call.has_json_lines(may_be=False)
    targets = await call.lines(call.limits.targets)
    return call.stream(_lines(call.coordinator.looking.lookup, targets))


async def locate(call: Call) -> Response:
    """Answer where a target is."""
    (found,) = await call.coordinator.looking.locate([call.text("target")], is_offline=call.flag("offline"))
    return call.answer(found)


async def locate_many(call: Call) -> Response:
    """Answer where each target of a list is."""
    call.has_json_lines(may_be=False)
    targets, is_offline = await call.lines(call.limits.targets), call.flag("offline")
    return call.stream(_lines(partial(call.coordinator.looking.locate, is_offline=is_offline), targets))


async def _lines(
    describe: Callable[[Sequence[str]], Awaitable[list[dict[str, Any]]]], targets: list[str]
) -> AsyncIterator[bytes]:
    for start in range(0, len(targets), _PART):
        found = await describe(targets[start : start + _PART])
        yield "".join(f"{json_text(one)}\n" for one in found).encode()


RESOURCES = (
    Resource("GET", "/v1/explain", explain, is_stream=True),
    Resource("GET", "/v1/lookup", look_up, is_stream=True),
    Resource("POST", "/v1/lookup", look_up_many, is_stream=True),
    Resource("GET", "/v1/locate", locate, is_stream=True),
    Resource("POST", "/v1/locate", locate_many, is_stream=True),
)
