"""Messages of agents that only call out: the long poll that fetches work, and the results that go back.

Work is a request as a listening agent would get it, with an id. An agent names the last work that it received
by a cursor, whose text only the coordinator understands; what is behind the cursor has arrived, and what is
not is sent again. So a lost answer loses no work. Results are confirmed by the answer to the request that
brings them; an agent repeats what was not confirmed, and the coordinator ignores what it has.

`boot` is chosen anew whenever an agent's process starts: orders that an earlier process took are lost to a
later one, and of two processes that use the same identity only one may go on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from ipmicra.errors import MessageError
from ipmicra.wire import fields
from ipmicra.wire.limits import LIMITS, VERSION, WireLimits
from ipmicra.wire.messages import (
    Answer,
    ProbeRequest,
    answer_fields,
    read_answer,
    read_request,
    request_fields,
)
from ipmicra.wire.names import (
    NamesRequest,
    ResolvedName,
    names_fields,
    read_names,
    read_resolved,
    resolved_fields,
)

MAX_WAIT_S = 60.0
"""Longest time for which an agent may ask a poll to be held: proxies cut what is silent for longer."""
MAX_WORKS = 1_000
MAX_RESULTS = 1_000
"""Answers, names and refusals in one request, each."""
MAX_COORDINATORS = 16
_URL = re.compile(r"https?://[A-Za-z0-9.:\[\]_-]{1,255}(/[A-Za-z0-9._~/-]{0,255})?")
_ID = re.compile("[A-Za-z0-9_-]{1,64}")
_CURSOR = re.compile("[A-Za-z0-9_.-]{0,64}")
_POLL = frozenset({"version", "boot", "cursor", "capacity", "wait_s", "software"})
_POLLED = frozenset({"version", "cursor", "works", "coordinators"})
_WORK = frozenset({"id", "probe", "resolve"})
_PROBE = frozenset({"only_repeat", "orders"})
_RESOLVE = frozenset({"names", "timeout_ms"})
_RESULTS = frozenset({"version", "boot", "answers", "names", "refusals"})
_NAME = frozenset({"work", "name", "status", "addresses", "ttl_s"})
_REFUSAL = frozenset({"work", "reason", "is_unable"})
_ANSWER = frozenset("order address rtt_ms loss rung all_ms timings detail taken_s".split())
_encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class PollRequest:
    """An agent asks for work."""

    boot: str
    cursor: str = ""
    """As the last answer had it; empty at the start."""
    capacity: int = 1_000
    """Orders that it can take now."""
    wait_s: float = 50.0
    """How long the coordinator may hold the request while there is no work."""
    software: str = ""
    """The agent's version of ipmicra."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A request for an agent."""

    id: str
    request: ProbeRequest | NamesRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class PollAnswer:
    """Work for an agent; none if there was none for as long as the request was held."""

    cursor: str
    works: tuple[Work, ...] = ()
    coordinators: tuple[str, ...] = ()
    """URLs of all coordinators of the fleet, if there are several: agents call each of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Work that an agent does not do: nothing of it was done."""

    work: str
    reason: str
    is_unable: bool = False
    """Whether it never will."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """What became of work."""

    boot: str
    answers: tuple[Answer, ...] = ()
    names: tuple[tuple[str, ResolvedName], ...] = ()
    """With the id of the work that each belongs to."""
    refusals: tuple[Refusal, ...] = ()


def encode_poll(poll: PollRequest) -> bytes:
    """Write a poll as JSON."""
    content = {
        "version": VERSION,
        "boot": poll.boot,
        "cursor": poll.cursor,
        "capacity": poll.capacity,
        "wait_s": poll.wait_s,
        "software": poll.software,
    }
    return _encode(content).encode()


def decode_poll(data: bytes, limits: WireLimits = LIMITS) -> PollRequest:
    """Read a poll; anything that is not one is a `MessageError` that says why."""
    content = fields.read_object(data, limits.max_line_bytes)
    fields.known_only(content, _POLL)
    return PollRequest(
        boot=_matching(content, "boot", _ID),
        cursor=_matching(content, "cursor", _CURSOR, default=""),
        capacity=fields.whole(content, "capacity", 0, 10**9, default=limits.max_orders),
        wait_s=fields.number(content, "wait_s", 0, MAX_WAIT_S, default=50.0),
        software=fields.text(content, "software", 64, default=""),
    )


def encode_polled(answer: PollAnswer) -> bytes:
    """Write the answer to a poll as JSON."""
    works = [_work_fields(work) for work in answer.works]
    several = {"coordinators": answer.coordinators} if answer.coordinators else {}
    return _encode({"version": VERSION, "cursor": answer.cursor, "works": works, **several}).encode()


def decode_polled(data: bytes, limits: WireLimits = LIMITS) -> PollAnswer:
    """Read the answer to a poll; anything that is not one is a `MessageError` that says why."""
    content = fields.read_object(data, limits.max_request_bytes)
    fields.known_only(content, _POLLED)
    works = _list(content, "works", MAX_WORKS, lambda one: _read_work(one, limits))
    if len({work.id for work in works}) < len(works):
        raise MessageError("two works have the same id")
    return PollAnswer(
        cursor=_matching(content, "cursor", _CURSOR), works=works, coordinators=_coordinators(content)
    )


def _coordinators(content: fields.Object) -> tuple[str, ...]:
    urls = content.get("coordinators", [])
    if not isinstance(urls, list) or len(urls) > MAX_COORDINATORS:
        raise MessageError(f"coordinators must be a list of at most {MAX_COORDINATORS}")
    if not all(isinstance(url, str) and _URL.fullmatch(url) for url in urls):
        raise MessageError("coordinators must be URLs like https://HOST:PORT")
    return tuple(urls)


def encode_results(results: Results) -> bytes:
    """Write results as JSON."""
    content: dict[str, Any] = {
        "version": VERSION,
        "boot": results.boot,
        "answers": [answer_fields(answer) for answer in results.answers],
        "names": [{"work": work, **resolved_fields(name)} for work, name in results.names],
        "refusals": [
            {"work": one.work, "reason": one.reason, "is_unable": one.is_unable} for one in results.refusals
        ],
    }
    return _encode(content).encode()


def decode_results(data: bytes, limits: WireLimits = LIMITS) -> Results:
    """Read results; anything that is not one is a `MessageError` that says why."""
    content = fields.read_object(data, limits.max_request_bytes)
    fields.known_only(content, _RESULTS)
    return Results(
        boot=_matching(content, "boot", _ID),
        answers=_list(content, "answers", MAX_RESULTS, lambda one: _read_answer(one, limits)),
        names=_list(content, "names", MAX_RESULTS, lambda one: _read_name(one, limits)),
        refusals=_list(content, "refusals", MAX_RESULTS, lambda one: _read_refusal(one, limits)),
    )


def _work_fields(work: Work) -> dict[str, Any]:
    if isinstance(work.request, ProbeRequest):
        return {"id": work.id, "probe": request_fields(work.request)}
    return {"id": work.id, "resolve": names_fields(work.request)}


def _read_work(content: fields.Object, limits: WireLimits) -> Work:
    fields.known_only(content, _WORK)
    probe, resolve = content.get("probe"), content.get("resolve")
    if (probe is None) == (resolve is None):
        raise MessageError("work is to probe or to resolve, and not both")
    request: ProbeRequest | NamesRequest
    if probe is not None:
        request = read_request(_object(probe, "probe", _PROBE), limits)
    else:
        request = read_names(_object(resolve, "resolve", _RESOLVE), limits)
    return Work(id=_matching(content, "id", _ID), request=request)


def _read_answer(content: fields.Object, limits: WireLimits) -> Answer:
    fields.known_only(content, _ANSWER)
    return read_answer(content, limits)


def _read_name(content: fields.Object, limits: WireLimits) -> tuple[str, ResolvedName]:
    fields.known_only(content, _NAME)
    return _matching(content, "work", _ID), read_resolved(content, limits)


def _read_refusal(content: fields.Object, limits: WireLimits) -> Refusal:
    fields.known_only(content, _REFUSAL)
    return Refusal(
        work=_matching(content, "work", _ID),
        reason=fields.text(content, "reason", limits.max_detail),
        is_unable=fields.flag(content, "is_unable"),
    )


def _matching(
    content: fields.Object, name: str, pattern: re.Pattern[str], *, default: str | None = None
) -> str:
    value = content.get(name, default)
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise MessageError(f"{name} must have up to 64 letters, digits, `-` or `_`")
    return value


def _object(value: object, name: str, known: frozenset[str]) -> fields.Object:
    if not isinstance(value, dict):
        raise MessageError(f"{name} must be an object")
    fields.known_only(value, known)
    return value


def _list(content: fields.Object, name: str, most: int, read: Callable[[fields.Object], T]) -> tuple[T, ...]:
    values = content.get(name, [])
    if not isinstance(values, list) or len(values) > most:
        raise MessageError(f"{name} must be a list of at most {most:,}")
    if not all(isinstance(value, dict) for value in values):
        raise MessageError(f"{name} must be objects")
    return tuple(read(value) for value in values)
