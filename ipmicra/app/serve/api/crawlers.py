"""`/v1/crawlers`: the fleet."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from ipmicra.app.serve.api.calls import CREATED, Call, Resource
from ipmicra.app.serve.refusals import RefusedError
from ipmicra.model.token import Role

_TEXTS = ("name", "address", "agent_url", "city", "country")
_NUMBERS = ("latitude", "longitude", "bandwidth_mbps", "memory_gb", "max_pieces", "connections")


async def list_crawlers(call: Call) -> Response:
    """List the crawlers, by name, a page at a time."""
    found = call.coordinator.crawlers(with_left=call.flag("all"))
    after, most = call.text_or_none("cursor") or "", call.page()
    rest = [one for one in found if one["name"] > after]
    page = rest[:most]
    return call.tagged({"crawlers": page, "next": page[-1]["name"] if len(rest) > most else None})


async def get_crawler(call: Call) -> Response:
    """Describe one crawler."""
    name = call.request.path_params["name"]
    for one in call.coordinator.crawlers(with_left=True):
        if one["name"] == name:
            return call.tagged(one)
    raise RefusedError("not-found", f"there is no crawler named {name[:64]!r}")


async def add_crawler(call: Call) -> Response:
    """Let a crawler join."""
    fields = checked_fields(await call.json())
    made = await call.coordinator.add_crawler(fields, replaces=call.flag("replace"))
    return call.answer(made, CREATED)


async def remove_crawler(call: Call) -> Response:
    """Let a crawler leave."""
    name, is_now = call.request.path_params["name"], call.flag("now")
    return call.answer(await call.coordinator.remove_crawler(name, is_now=is_now))


async def drain_crawler(call: Call) -> Response:
    """Give a crawler nothing new."""
    return call.answer(call.coordinator.drain_crawler(call.request.path_params["name"]))


def checked_fields(fields: dict[str, Any]) -> dict[str, Any]:
    """Refuse fields that a crawler does not have, and values of other types than theirs."""
    for name, value in fields.items():
        if value is None and name not in {"name", "address"}:
            continue
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if name in _TEXTS:
            is_good = isinstance(value, str)
        elif name == "labels":
            is_good = isinstance(value, dict) and all(isinstance(word, str) for word in value.values())
        else:
            is_good = name in _NUMBERS and is_number
        if not is_good:
            raise RefusedError("bad-request", f"{name[:64]}: no field of a crawler, or of another type")
    if not fields.get("name") or not fields.get("address"):
        raise RefusedError("bad-request", "`name` and `address` are needed")
    return {name: value for name, value in fields.items() if value is not None}


RESOURCES = (
    Resource("GET", "/v1/crawlers", list_crawlers),
    Resource("GET", "/v1/crawlers/{name}", get_crawler),
    Resource("POST", "/v1/crawlers", add_crawler, Role.OPERATOR),
    Resource("DELETE", "/v1/crawlers/{name}", remove_crawler, Role.OPERATOR),
    Resource("POST", "/v1/crawlers/{name}/drain", drain_crawler, Role.OPERATOR),
)
