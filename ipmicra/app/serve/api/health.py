"""`/v1/health` and `/v1/ready`, for supervisors and load balancers; no token is needed."""

from __future__ import annotations

from starlette.responses import Response

from ipmicra.app.serve.api.calls import OK, Call, Resource

UNAVAILABLE = 503


async def health(call: Call) -> Response:
    """Say that the process lives."""
    return call.answer(call.coordinator.health())


async def ready(call: Call) -> Response:
    """Say whether questions are answered."""
    state = call.coordinator.readiness()
    return call.answer(state, OK if state["is_ready"] else UNAVAILABLE)


RESOURCES = (
    Resource("GET", "/v1/health", health, None),
    Resource("GET", "/v1/ready", ready, None),
)
