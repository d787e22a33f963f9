"""Messages from the coordinator to an agent: orders to probe."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from ipmicra.errors import MessageError
from ipmicra.model.address import Address
from ipmicra.model.sample import Rung
from ipmicra.wire import fields
from ipmicra.wire.limits import LIMITS, VERSION, WireLimits

_ID = re.compile("[A-Za-z0-9_-]{1,64}")
_REQUEST = frozenset({"version", "only_repeat", "orders"})
_ORDER = frozenset("id address host scheme port samples timeout_ms wait_ms first_rung".split())
_SCHEMES = (None, "http", "https")


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeRequest:
    """A batch of orders."""

    orders: tuple[ProbeOrder, ...]
    only_repeat: bool = False
    """Ask for answers that were given before; nothing is probed again."""


def longest_s(order: ProbeOrder, limits: WireLimits = LIMITS) -> float:
    """Return how long an agent may take to answer: the wait for its turn, then all round trips it may try."""
    return (order.wait_ms + (order.samples + limits.max_failures) * order.timeout_ms) / 1e3


def encode_request(request: ProbeRequest) -> bytes:
    """Write a request as JSON."""
    orders = [_order_fields(order) for order in request.orders]
    content = {"version": VERSION, "only_repeat": request.only_repeat, "orders": orders}
    return json.dumps(content, separators=(",", ":")).encode()


def decode_request(data: bytes, limits: WireLimits = LIMITS) -> ProbeRequest:
    """Read a request; anything that is not one is a `MessageError` that says why."""
    content = fields.read_object(data, limits.max_request_bytes)
    fields.known_only(content, _REQUEST)
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
    )
    if order.address is None and order.host is None:
        raise MessageError("an order needs an address or a host")
    return order
