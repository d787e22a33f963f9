"""The messages: orders to probe from the coordinator to an agent, and the agent's answers, line by line."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from ipmicra.errors import MessageError
from ipmicra.model.address import Address
from ipmicra.model.sample import Loss, Rung, Timings
from ipmicra.wire import fields
from ipmicra.wire.limits import LIMITS, VERSION, VERSIONS, WireLimits

_ID = re.compile("[A-Za-z0-9_-]{1,64}")
_REQUEST = frozenset({"version", "only_repeat", "orders"})
_ORDER = frozenset("id address host scheme port samples timeout_ms wait_ms first_rung download".split())
_SCHEMES = (None, "http", "https")
_ANSWER = frozenset("version kind order address rtt_ms loss rung all_ms timings detail taken_s".split())
_END = frozenset({"version", "kind", "count"})
_TIMINGS = frozenset({"dns_ms", "tcp_ms", "tls_ms", "first_byte_ms", "download_ms"})
_encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
_LATEST_S = 4e11
"""Far beyond any clock: the year 14645."""


# --- orders


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeOrder:
    """One probe that an agent is asked for."""

    id: str
    """Chosen by the coordinator; the same id never means another probe."""
    address: Address | None = None
    """Where to; None lets the agent resolve the host."""
    host: str | None = None
    """Name for the Host header and for TLS."""
    scheme: str | None = None
    port: int | None = None
    samples: int = 3
    """Round trips to take; the shortest counts."""
    timeout_ms: float = 2_000.0
    """Longest time for one round trip."""
    wait_ms: float = 10_000.0
    """Longest time the order may wait until politeness allows it."""
    first_rung: Rung = Rung.TCP
    """Where the ladder starts."""
    download: bool = False
    """Whether to download the main page too, once, and to time that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeRequest:
    """A batch of orders."""

    orders: tuple[ProbeOrder, ...]
    only_repeat: bool = False
    """Ask for answers that were given before; nothing is probed again."""


def longest_s(order: ProbeOrder, limits: WireLimits = LIMITS) -> float:
    """Return how long an agent may take to answer: the wait for its turn, then all round trips it may try."""
    return (order.wait_ms + (order.samples + order.download + limits.max_failures) * order.timeout_ms) / 1e3


def encode_request(request: ProbeRequest) -> bytes:
    """Write a request as JSON."""
    content = {"version": VERSION, **request_fields(request)}
    return json.dumps(content, separators=(",", ":")).encode()


def request_fields(request: ProbeRequest) -> dict[str, Any]:
    """Return the fields of a request."""
    orders = [_order_fields(order) for order in request.orders]
    return {"only_repeat": request.only_repeat, "orders": orders}


def decode_request(data: bytes, limits: WireLimits = LIMITS) -> ProbeRequest:
    """Read a request; anything that is not one is a `MessageError` that says why."""
    content = fields.read_object(data, limits.max_request_bytes)
    fields.known_only(content, _REQUEST)
    return read_request(content, limits)


def read_request(content: fields.Object, limits: WireLimits) -> ProbeRequest:
    """Read the fields of a request."""
    orders = content.get("orders")
    if not isinstance(orders, list) or not orders:
        raise MessageError("orders must be a list of at least one")
    if len(orders) > limits.max_orders:
        raise MessageError(f"{len(orders):,} orders are over the limit of {limits.max_orders:,}")
    read = tuple(_read_order(order, limits) for order in orders)
    if len({order.id for order in read}) < len(read):
        raise MessageError("two orders have the same id")
    return ProbeRequest(orders=read, only_repeat=fields.flag(content, "only_repeat"))


def _order_fields(order: ProbeOrder) -> dict[str, Any]:
    return {
        "id": order.id,
        "address": None if order.address is None else str(order.address),
        "host": order.host,
        "scheme": order.scheme,
        "port": order.port,
        "samples": order.samples,
        "timeout_ms": order.timeout_ms,
        "wait_ms": order.wait_ms,
        "first_rung": order.first_rung.value,
        **({"download": True} if order.download else {}),  # agents of before do not know the word
    }


def _read_order(content: object, limits: WireLimits) -> ProbeOrder:
    if not isinstance(content, dict):
        raise MessageError("an order must be an object")
    fields.known_only(content, _ORDER)
    name = content.get("id")
    if not isinstance(name, str) or not _ID.fullmatch(name):
        raise MessageError("id must have 1 to 64 letters, digits, `-` or `_`")
    scheme = content.get("scheme")
    if not isinstance(scheme, str | None) or scheme not in _SCHEMES:
        raise MessageError("scheme must be http or https")
    order = ProbeOrder(
        id=name,
        address=fields.address(content, "address"),
        host=fields.host(content, "host"),
        scheme=scheme,
        port=fields.port(content, "port"),
        samples=fields.whole(content, "samples", 1, limits.max_samples, default=3),
        timeout_ms=fields.number(content, "timeout_ms", 1, limits.max_timeout_ms, default=2_000.0),
        wait_ms=fields.number(content, "wait_ms", 0, limits.max_wait_ms, default=10_000.0),
        first_rung=fields.word(content, "first_rung", Rung) or Rung.TCP,
        download=fields.flag(content, "download"),
    )
    if order.address is None and order.host is None:
        raise MessageError("an order needs an address or a host")
    return order


# --- answers


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
    content = {"version": VERSION, "kind": "answer", **answer_fields(answer)}
    return _encode(content).encode() + b"\n"


def answer_fields(answer: Answer) -> dict[str, Any]:
    """Return the fields of an answer."""
    return {
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
        return read_end(content, limits.max_orders)
    if content.get("kind") != "answer":
        raise MessageError("kind must be answer or end")
    fields.known_only(content, _ANSWER)
    return read_answer(content, limits)


def read_answer(content: fields.Object, limits: WireLimits) -> Answer:
    """Read the fields of an answer."""
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


def read_end(content: fields.Object, most: int) -> End:
    """Read the end of an answer of so many lines at most."""
    fields.known_only(content, _END)
    return End(count=fields.whole(content, "count", 0, most))


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
        **({} if timings.download_ms is None else {"download_ms": timings.download_ms}),
    }


def _read_timings(content: object, limits: WireLimits) -> Timings | None:
    if content is None:
        return None
    if not isinstance(content, dict):
        raise MessageError("timings must be an object")
    fields.known_only(content, _TIMINGS)
    return Timings(**{name: fields.number_or_none(content, name, 0, limits.max_rtt_ms) for name in _TIMINGS})
