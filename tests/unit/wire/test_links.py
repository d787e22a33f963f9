"""Messages between nodes and mailboxes come out as they went in, and nonsense is refused with a reason."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.errors import MessageError
from ipmicra.model.link import Link
from ipmicra.wire.links import (
    DeliveredLink,
    ExchangeAnswer,
    ExchangeRequest,
    JoinAnswer,
    JoinRequest,
    decode_exchange,
    decode_exchanged,
    decode_join,
    decode_joined,
    encode_exchange,
    encode_exchanged,
    encode_join,
    encode_joined,
)
from ipmicra.wire.observed import Observed

BITS = 1 << 63
texts = st.text(st.characters(codec="utf-8"), max_size=40)
links = st.builds(
    Link,
    url=texts.map("http://a.example/{}".format),
    host=st.sampled_from(["a.example", "xn--bcher-kva.example", "192.0.2.1", "2001:db8::1"]),
    depth=st.integers(0, 1000),
    priority=st.integers(-BITS, BITS - 1),
    key=st.integers(-BITS, BITS - 1),
    extra=texts,
)
numbers = st.integers(1, BITS - 1)
keys = st.integers(-BITS, BITS - 1)
slots = st.sampled_from(["192.0.2.0/24", "a.example"])
observed = st.builds(
    Observed,
    host=st.just("a.example"),
    address=st.sampled_from(["", "192.0.2.1"]),
    pages=st.integers(0, 9),
    failures=st.integers(0, 9),
    port=st.none() | st.integers(1, 65535),
)
requests = st.builds(
    ExchangeRequest,
    session=st.just("abc"),
    received=st.integers(0, 99),
    links=st.lists(links, max_size=3).map(tuple),
    claimed=st.lists(keys, max_size=3).map(tuple),
    done=st.lists(numbers, max_size=3).map(tuple),
    fetched=st.lists(keys, max_size=3).map(tuple),
    holding=st.integers(0, 9),
    released=st.lists(slots, max_size=2).map(tuple),
    room=st.integers(0, 1000),
    is_idle=st.booleans(),
    is_leaving=st.booleans(),
    wait_s=st.floats(0, 60),
    observed=st.lists(observed, max_size=2).map(tuple),
)
delivered = st.builds(
    DeliveredLink, number=numbers, link=links, slot=slots, is_moved=st.booleans(), is_open=st.booleans()
)
answers = st.builds(
    ExchangeAnswer,
    delivery=st.integers(0, 99),
    links=st.lists(delivered, max_size=3).map(tuple),
    lost=st.lists(slots, max_size=2).map(tuple),
)


@given(requests)
def test_what_a_node_says_is_read_as_it_was_written(request: ExchangeRequest) -> None:
    assert decode_exchange(encode_exchange(request)) == request


@given(answers)
def test_what_a_node_hears_is_read_as_it_was_written(answer: ExchangeAnswer) -> None:
    assert decode_exchanged(encode_exchanged(answer)) == answer


def test_joining_is_read_as_it_was_written() -> None:
    for run in (None, 7):
        request = JoinRequest(node="fra-1", crawler="fra", run=run)
        assert decode_join(encode_join(request)) == request
    answer = JoinAnswer(run=7, session="abc", lease_s=15.0)
    assert decode_joined(encode_joined(answer)) == answer


GOOD: dict[str, Any] = {"version": 1, "session": "abc"}
LINK = [1, "http://a.example/", "a.example", 0, 0, ""]


@pytest.mark.parametrize(
    "wrong",
    [
        {"version": 2},
        {"session": "a b"},
        {"session": None},
        {"link": []},
        {"links": {}},
        {"links": [[]]},
        {"links": [LINK[:-1]]},
        {"links": [[*LINK, 1]]},
        {"links": [[True, *LINK[1:]]]},
        {"links": [[1 << 63, *LINK[1:]]]},
        {"links": [[1, "file:///etc/passwd", *LINK[2:]]]},
        {"links": [[1, LINK[1], "a b", *LINK[3:]]]},
        {"links": [[1, LINK[1], "a.example\r\nx", *LINK[3:]]]},
        {"links": [[1, "http://a/" + "x" * 9000, *LINK[2:]]]},
        {"links": [[*LINK[:5], "x" * 20_000]]},
        {"links": [LINK] * 2_001},
        {"done": [0]},
        {"done": [1.0]},
        {"claimed": [BITS]},
        {"fetched": ["1"]},
        {"holding": -1},
        {"released": [""]},
        {"room": -1},
        {"wait_s": 1e9},
        {"is_idle": 1},
        {"observed": [["a.example"]]},
    ],
)
def test_nonsense_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(MessageError):
        decode_exchange(json.dumps(GOOD | wrong).encode())


@given(
    st.binary(max_size=200)
    | st.recursive(st.none() | st.integers() | texts, st.lists).map(
        lambda value: json.dumps({**GOOD, "links": value}).encode()
    )
)
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with suppress(MessageError):
        decode_exchange(data)
