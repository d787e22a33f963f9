"""Names that an agent is asked to resolve where it stands, and its answers, line by line.

These messages joined version 1 later than the others: an agent that does not know them says that there is no
such request, and goes on understanding all others.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from ipmicra.errors import MessageError
from ipmicra.model.address import Address
from ipmicra.model.name import NameStatus
from ipmicra.wire import fields
from ipmicra.wire.limits import LIMITS, VERSION, WireLimits
from ipmicra.wire.messages import End, read_end

_REQUEST = frozenset({"version", "names", "timeout_ms"})
_NAME = frozenset({"version", "kind", "name", "status", "addresses", "ttl_s"})


@dataclass(frozen=True, slots=True, kw_only=True)
class NamesRequest:
    """Names to resolve."""

    names: tuple[str, ...]
    """Each once, in lower case, without a dot at the end."""
    timeout_ms: float = 10_000.0
    """Time for all of them; what is not resolved by then is answered as such."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedName:
    """What an agent's resolver says about a name."""

    name: str
    status: NameStatus
    addresses: tuple[Address, ...] = ()
    """Those that the agent may probe, in order; there are some if and only if the name was found."""
    ttl_s: float = 0.0
    """How long the answer holds."""


def encode_names(request: NamesRequest) -> bytes:
    """Write a request as JSON."""
    content = {"version": VERSION, **names_fields(request)}
    return json.dumps(content, separators=(",", ":")).encode()


def names_fields(request: NamesRequest) -> dict[str, Any]:
    """Return the fields of a request."""
    return {"names": request.names, "timeout_ms": request.timeout_ms}


def decode_names(data: bytes, limits: WireLimits = LIMITS) -> NamesRequest:
    """Read a request; anything that is not one is a `MessageError` that says why."""
    content = fields.read_object(data, limits.max_request_bytes)
    fields.known_only(content, _REQUEST)
    return read_names(content, limits)


def read_names(content: fields.Object, limits: WireLimits) -> NamesRequest:
    """Read the fields of a request."""
    names = content.get("names")
    if not isinstance(names, list) or not names:
        raise MessageError("names must be a list of at least one")
    if len(names) > limits.max_names:
        raise MessageError(f"{len(names):,} names are over the limit of {limits.max_names:,}")
    read = tuple(_read_name({"name": name}) for name in names)
    if len(set(read)) < len(read):
        raise MessageError("a name is there twice")
    timeout_ms = fields.number(content, "timeout_ms", 1, limits.max_names_ms, default=10_000.0)
    return NamesRequest(names=read, timeout_ms=timeout_ms)


def encode_name(resolved: ResolvedName) -> bytes:
    """Write what became of a name as one line of JSON."""
    content = {"version": VERSION, "kind": "name", **resolved_fields(resolved)}
    return json.dumps(content, separators=(",", ":")).encode() + b"\n"


def resolved_fields(resolved: ResolvedName) -> dict[str, Any]:
    """Return the fields of what became of a name."""
    return {
        "name": resolved.name,
        "status": resolved.status.value,
        "addresses": [str(address) for address in resolved.addresses],
        "ttl_s": resolved.ttl_s,
    }


def decode_name_line(data: bytes, limits: WireLimits = LIMITS) -> ResolvedName | End:
    """Read a line of an answer; anything that is not one is a `MessageError` that says why."""
    content = fields.read_object(data, limits.max_line_bytes)
    if content.get("kind") == "end":
        return read_end(content, limits.max_names)
    if content.get("kind") != "name":
        raise MessageError("kind must be name or end")
    fields.known_only(content, _NAME)
    return read_resolved(content, limits)


def read_resolved(content: fields.Object, limits: WireLimits) -> ResolvedName:
    """Read the fields of what became of a name."""
    status = fields.word(content, "status", NameStatus)
    if status is None:
        raise MessageError("a name without a status")
    addresses = _read_addresses(content, limits)
    if bool(addresses) != (status is NameStatus.FOUND):
        raise MessageError("addresses if and only if the name was found")
    ttl_s = fields.number(content, "ttl_s", 0, limits.max_ttl_s, default=0.0)
    return ResolvedName(name=_read_name(content), status=status, addresses=addresses, ttl_s=ttl_s)


def _read_name(content: fields.Object) -> str:
    name = fields.host(content, "name")
    if name is None:
        raise MessageError("a name must be a text")
    return name


def _read_addresses(content: fields.Object, limits: WireLimits) -> tuple[Address, ...]:
    values = content.get("addresses", [])
    if not isinstance(values, list) or len(values) > limits.max_addresses:
        raise MessageError(f"addresses must be a list of at most {limits.max_addresses}")
    read = [fields.address({"address": value}, "address") for value in values]
    found = tuple(address for address in read if address is not None)
    if len(set(found)) < len(values):
        raise MessageError("an address is empty, or there twice")
    return found
