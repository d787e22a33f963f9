"""`/v1/explain`, `/v1/lookup` and `/v1/locate`: what is known of a host or an address."""

from __future__ import annotations

from starlette.responses import PlainTextResponse, Response

from ipmicra.app.serve.api.calls import Call, Resource
from ipmicra.app.serve.refusals import RefusedError


async def explain(call: Call) -> Response:
    """Answer why a site has its crawler."""
    host, form = call.text("host"), call.text_or_none("format") or "json"
    if form == "text":
        return PlainTextResponse("".join(f"{line}\n" for line in await call.coordinator.explain_lines(host)))
    if form != "json":
        raise RefusedError("bad-request", "`format` is json or text")
    return call.answer(await call.coordinator.explain(host))


async def lookup(call: Call) -> Response:
    """Answer which subnets contain targets."""
    return call.tagged({"targets": await call.coordinator.lookup(call.texts("target"))})


async def locate(call: Call) -> Response:
    """Answer where targets are."""
    targets, is_offline = call.texts("target"), call.flag("offline")
    return call.answer({"targets": await call.coordinator.locate(targets, is_offline=is_offline)})


RESOURCES = (
    Resource("GET", "/v1/explain", explain, is_stream=True),
    Resource("GET", "/v1/lookup", lookup, is_stream=True),
    Resource("GET", "/v1/locate", locate, is_stream=True),
)
