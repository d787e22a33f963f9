"""`/v1/health`, `/v1/ready` and the description of the API; no token is needed for them."""

from __future__ import annotations

from starlette.responses import Response

from ipmicra.app.serve.api.calls import OK, Call, Resource
from ipmicra.app.serve.api.described import document

UNAVAILABLE = 503


async def health(call: Call) -> Response:
    """Say that the process lives."""
    return call.answer(call.coordinator.health())


async def ready(call: Call) -> Response:
    """Say whether questions are answered."""
    state = call.coordinator.readiness()
    return call.answer(state, OK if state["is_ready"] else UNAVAILABLE)


async def openapi(_call: Call) -> Response:
    """Return the description of the API."""
    return Response(document(), media_type="application/json")


RESOURCES = (
    Resource("GET", "/v1/openapi.json", openapi, None),
    Resource("GET", "/v1/health", health, None),
    Resource("GET", "/v1/ready", ready, None),
)
