"""Messages between coordinator and agent: what is written is read, and nothing else gets through."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ipmicra.errors import InputError, MessageError, UnknownVersionError
from ipmicra.model.address import Address
from ipmicra.model.delegation import Decision, Evidence, Origin
from ipmicra.model.name import NameStatus
from ipmicra.model.sample import Loss, Rung, Timings
from ipmicra.model.site import Site
from ipmicra.wire.joining import (
    JoinAnswer,
    JoinRequest,
    JoinToken,
    decode_join,
    decode_join_token,
    decode_joined,
    encode_join,
    encode_join_token,
    encode_joined,
)
from ipmicra.wire.limits import LIMITS, VERSION
from ipmicra.wire.messages import (
    Answer,
    End,
    ErrorMessage,
    ProbeOrder,
    ProbeRequest,
    decode_error,
    decode_line,
    decode_request,
    encode_answer,
    encode_end,
    encode_error,
    encode_request,
)
from ipmicra.wire.names import (
    NamesRequest,
    ResolvedName,
    decode_name_line,
    decode_names,
    encode_name,
    encode_names,
)
from ipmicra.wire.peers import (
    PeerAnswer,
    PeerWish,
    decode_peer_answer,
    decode_wishes,
    encode_peer_answer,
    encode_wishes,
)
from ipmicra.wire.polling import (
    PollAnswer,
    PollRequest,
    Refusal,
    Results,
    Work,
    decode_poll,
    decode_polled,
    decode_results,
    encode_poll,
    encode_polled,
    encode_results,
)

ids = st.text("abcXYZ019_-", min_size=1, max_size=64)
labels = st.text("abcxyz019_", min_size=1, max_size=20)
hosts = st.lists(labels, min_size=1, max_size=4).map(".".join)
addresses = st.ip_addresses().filter(lambda a: getattr(a, "ipv4_mapped", None) is None)
milliseconds = st.floats(min_value=0, max_value=LIMITS.max_rtt_ms)
orders = st.builds(
    ProbeOrder,
    id=ids,
    address=addresses,
    host=st.none() | hosts,
    scheme=st.sampled_from([None, "http", "https"]),
    port=st.none() | st.integers(1, 65535),
    samples=st.integers(1, LIMITS.max_samples),
    timeout_ms=st.floats(min_value=1, max_value=LIMITS.max_timeout_ms),
    wait_ms=st.floats(min_value=0, max_value=LIMITS.max_wait_ms),
    first_rung=st.sampled_from(Rung),
    download=st.booleans(),
)
requests = st.builds(
    ProbeRequest,
    orders=st.lists(orders, min_size=1, max_size=5, unique_by=lambda order: order.id).map(tuple),
    only_repeat=st.booleans(),
)
parts = st.none() | milliseconds
facts = {
    "order": ids,
    "timings": st.none()
    | st.builds(Timings, dns_ms=parts, tcp_ms=parts, tls_ms=parts, first_byte_ms=parts, download_ms=parts),
    "detail": st.text(st.characters(exclude_categories=["Cs"]), max_size=LIMITS.max_detail),
    "taken_s": st.floats(min_value=0, max_value=4e9),
}
arrived = st.lists(milliseconds, min_size=1, max_size=LIMITS.max_samples).flatmap(
    lambda all_ms: st.builds(
        Answer,
        address=addresses,
        rtt_ms=st.just(min(all_ms)),
        rung=st.sampled_from(Rung),
        all_ms=st.just(tuple(all_ms)),
        **facts,
    )
)
lost = st.builds(Answer, address=st.none() | addresses, loss=st.sampled_from(Loss), **facts)
DECODERS: tuple[Callable[[bytes], object], ...] = (
    decode_request,
    decode_line,
    decode_error,
    decode_names,
    decode_name_line,
    decode_join,
    decode_joined,
    decode_poll,
    decode_polled,
    decode_results,
    decode_wishes,
    decode_peer_answer,
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)


@given(requests)
def test_request_is_read_as_it_was_written(request: ProbeRequest) -> None:
    assert decode_request(encode_request(request)) == request


@given(arrived | lost)
def test_answer_is_read_as_it_was_written(answer: Answer) -> None:
    line = encode_answer(answer)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert decode_line(line) == answer


@given(
    st.lists(hosts, min_size=1, max_size=5, unique=True),
    st.floats(min_value=1, max_value=LIMITS.max_names_ms),
)
def test_names_are_read_as_they_were_written(names: list[str], timeout_ms: float) -> None:
    request = NamesRequest(names=tuple(name.lower() for name in names), timeout_ms=timeout_ms)
    assert decode_names(encode_names(request)) == request


times_to_live = st.floats(min_value=0, max_value=LIMITS.max_ttl_s)
found_names = st.builds(
    ResolvedName,
    name=hosts,
    status=st.just(NameStatus.FOUND),
    addresses=st.lists(addresses, min_size=1, max_size=LIMITS.max_addresses, unique=True).map(tuple),
    ttl_s=times_to_live,
)
other_names = st.builds(
    ResolvedName,
    name=hosts,
    status=st.sampled_from([one for one in NameStatus if one is not NameStatus.FOUND]),
    ttl_s=times_to_live,
)


@given(found_names | other_names)
def test_resolved_name_is_read_as_it_was_written(resolved: ResolvedName) -> None:
    line = encode_name(resolved)
    assert line.count(b"\n") == 1
    assert len(line) <= LIMITS.max_line_bytes
    assert decode_name_line(line) == resolved


@given(found_names | other_names, st.data())
def test_resolved_name_with_a_spoilt_field_is_refused_or_still_makes_sense(
    resolved: ResolvedName, data: st.DataObject
) -> None:
    content = json.loads(encode_name(resolved))
    content[data.draw(st.sampled_from([*content, "surprise"]))] = data.draw(json_values)
    try:
        read = decode_name_line(json.dumps(content).encode())
    except MessageError:
        return
    if isinstance(read, ResolvedName):
        assert bool(read.addresses) == (read.status is NameStatus.FOUND)
        assert decode_name_line(encode_name(read)) == read


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({"names": []}, "at least one"),
        ({"names": "a.example"}, "list"),
        ({"names": ["a.example"] * 2}, "twice"),
        ({"names": ["a.example", "A.EXAMPLE."]}, "twice"),
        ({"names": [f"{i}.example" for i in range(LIMITS.max_names + 1)]}, "over the limit"),
        ({"names": ["a b"]}, "host name"),
        ({"names": [None]}, "text"),
        ({"names": ["a.example"], "timeout_ms": 1e9}, "between"),
        ({"names": ["a.example"], "type": "TXT"}, "unknown field"),
    ],
)
def test_request_for_anything_but_addresses_of_few_host_names_is_refused(
    content: dict[str, object], reason: str
) -> None:
    with pytest.raises(MessageError, match=reason):
        decode_names(json.dumps({"version": VERSION, **content}).encode())


@given(st.integers(0, LIMITS.max_orders))
def test_end_is_read_as_it_was_written(count: int) -> None:
    assert decode_line(encode_end(End(count=count))) == End(count=count)


def test_error_is_read_as_it_was_written() -> None:
    message = ErrorMessage(error="no", versions=(1, 2))
    assert decode_error(encode_error(message)) == message


@given(st.binary(max_size=300) | json_values.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_a_message_or_a_message_error(data: bytes) -> None:
    for decode in DECODERS:
        with suppress(MessageError):
            assert decode(data) is not None


field_names = st.sampled_from(
    [
        *("version", "kind", "error", "versions", "orders", "order", "rtt_ms", "count"),
        *("names", "name", "status", "addresses", "ttl_s", "timeout_ms"),
        *("boot", "cursor", "works", "answers", "refusals", "fleet", "key_hash", "crawler", "agent"),
    ]
)


@given(content=st.dictionaries(field_names, json_values))
@example(content={"error": "x", "versions": [math.inf]})
@example(content={"version": VERSION, "kind": "end", "count": math.inf})
def test_any_object_is_a_message_or_a_message_error(content: dict[str, object]) -> None:
    # JSON has no infinity, but 1e999 is a number that Python reads as one.
    data = json.dumps(content).replace("Infinity", "1e999").encode()
    for decode in DECODERS:
        with suppress(MessageError):
            decode(data)


@given(requests, st.data())
def test_request_with_a_spoilt_field_is_refused_or_still_makes_sense(
    request: ProbeRequest, data: st.DataObject
) -> None:
    content = json.loads(encode_request(request))
    order = content["orders"][0]
    name = data.draw(st.sampled_from([*order, "surprise"]))
    order[name] = data.draw(json_values)
    try:
        read = decode_request(json.dumps(content).encode())
    except MessageError:
        return
    assert decode_request(encode_request(read)) == read


@given(arrived | lost, st.data())
def test_answer_with_a_spoilt_field_is_refused_or_still_makes_sense(
    answer: Answer, data: st.DataObject
) -> None:
    content = json.loads(encode_answer(answer))
    content[data.draw(st.sampled_from([*content, "surprise"]))] = data.draw(json_values)
    try:
        read = decode_line(json.dumps(content).encode())
    except MessageError:
        return
    if isinstance(read, Answer) and read.rtt_ms is not None:
        assert read.loss is None
        assert read.rtt_ms == min(read.all_ms)


@given(requests, st.integers().filter(lambda version: version != VERSION) | st.none() | st.text(max_size=3))
def test_an_unknown_version_is_reported(request: ProbeRequest, version: object) -> None:
    content = {**json.loads(encode_request(request)), "version": version}
    with pytest.raises(UnknownVersionError, match="known: \\[1\\]"):
        decode_request(json.dumps(content).encode())


@given(requests, st.integers(0, 400))
def test_cut_request_is_refused(request: ProbeRequest, cut: int) -> None:
    data = encode_request(request)
    with pytest.raises(MessageError):
        decode_request(data[: min(cut, len(data) - 1)])


# --- join tokens


@given(
    st.text("abcdefXYZ019_-", min_size=43, max_size=43),
    st.text("0123456789abcdef", min_size=16, max_size=16),
    st.none() | st.text("0123456789abcdef", min_size=64, max_size=64),
    st.text(max_size=400),
)
def test_join_token_round_trips(secret: str, fleet: str, pin: str | None, path: str) -> None:
    token = JoinToken(secret=f"ipm_j_{secret}", fleet=fleet, url=f"https://{path}", pin=pin)
    try:
        path.encode()
    except UnicodeEncodeError:
        return
    assert decode_join_token(encode_join_token(token)) == token


@given(st.text() | st.text("abcXYZ019_-.=", max_size=80).map(lambda rest: f"ipm_j_{'a' * 43}.{rest}"))
def test_any_text_is_a_join_token_or_an_error_that_keeps_it_secret(text: str) -> None:
    said = ""
    try:
        decode_join_token(text)
    except InputError as error:
        said = str(error)
    assert len(text) < 20 or text not in said


# --- agents that call out

names_requests = st.builds(
    NamesRequest,
    names=st.lists(hosts, min_size=1, max_size=5, unique=True).map(tuple),
    timeout_ms=st.floats(min_value=1, max_value=LIMITS.max_names_ms),
)
works = st.builds(Work, id=ids, request=requests | names_requests)
refusals = st.builds(Refusal, work=ids, reason=st.text("abc é", max_size=50), is_unable=st.booleans())


@given(st.builds(PollRequest, boot=ids, cursor=ids, capacity=st.integers(0, 10**9), software=st.just("1.0")))
def test_poll_round_trips(poll: PollRequest) -> None:
    assert decode_poll(encode_poll(poll)) == poll


@given(ids, st.lists(works, max_size=3, unique_by=lambda one: one.id))
def test_answer_to_a_poll_round_trips(cursor: str, some: list[Work]) -> None:
    for urls in ((), ("https://a.example:8460", "http://[::1]:8460/x")):
        answer = PollAnswer(cursor=cursor, works=tuple(some), coordinators=urls)
        assert decode_polled(encode_polled(answer)) == answer


@pytest.mark.parametrize("url", ["ftp://a", "a.example", "https://", "http://a b", "https://a/?q", 7])
def test_coordinators_are_urls_without_surprises(url: object) -> None:
    text = json.dumps({"version": 1, "cursor": "", "works": [], "coordinators": [url]})
    with pytest.raises(MessageError, match="URLs like"):
        decode_polled(text.encode())


sites = st.builds(
    Site,
    host=hosts,
    address=addresses,
    scheme=st.sampled_from([None, "http", "https"]),
    port=st.none() | st.integers(1, 65535),
)
wishes = st.builds(PeerWish, site=sites, batch=st.none() | st.integers(1, 2**63 - 1), assigns=st.booleans())
origins = st.builds(Origin, first=addresses, last=addresses, measured_s=st.none() | st.floats(0, 4e9))
decisions = st.builds(
    Decision,
    host=hosts,
    address=addresses,
    first=addresses,
    last=addresses,
    crawler=ids,
    evidence=st.sampled_from(Evidence),
    rtt_ms=st.none() | st.floats(0, 60_000),
    probes=st.integers(0, 100),
    inherited_from=st.none() | origins,
)


@given(st.lists(wishes, min_size=1, max_size=4, unique_by=lambda one: one.site.host))
def test_wishes_of_a_coordinator_round_trip(some: list[PeerWish]) -> None:
    assert decode_wishes(encode_wishes(some)) == some


@given(decisions, st.text("abc é", max_size=50))
def test_answers_of_a_coordinator_round_trip(decision: Decision, reason: str) -> None:
    for answer in (
        PeerAnswer(host=decision.host, decision=decision),
        PeerAnswer(host=decision.host, reason=reason),
        PeerAnswer(host=decision.host),
    ):
        assert decode_peer_answer(encode_peer_answer(answer).rstrip(b"\n")) == answer


@given(
    ids,
    st.lists(arrived | lost, max_size=3),
    st.lists(st.tuples(ids, found_names | other_names), max_size=3),
    st.lists(refusals, max_size=3),
)
def test_results_round_trip(
    boot: str, some: list[Answer], named: list[tuple[str, ResolvedName]], refused: list[Refusal]
) -> None:
    results = Results(boot=boot, answers=tuple(some), names=tuple(named), refusals=tuple(refused))
    assert decode_results(encode_results(results)) == results


@given(
    st.text("0123456789abcdef", min_size=16, max_size=16),
    st.binary(min_size=32, max_size=32),
    st.none() | addresses,
)
def test_request_to_join_and_its_answer_round_trip(fleet: str, key: bytes, address: Address | None) -> None:
    request = JoinRequest(fleet=fleet, key_hash=key, software="1.0", address=address)
    assert decode_join(encode_join(request)) == request
    answer = JoinAnswer(fleet=fleet, crawler="fra", agent=key.hex()[:32])
    assert decode_joined(encode_joined(answer)) == answer
