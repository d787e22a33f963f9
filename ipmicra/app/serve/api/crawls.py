"""`/v1/crawls`: nodes join crawls and exchange links; people see how crawls are."""

from __future__ import annotations

from starlette.responses import Response

from ipmicra.app.crawl.mailboxes import UnknownSessionError
from ipmicra.app.serve.api.calls import Call, Resource
from ipmicra.app.serve.refusals import RefusedError
from ipmicra.edge.web.bodies import read_body
from ipmicra.model.token import Identity
from ipmicra.wire.limits import LIMITS
from ipmicra.wire.links import decode_exchange, decode_join, encode_exchanged, encode_joined, is_name


async def crawls(call: Call) -> Response:
    """Describe all crawls."""
    return call.answer({"crawls": await call.coordinator.post.crawls()})


async def crawl(call: Call) -> Response:
    """Describe one crawl."""
    name = _name(call)
    found = await call.coordinator.post.status(name)
    if found is None:
        raise RefusedError("not-found", f"there is no crawl {name!r}")
    return call.answer(found)


async def join(call: Call) -> Response:
    """Let a node take part in a crawl."""
    name = _name(call)
    asked = decode_join(await read_body(call.request, LIMITS.max_line_bytes, call.limits.body_s))
    who: Identity | None = call.identity
    if who is not None and who.crawler not in {None, asked.crawler}:
        raise RefusedError("forbidden", f"the token {who.name!r} is for crawler {who.crawler!r} only")
    return _json(encode_joined(await call.coordinator.post.join(name, asked)))


async def exchange(call: Call) -> Response:
    """Take what a node found and finished; answer with what it is to fetch."""
    name = _name(call)
    body = await read_body(call.request, LIMITS.max_exchange_bytes, call.limits.body_s)
    try:
        answer = await call.coordinator.post.exchange(name, decode_exchange(body))
    except UnknownSessionError as error:
        raise RefusedError("conflict", str(error)) from error
    return _json(encode_exchanged(answer))


def _name(call: Call) -> str:
    name = str(call.request.path_params["crawl"])
    if not is_name(name):
        raise RefusedError("bad-request", "a crawl's name has 1 to 64 letters, digits, `-`, `_` or dots")
    return name


def _json(content: bytes) -> Response:
    return Response(content, media_type="application/json")


RESOURCES = (
    Resource("GET", "/v1/crawls", crawls),
    Resource("GET", "/v1/crawls/{crawl}", crawl),
    Resource("POST", "/v1/crawls/{crawl}/join", join),
    Resource("POST", "/v1/crawls/{crawl}/exchange", exchange),
)
