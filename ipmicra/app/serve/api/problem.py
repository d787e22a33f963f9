"""Refusals as RFC 9457 has them: `application/problem+json` with type, title, status, detail and next."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from ipmicra.app.serve.refusals import KINDS, RefusedError
from ipmicra.edge.log import EventLog
from ipmicra.edge.web.bodies import BodyError
from ipmicra.errors import InputError, IpmicraError, MessageError, StoreError
from ipmicra.model.foreign_text import json_text

events = EventLog("coordinator")
MEDIA_TYPE = "application/problem+json"
TYPES = "urn:ipmicra:problem:"
"""Begins the type of each problem; `docs/api.md` describes what follows."""
_KIND_OF_STATUS = {400: "bad-request", 404: "not-found", 405: "no-method", 408: "too-slow", 413: "too-large"}


_KIND_OF_ERROR: tuple[tuple[type[IpmicraError], str], ...] = (
    (MessageError, "bad-request"),
    (InputError, "bad-input"),
    (StoreError, "not-ready"),
    (IpmicraError, "conflict"),
)
"""The first that fits."""


def refusal_of(error: Exception) -> RefusedError:
    """Return what a client hears of an error."""
    if isinstance(error, RefusedError):
        return error
    if isinstance(error, BodyError):
        return RefusedError(_KIND_OF_STATUS.get(error.status, "bad-request"), str(error))
    kind = next((kind for type_, kind in _KIND_OF_ERROR if isinstance(error, type_)), None)
    if kind is not None:
        return RefusedError(kind, str(error))
    events.warning("request_failed", "{error}", error=f"{type(error).__name__}: {error}")
    return RefusedError("internal", type(error).__name__)


def describe_problem(refusal: RefusedError) -> dict[str, Any]:
    """Describe a refusal."""
    kind = refusal.kind
    return {
        "type": f"{TYPES}{kind.name}",
        "title": kind.title,
        "status": kind.status,
        "detail": refusal.detail,
        "next": kind.next_step,
    }


def problem(refusal: RefusedError, **headers: str) -> Response:
    """Return the response of a refusal."""
    if refusal.kind.retry_s is not None:
        headers["Retry-After"] = str(refusal.kind.retry_s)
    if refusal.kind is KINDS["unauthenticated"]:
        headers["WWW-Authenticate"] = "Bearer"
    return Response(
        json_text(describe_problem(refusal)),
        status_code=refusal.kind.status,
        media_type=MEDIA_TYPE,
        headers=headers,
    )
