"""`/v1/crawlers`: the fleet."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from ipmicra.app.serve.api.calls import CREATED, Call, Resource
from ipmicra.app.serve.measuring import MeasureWish, measure_fleet_here
from ipmicra.app.serve.refusals import RefusedError
from ipmicra.errors import MessageError
from ipmicra.model.token import Role
from ipmicra.wire import fields

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
    wanted = checked_fields(await call.json())
    made = await call.coordinator.add_crawler(wanted, replaces=call.flag("replace"))
    return call.answer(made, CREATED)


async def remove_crawler(call: Call) -> Response:
    """Let a crawler leave."""
    name, is_now = call.request.path_params["name"], call.flag("now")
    return call.answer(await call.coordinator.remove_crawler(name, is_now=is_now))


async def drain_crawler(call: Call) -> Response:
    """Assign nothing new to a crawler."""
    return call.answer(call.coordinator.drain_crawler(call.request.path_params["name"]))


async def measure_crawlers(call: Call) -> Response:
    """Let crawlers measure the round trips between them."""
    content = await call.json()
    names = content.get("names", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise RefusedError("bad-request", "names must be a list of crawlers")
    try:
        fields.known_only(content, frozenset({"names", "port", "missing", "dry_run"}))
        wish = MeasureWish(
            names=names,
            port=fields.port(content, "port"),
            only_missing=fields.flag(content, "missing"),
            is_dry=fields.flag(content, "dry_run"),
        )
    except MessageError as error:
        raise RefusedError("bad-request", str(error)) from error
    return call.answer(await measure_fleet_here(call.coordinator, wish))


def checked_fields(content: dict[str, Any]) -> dict[str, Any]:
    """Refuse fields that a crawler does not have, and values of other types than theirs."""
    for name, value in content.items():
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
    if not content.get("name") or not content.get("address"):
        raise RefusedError("bad-request", "`name` and `address` are needed")
    return {name: value for name, value in content.items() if value is not None}


RESOURCES = (
    Resource("GET", "/v1/crawlers", list_crawlers),
    Resource("POST", "/v1/crawlers/measure", measure_crawlers, Role.OPERATOR, is_stream=True),
    Resource("GET", "/v1/crawlers/{name}", get_crawler),
    Resource("POST", "/v1/crawlers", add_crawler, Role.OPERATOR),
    Resource("DELETE", "/v1/crawlers/{name}", remove_crawler, Role.OPERATOR),
    Resource("POST", "/v1/crawlers/{name}/drain", drain_crawler, Role.OPERATOR),
)
