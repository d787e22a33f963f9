"""Single fields of messages, named after what somebody might try."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ipmicra.errors import MessageError
from ipmicra.wire.limits import LIMITS
from ipmicra.wire.messages import ProbeOrder, decode_line, decode_request

GOOD: dict[str, Any] = {"id": "a", "address": "192.0.2.1"}


def request(*orders: object, **more: object) -> bytes:
    return json.dumps({"version": 1, "orders": orders, **more}).encode()


def test_shortest_order_has_the_defaults() -> None:
    (order,) = decode_request(request(GOOD)).orders
    assert (order.samples, order.timeout_ms, order.first_rung) == (3, 2000.0, "tcp")
    assert order == ProbeOrder(id="a", address=order.address)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        pytest.param("host", "a\r\nX-Evil: 1", id="header injection"),
        pytest.param("host", "a b", id="space in a host"),
        pytest.param("host", "-a.example", id="host that looks like an option"),
        pytest.param("host", "a..example", id="empty label"),
        pytest.param("host", "ex\u00e4mple.com", id="host that is not ASCII"),
        pytest.param("host", "a" * 64, id="label too long"),
        pytest.param("host", "a.example\n", id="line end after a host"),
        pytest.param("address", "fe80::1%eth0", id="scope in an address"),
        pytest.param("address", "0x7f.1", id="address in an odd form"),
        pytest.param("address", "192.0.2.0/24", id="prefix for an address"),
        pytest.param("address", 2130706433, id="number for an address"),
        pytest.param("port", 0, id="port zero"),
        pytest.param("port", 65536, id="port too high"),
        pytest.param("port", True, id="truth for a port"),
        pytest.param("scheme", "gopher", id="another scheme"),
        pytest.param("scheme", [], id="list for a scheme"),
        pytest.param("samples", 1000, id="flood by samples"),
        pytest.param("samples", 0, id="no samples"),
        pytest.param("timeout_ms", 1e9, id="endless time"),
        pytest.param("timeout_ms", "2000", id="text for a number"),
        pytest.param("first_rung", "shell", id="rung that is none"),
        pytest.param("id", "../../etc", id="path for an id"),
        pytest.param("id", "", id="no id"),
        pytest.param("path", "/admin", id="a field that is not there"),
    ],
)
def test_order_is_refused(field: str, value: object) -> None:
    with pytest.raises(MessageError):
        decode_request(request({**GOOD, field: value}))


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(request(), id="no orders"),
        pytest.param(request(GOOD, GOOD), id="the same id twice"),
        pytest.param(request(*({"id": str(i), "address": "192.0.2.1"} for i in range(1001))), id="too many"),
        pytest.param(request("a"), id="an order that is a text"),
        pytest.param(request({"id": "a"}), id="neither address nor host"),
        pytest.param(request(GOOD, only_repeat=1), id="a number for a truth"),
        pytest.param(request(GOOD, more=1), id="a field that is not there"),
        pytest.param(b" " * (LIMITS.max_request_bytes + 1), id="too long"),
        pytest.param(b"[" * 100_000, id="deep nesting"),
        pytest.param(b'{"version": 1e999}', id="infinite version"),
        pytest.param(b'{"version": NaN}', id="a version that is not a number"),
        pytest.param(b"\xff\xfe", id="no text"),
    ],
)
def test_request_is_refused(data: bytes) -> None:
    with pytest.raises(MessageError):
        decode_request(data)


def answer(**fields: object) -> bytes:
    whole = {"version": 1, "kind": "answer", "order": "a", "address": "192.0.2.1", "taken_s": 1, **fields}
    return json.dumps(whole).encode()


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(answer(), id="neither round trip nor loss"),
        pytest.param(answer(rtt_ms=1, all_ms=[1], rung="tcp", loss="timeout"), id="both"),
        pytest.param(answer(rtt_ms=-1, all_ms=[-1], rung="tcp"), id="negative round trip"),
        pytest.param(answer(rtt_ms=1, all_ms=[2, 3], rung="tcp"), id="not the least"),
        pytest.param(answer(rtt_ms=1, all_ms=[], rung="tcp"), id="out of nothing"),
        pytest.param(answer(rtt_ms=1, all_ms=[1] * 99, rung="tcp"), id="too many round trips"),
        pytest.param(answer(rtt_ms=1, all_ms=[1]), id="no rung"),
        pytest.param(answer(rtt_ms=1e12, all_ms=[1e12], rung="tcp"), id="longer than any wait"),
        pytest.param(answer(loss="mood"), id="a loss that is none"),
        pytest.param(answer(loss="timeout", detail="x" * 5000), id="a detail that floods"),
        pytest.param(answer(loss="timeout", timings=[1]), id="timings that are a list"),
        pytest.param(b'{"version": 1, "kind": "end", "count": -1}', id="less than nothing"),
        pytest.param(b'{"version": 1, "kind": "other"}', id="another kind"),
    ],
)
def test_answer_is_refused(data: bytes) -> None:
    with pytest.raises(MessageError):
        decode_line(data)
