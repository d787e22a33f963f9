"""Messages from an agent to the coordinator: samples, line by line."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from ipmicra.errors import MessageError
from ipmicra.model.address import Address
from ipmicra.model.sample import Loss, Rung, Timings
from ipmicra.wire import fields
from ipmicra.wire.limits import LIMITS, VERSION, VERSIONS, WireLimits

_ANSWER = frozenset("version kind order address rtt_ms loss rung all_ms timings detail taken_s".split())
_END = frozenset({"version", "kind", "count"})
_TIMINGS = frozenset({"dns_ms", "tcp_ms", "tls_ms", "first_byte_ms"})
_encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
_LATEST_S = 4e11
"""Far beyond any clock: the year 14645."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The result of one order; who answered is known from the connection, not from the message."""

    order: str
    address: Address | None
    """What was probed; None if the host could not be resolved."""
    rtt_ms: float | None = None
    loss: Loss | None = None
    rung: Rung | None = None
    all_ms: tuple[float, ...] = ()
    timings: Timings | None = None
    detail: str = ""
    taken_s: float = 0.0
    """Seconds since 1970, UTC, by the agent's clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """All orders of a request are answered."""

    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorMessage:
    """Why an agent did not take a request."""

    error: str
    versions: tuple[int, ...] = VERSIONS
    """Versions that the agent speaks."""


def encode_answer(answer: Answer) -> bytes:
    """Write an answer as one line of JSON."""
    content: dict[str, Any] = {
        "version": VERSION,
        "kind": "answer",
        "order": answer.order,
        "address": None if answer.address is None else str(answer.address),
        "rtt_ms": answer.rtt_ms,
        "loss": None if answer.loss is None else answer.loss.value,
        "rung": None if answer.rung is None else answer.rung.value,
        "all_ms": answer.all_ms,
        "timings": _timing_fields(answer.timings),
        "detail": answer.detail,
        "taken_s": answer.taken_s,
    }
    return _encode(content).encode() + b"\n"


def encode_end(end: End) -> bytes:
    """Write the end as one line of JSON."""
    return json.dumps({"version": VERSION, "kind": "end", "count": end.count}).encode() + b"\n"


def encode_error(message: ErrorMessage) -> bytes:
    """Write an error as JSON."""
    content = {"version": VERSION, "error": message.error, "versions": message.versions}
    return json.dumps(content).encode() + b"\n"


def decode_line(data: bytes, limits: WireLimits = LIMITS) -> Answer | End:
    """Read a line of an answer; anything that is not one is a `MessageError` that says why."""
    content = fields.read_object(data, limits.max_line_bytes)
    if content.get("kind") == "end":
        fields.known_only(content, _END)
        return End(count=fields.whole(content, "count", 0, limits.max_orders))
    if content.get("kind") != "answer":
        raise MessageError("kind must be answer or end")
    fields.known_only(content, _ANSWER)
    answer = Answer(
        order=fields.text(content, "order", 64),
        address=fields.address(content, "address"),
        rtt_ms=fields.number_or_none(content, "rtt_ms", 0, limits.max_rtt_ms),
        loss=fields.word(content, "loss", Loss),
        rung=fields.word(content, "rung", Rung),
        all_ms=_all_ms(content, limits),
        timings=_read_timings(content.get("timings"), limits),
        detail=fields.text(content, "detail", limits.max_detail, default=""),
        taken_s=fields.number(content, "taken_s", 0, _LATEST_S, default=0.0),
    )
    _check_sense(answer)
    return answer


def decode_error(data: bytes, limits: WireLimits = LIMITS) -> ErrorMessage:
    """Read an agent's error; its version is not checked, since it may be about versions."""
    content = fields.read_json(data, limits.max_line_bytes)
    reason = fields.text(content, "error", limits.max_line_bytes)
    versions = content.get("versions", [])
    if not isinstance(versions, list) or not all(type(one) is int for one in versions):
        raise MessageError("versions must be a list of whole numbers")
    return ErrorMessage(error=reason[: limits.max_detail], versions=tuple(versions))


def _check_sense(answer: Answer) -> None:
    """Refuse an answer whose parts contradict each other."""
    if (answer.rtt_ms is None) != (answer.loss is not None):
        raise MessageError("a round trip or a loss, and not both")
    if answer.rtt_ms is None:
        return
    if answer.address is None or answer.rung is None:
        raise MessageError("a round trip without an address or rung")
    if not answer.all_ms or min(answer.all_ms) != answer.rtt_ms:
        raise MessageError("rtt_ms is not the least of all_ms")


def _all_ms(content: fields.Object, limits: WireLimits) -> tuple[float, ...]:
    values = content.get("all_ms", [])
    if not isinstance(values, list) or len(values) > limits.max_samples:
        raise MessageError(f"all_ms must be a list of at most {limits.max_samples}")
    return tuple(fields.bounded(one, "all_ms", 0, limits.max_rtt_ms) for one in values)


def _timing_fields(timings: Timings | None) -> dict[str, float | None] | None:
    if timings is None:
        return None
    return {
        "dns_ms": timings.dns_ms,
        "tcp_ms": timings.tcp_ms,
        "tls_ms": timings.tls_ms,
        "first_byte_ms": timings.first_byte_ms,
    }


def _read_timings(content: object, limits: WireLimits) -> Timings | None:
    if content is None:
        return None
    if not isinstance(content, dict):
        raise MessageError("timings must be an object")
    fields.known_only(content, _TIMINGS)
    return Timings(**{name: fields.number_or_none(content, name, 0, limits.max_rtt_ms) for name in _TIMINGS})
