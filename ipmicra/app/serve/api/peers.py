"""`/v1/peers`: what coordinators of the same database ask each other."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from ipmicra.app.serve.api.calls import Call, Resource
from ipmicra.app.serve.refusals import RefusedError
from ipmicra.errors import MessageError
from ipmicra.model.site import Site
from ipmicra.model.token import Role
from ipmicra.wire import fields

_KNOWN = frozenset({"host", "address", "scheme", "port", "batch", "assigns"})
_LAST_BATCH, _LONGEST_HOST = (1 << 63) - 1, 253


async def decide(call: Call) -> Response:
    """Decide a site; the coordinator that asks reads the answer from the store."""
    content = await call.json()
    try:
        site = _site_of(content)
        batch = None if content.get("batch") is None else fields.whole(content, "batch", 1, _LAST_BATCH)
        assigns = fields.flag(content, "assigns")
    except MessageError as error:
        raise RefusedError("bad-request", str(error)) from error
    reason = await call.coordinator.owners.decide_for_peer(site, batch, assigns=assigns)
    return call.answer({"host": site.host, "reason": reason})


def _site_of(content: dict[str, Any]) -> Site:
    fields.known_only(content, _KNOWN)
    host, address = fields.text(content, "host", _LONGEST_HOST), fields.address(content, "address")
    if address is None or not (fields.is_host_name(host) or host == str(address)):
        raise MessageError("a host name, or the text of the address, and the address are needed")
    scheme = content.get("scheme")
    if not isinstance(scheme, str | None) or scheme not in {None, "http", "https"}:
        raise MessageError("scheme must be http or https")
    return Site(host, address, scheme, fields.port(content, "port"))


RESOURCES = (Resource("POST", "/v1/peers/decide", decide, role=Role.PEER),)
