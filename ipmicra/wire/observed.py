"""What a node observes of hosts while it downloads, as part of its messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ipmicra.errors import MessageError
from ipmicra.wire import fields

_OBSERVED = 9
"""Fields."""
_BITS = 1 << 63


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """What a node saw of a host while it downloaded, since it last told."""

    host: str
    address: str = ""
    pages: int = 0
    received_bytes: int = 0
    waited_s: float = 0.0
    """Sum of the times to the first byte."""
    first_byte_ms: float | None = None
    """Shortest time to the first byte, under load; None if there was no answer."""
    refusals: int = 0
    """Answers 429 and 503."""
    failures: int = 0
    """Requests that got no answer at all."""
    port: int | None = None
    """Where it was asked, if that is not the usual port of http or https."""


def is_address(host: str) -> bool:
    """Return whether a host is an address."""
    try:
        return fields.address({"address": host}, "address") is not None
    except MessageError:
        return False


def observed_fields(one: Observed) -> list[Any]:
    """Return the fields of what was observed, in their order."""
    return [
        one.host,
        one.address,
        one.pages,
        one.received_bytes,
        one.waited_s,
        one.first_byte_ms,
        one.refusals,
        one.failures,
        one.port,
    ]


def read_observed(content: object) -> Observed:
    """Read what was observed; anything else is a `MessageError` that says why."""
    if not isinstance(content, list) or len(content) != _OBSERVED:
        raise MessageError(f"what was observed must be a list of {_OBSERVED}")
    host, address, pages, received, waited_s, first_byte_ms, refusals, failures, port = content
    given = {
        "host": host,
        "address": address or None,
        "pages": pages,
        "bytes": received,
        "waited_s": waited_s,
        "first_byte_ms": first_byte_ms,
        "refusals": refusals,
        "failures": failures,
        "port": port,
    }
    found = fields.address(given, "address")
    if not isinstance(host, str) or not (fields.is_host_name(host) or is_address(host)):
        raise MessageError("an observed host must be a host name")
    return Observed(
        host=host,
        address="" if found is None else str(found),
        pages=fields.whole(given, "pages", 0, _BITS - 1),
        received_bytes=fields.whole(given, "bytes", 0, _BITS - 1),
        waited_s=fields.number(given, "waited_s", 0, 1e9),
        first_byte_ms=fields.number_or_none(given, "first_byte_ms", 0, 3.6e6),
        refusals=fields.whole(given, "refusals", 0, _BITS - 1),
        failures=fields.whole(given, "failures", 0, _BITS - 1),
        port=fields.port(given, "port"),
    )
