"""`/v1/assignments`, `/v1/assign` and `/v1/forget`: what is assigned, and what is to change."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from ipmicra.app.describe.owner import describe_change
from ipmicra.app.serve.api.calls import Call, Resource
from ipmicra.app.serve.refusals import RefusedError
from ipmicra.model.token import Role

_LARGEST = (1 << 63) - 1


async def changes(call: Call) -> Response:
    """Return what changed after a number: assignments as they are now, and what crawlers lost."""
    crawler, since, most = call.text_or_none("crawler"), call.number("since", 0, 0, _LARGEST), call.page()
    found, last = await call.coordinator.reader.read(
        lambda store: (store.assignments.changes(since, most, crawler), store.assignments.last_change())
    )
    following = found[-1].seq if len(found) == most else max(last, since)
    content = {
        "changes": [describe_change(one) for one in found],
        "next": following,
        "is_complete": len(found) < most,
    }
    return call.tagged(content)


async def assign(call: Call) -> Response:
    """Assign hosts by `balance`, as `ipmicra assign` does."""
    kinds = {"hosts": list, "evenness": float, "is_kept": bool, "every_s": float}
    wanted = _checked(call, await call.json(call.limits.body_bytes), kinds)
    return call.answer(await call.coordinator.assign(**wanted))


async def forget(call: Call) -> Response:
    """Forget answers, so that they are found anew."""
    kinds = {"targets": list, "policy": str, "samples": bool, "dry_run": bool}
    wanted = _checked(call, await call.json(call.limits.body_bytes), kinds)
    return call.answer(await call.coordinator.forget(**wanted))


def _checked(call: Call, content: dict[str, Any], kinds: dict[str, type]) -> dict[str, Any]:
    """Return what a body wants; refuse fields that are not known, and values of other types than theirs."""
    found: dict[str, Any] = {}
    for name, value in content.items():
        kind = kinds.get(name)
        is_number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LARGEST
        if kind is None or not (is_number if kind is float else isinstance(value, kind)):
            raise RefusedError("bad-request", f"{name[:64]}: not known here, or of another type")
        most = call.limits.line
        if kind is list and not all(isinstance(one, str) and 0 < len(one) <= most for one in value):
            raise RefusedError("bad-request", f"{name} must be a list of texts of 1 to {most:,} characters")
        found[name] = value
    return found


RESOURCES = (
    Resource("GET", "/v1/assignments", changes, is_stream=True),
    Resource("POST", "/v1/assign", assign, Role.OPERATOR),
    Resource("POST", "/v1/forget", forget, Role.OPERATOR),
)
