"""Messages between coordinators of one database: sites to be decided, and the decisions as they come.

A request is a JSON object with sites; the answer is a line of JSON for each site, in the order in which they
are decided: a decision, or why there is none. A site that is no longer decided by the one who was asked has
neither.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from ipmicra.errors import MessageError
from ipmicra.model.address import Address
from ipmicra.model.delegation import Decision, Evidence, Origin
from ipmicra.model.site import Site
from ipmicra.wire import fields
from ipmicra.wire.limits import LIMITS, VERSION, WireLimits

MAX_SITES = 500
_WISH = frozenset({"host", "address", "scheme", "port", "batch", "assigns"})
_ANSWER = frozenset({"version", "host", "decision", "reason"})
_DECISION = frozenset("address first last crawler evidence rtt_ms probes inherited_from".split())
_ORIGIN = frozenset({"first", "last", "measured_s"})
_LAST_BATCH, _LONGEST_HOST, _MOST_PROBES, _LATEST_S = (1 << 63) - 1, 253, 1_000_000, 4e11
_encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerWish:
    """A site that another coordinator is asked to decide."""

    site: Site
    batch: int | None = None
    """The batch that pays for its probes; None for the one of whoever decides."""
    assigns: bool = False
    """Whether it is to be assigned, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerAnswer:
    """What came of a site; with neither decision nor reason it is somebody else's by now."""

    host: str
    decision: Decision | None = None
    """Written before it is sent."""
    reason: str | None = None
    """Why there is none."""


def encode_wishes(wishes: list[PeerWish]) -> bytes:
    """Write a request as JSON."""
    sites = [
        {
            "host": one.site.host,
            "address": str(one.site.address),
            "scheme": one.site.scheme,
            "port": one.site.port,
            "batch": one.batch,
            "assigns": one.assigns,
        }
        for one in wishes
    ]
    return _encode({"version": VERSION, "sites": sites}).encode()


def decode_wishes(data: bytes, limits: WireLimits = LIMITS) -> list[PeerWish]:
    """Read a request; anything that is not one is a `MessageError` that says why."""
    content = fields.read_object(data, limits.max_request_bytes)
    fields.known_only(content, frozenset({"version", "sites"}))
    sites = content.get("sites")
    if not isinstance(sites, list) or not 0 < len(sites) <= MAX_SITES:
        raise MessageError(f"sites must be a list of 1 to {MAX_SITES}")
    wishes = [_read_wish(one) for one in sites]
    if len({one.site.host for one in wishes}) < len(wishes):
        raise MessageError("two sites have the same host")
    return wishes


def _read_wish(content: object) -> PeerWish:
    if not isinstance(content, dict):
        raise MessageError("a site must be an object")
    fields.known_only(content, _WISH)
    host, address = fields.text(content, "host", _LONGEST_HOST), _address(content, "address")
    if not (fields.is_host_name(host) or host == str(address)):
        raise MessageError("host must be a host name, or the text of the address")
    scheme = content.get("scheme")
    if not isinstance(scheme, str | None) or scheme not in {None, "http", "https"}:
        raise MessageError("scheme must be http or https")
    has_batch = content.get("batch") is not None
    return PeerWish(
        site=Site(host, address, scheme, fields.port(content, "port")),
        batch=fields.whole(content, "batch", 1, _LAST_BATCH) if has_batch else None,
        assigns=fields.flag(content, "assigns"),
    )


def encode_peer_answer(answer: PeerAnswer) -> bytes:
    """Write an answer as one line of JSON."""
    decision = None if answer.decision is None else _decision_fields(answer.decision)
    content = {"version": VERSION, "host": answer.host, "decision": decision, "reason": answer.reason}
    return _encode(content).encode() + b"\n"


def decode_peer_answer(data: bytes, limits: WireLimits = LIMITS) -> PeerAnswer:
    """Read an answer; anything that is not one is a `MessageError` that says why."""
    content = fields.read_object(data, limits.max_line_bytes)
    fields.known_only(content, _ANSWER)
    host, decision = fields.text(content, "host", _LONGEST_HOST), content.get("decision")
    has_reason = content.get("reason") is not None
    if decision is not None and has_reason:
        raise MessageError("a decision or a reason, and not both")
    return PeerAnswer(
        host=host,
        decision=None if decision is None else _read_decision(host, decision, limits),
        reason=fields.text(content, "reason", limits.max_line_bytes) if has_reason else None,
    )


def _decision_fields(one: Decision) -> dict[str, Any]:
    origin = one.inherited_from
    return {
        "address": str(one.address),
        "first": str(one.first),
        "last": str(one.last),
        "crawler": one.crawler,
        "evidence": one.evidence.value,
        "rtt_ms": one.rtt_ms,
        "probes": one.probes,
        "inherited_from": None
        if origin is None
        else {"first": str(origin.first), "last": str(origin.last), "measured_s": origin.measured_s},
    }


def _read_decision(host: str, content: object, limits: WireLimits) -> Decision:
    if not isinstance(content, dict):
        raise MessageError("decision must be an object")
    fields.known_only(content, _DECISION)
    evidence = fields.word(content, "evidence", Evidence)
    if evidence is None:
        raise MessageError("a decision has an evidence")
    return Decision(
        host=host,
        address=_address(content, "address"),
        first=_address(content, "first"),
        last=_address(content, "last"),
        crawler=fields.text(content, "crawler", 64),
        evidence=evidence,
        rtt_ms=fields.number_or_none(content, "rtt_ms", 0, limits.max_rtt_ms),
        probes=fields.whole(content, "probes", 0, _MOST_PROBES),
        inherited_from=_read_origin(content.get("inherited_from")),
    )


def _read_origin(content: object) -> Origin | None:
    if content is None:
        return None
    if not isinstance(content, dict):
        raise MessageError("inherited_from must be an object")
    fields.known_only(content, _ORIGIN)
    measured_s = fields.number_or_none(content, "measured_s", 0, _LATEST_S)
    return Origin(_address(content, "first"), _address(content, "last"), measured_s)


def _address(content: fields.Object, name: str) -> Address:
    found = fields.address(content, name)
    if found is None:
        raise MessageError(f"{name} is missing")
    return found
