"""Messages between nodes and the mailboxes of their coordinator: links found, links to fetch, who is there.

A node joins a crawl once per process (`JoinRequest`), and from then on sends one `ExchangeRequest` after the
other: what it found and finished since the last, what it has room for. The answer brings links to fetch and
the slots that it must give up. Both sides number what they send so that a repeated message changes nothing:
links are known by their key, fetched links by the number under which they were delivered, and a delivery is
sent again until the next request names it as received.

A node that is alone with a host from its first link on (`is_open`) need not wait for what it finds there to
be delivered: it fetches it at once, and *claims* it, that is reports it as held. Such links have no number
for the node; they are reported as fetched by their key.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ipmicra.errors import MessageError
from ipmicra.model.link import Link
from ipmicra.wire import fields
from ipmicra.wire.limits import LIMITS, VERSION, WireLimits
from ipmicra.wire.observed import Observed, is_address, observed_fields, read_observed

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_BITS = 1 << 63
_JOIN = frozenset({"version", "node", "crawler", "run"})
_JOINED = frozenset({"version", "run", "session", "lease_s", "state"})
_EXCHANGE = frozenset(
    "version session received links claimed done fetched released room holding repeated is_idle is_leaving "
    "wait_s observed".split()
)
_ANSWER = frozenset({"version", "delivery", "links", "lost", "state", "absent"})
_TYPES = [int, str, str, int, int, str]
"""Of the fields of a link."""
_MOVED, _OPEN = 1, 2
"""Bits of what is said of a delivered link."""
_encode = json.JSONEncoder(separators=(",", ":"), check_circular=False, ensure_ascii=False).encode


class CrawlState(StrEnum):
    """How a crawl is."""

    RUNNING = "running"
    ENDED = "ended"
    """Nothing is queued, in flight or in a mailbox anywhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinRequest:
    """A node wants to take part in a crawl."""

    node: str
    crawler: str
    run: int | None = None
    """The run that it took part in before it was stopped; None if it knows of none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinAnswer:
    """A node takes part."""

    run: int
    session: str
    """Names this process of the node; a later one of the same name ends it."""
    lease_s: float
    """A node that got no answer for so long must not start downloads."""
    state: CrawlState = CrawlState.RUNNING


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeRequest:
    """What a node has to say, and what it wants."""

    session: str
    received: int = 0
    """Number of the last delivery that arrived."""
    links: tuple[Link, ...] = ()
    claimed: tuple[int, ...] = ()
    """Keys of those of the links that it holds already."""
    done: tuple[int, ...] = ()
    """Numbers of delivered links that are fetched or given up; all links found on them were sent before."""
    fetched: tuple[int, ...] = ()
    """Keys of claimed links that are fetched or given up; likewise."""
    released: tuple[str, ...] = ()
    """Slots that it was told to give up, and of which nothing is in flight any more."""
    room: int = 0
    """Links that it can take."""
    holding: int = 0
    """Links that it holds, queued or in progress."""
    repeated: int = 0
    """Links that it found again since it started, and did not report."""
    is_idle: bool = False
    """Whether it has nothing to do, has nothing to say, and has read all its start URLs."""
    is_leaving: bool = False
    wait_s: float = 0.0
    """How long the answer may wait for something to say."""
    observed: tuple[Observed, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveredLink:
    """A link that a node is to fetch."""

    number: int
    link: Link
    slot: str
    is_moved: bool = False
    """Whether another process may just have fetched from this slot: one polite delay must pass first."""
    is_open: bool = False
    """Whether the node may fetch what it finds of this host without waiting for its delivery."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeAnswer:
    """What a node is to do."""

    delivery: int
    """Number of this delivery; the same as before if it brings no links."""
    links: tuple[DeliveredLink, ...] = ()
    lost: tuple[str, ...] = ()
    """Slots that it must give up; repeated until it has."""
    state: CrawlState = CrawlState.RUNNING
    absent: tuple[str, ...] = ()
    """Crawlers that own links and have no node."""


# --- joining


def encode_join(request: JoinRequest) -> bytes:
    """Write a request to join as JSON."""
    content = {"version": VERSION, "node": request.node, "crawler": request.crawler}
    return _encode(content | ({} if request.run is None else {"run": request.run})).encode()


def decode_join(data: bytes, limits: WireLimits = LIMITS) -> JoinRequest:
    """Read a request to join; anything that is not one is a `MessageError` that says why."""
    content = fields.read_object(data, limits.max_line_bytes)
    fields.known_only(content, _JOIN)
    run = fields.whole(content, "run", 1, _BITS - 1) if content.get("run") is not None else None
    return JoinRequest(node=name(content, "node"), crawler=name(content, "crawler"), run=run)


def encode_joined(answer: JoinAnswer) -> bytes:
    """Write the answer to a node that joins as JSON."""
    return _encode(
        {
            "version": VERSION,
            "run": answer.run,
            "session": answer.session,
            "lease_s": answer.lease_s,
            "state": answer.state.value,
        }
    ).encode()


def decode_joined(data: bytes, limits: WireLimits = LIMITS) -> JoinAnswer:
    """Read the answer to a node that joins."""
    content = fields.read_object(data, limits.max_line_bytes)
    fields.known_only(content, _JOINED)
    return JoinAnswer(
        run=fields.whole(content, "run", 1, _BITS - 1),
        session=name(content, "session"),
        lease_s=fields.number(content, "lease_s", 0.1, 86_400),
        state=fields.word(content, "state", CrawlState) or CrawlState.RUNNING,
    )


def name(content: fields.Object, key: str) -> str:
    """Read the name of a node, crawler, crawl or session."""
    value = content.get(key)
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise MessageError(f"{key} must have 1 to 64 letters, digits, `-`, `_` or dots")
    return value


def is_name(text: str) -> bool:
    """Return whether a text can name a node, crawler or crawl."""
    return _NAME.fullmatch(text) is not None


# --- exchanging


def encode_exchange(request: ExchangeRequest) -> bytes:
    """Write what a node has to say as JSON; a link is a list, for it is written thousands of times."""
    content: dict[str, Any] = {
        "version": VERSION,
        "session": request.session,
        "received": request.received,
        "links": [_link_fields(link) for link in request.links],
        "claimed": request.claimed,
        "done": request.done,
        "fetched": request.fetched,
        "released": request.released,
        "room": request.room,
        "holding": request.holding,
        "repeated": request.repeated,
        "is_idle": request.is_idle,
        "is_leaving": request.is_leaving,
        "wait_s": request.wait_s,
    }
    if request.observed:
        content["observed"] = [observed_fields(one) for one in request.observed]
    return _encode(content).encode()


def decode_exchange(data: bytes, limits: WireLimits = LIMITS) -> ExchangeRequest:
    """Read what a node has to say; anything else is a `MessageError` that says why."""
    content = fields.read_object(data, limits.max_exchange_bytes)
    fields.known_only(content, _EXCHANGE)
    most = limits.max_links
    return ExchangeRequest(
        session=name(content, "session"),
        received=fields.whole(content, "received", 0, _BITS - 1, default=0),
        links=_read_links(content, limits),
        claimed=tuple([_key(one) for one in _list(content, "claimed", most)]),
        done=tuple([_number(one) for one in _list(content, "done", most)]),
        fetched=tuple([_key(one) for one in _list(content, "fetched", most)]),
        released=tuple([_slot(one) for one in _list(content, "released", most)]),
        room=fields.whole(content, "room", 0, 1_000_000, default=0),
        holding=fields.whole(content, "holding", 0, _BITS - 1, default=0),
        repeated=fields.whole(content, "repeated", 0, _BITS - 1, default=0),
        is_idle=fields.flag(content, "is_idle"),
        is_leaving=fields.flag(content, "is_leaving"),
        wait_s=fields.number(content, "wait_s", 0, 60, default=0.0),
        observed=tuple([read_observed(one) for one in _list(content, "observed", most)]),
    )


def encode_exchanged(answer: ExchangeAnswer) -> bytes:
    """Write what a node is to do as JSON."""
    return _encode(
        {
            "version": VERSION,
            "delivery": answer.delivery,
            "links": [
                [one.number, one.slot, one.is_moved * _MOVED + one.is_open * _OPEN, *_link_fields(one.link)]
                for one in answer.links
            ],
            "lost": answer.lost,
            "state": answer.state.value,
            "absent": answer.absent,
        }
    ).encode()


def decode_exchanged(data: bytes, limits: WireLimits = LIMITS) -> ExchangeAnswer:
    """Read what a node is to do."""
    content = fields.read_object(data, limits.max_exchange_bytes)
    fields.known_only(content, _ANSWER)
    hosts: set[str] = set()
    links = [_read_delivered(one, limits, hosts) for one in _list(content, "links", limits.max_links)]
    return ExchangeAnswer(
        delivery=fields.whole(content, "delivery", 0, _BITS - 1),
        links=tuple(links),
        lost=tuple([_slot(one) for one in _list(content, "lost", limits.max_links)]),
        state=fields.word(content, "state", CrawlState) or CrawlState.RUNNING,
        absent=tuple([_slot(one) for one in _list(content, "absent", limits.max_links)]),
    )


def _link_fields(link: Link) -> list[Any]:
    return [link.key, link.url, link.host, link.depth, link.priority, link.extra]


def _read_links(content: fields.Object, limits: WireLimits) -> tuple[Link, ...]:
    """Read links; a host that many of them have is checked once."""
    hosts: set[str] = set()
    return tuple([_read_link(one, limits, hosts) for one in _list(content, "links", limits.max_links)])


def _read_link(content: object, limits: WireLimits, hosts: set[str]) -> Link:
    if type(content) is not list or [type(one) for one in content] != _TYPES:
        raise MessageError("a link must be a list of key, URL, host, depth, priority and extra")
    key, url, host, depth, priority, extra = content
    if not (-_BITS <= key < _BITS and -_BITS <= priority < _BITS and 0 <= depth < _BITS):
        raise MessageError("key, depth or priority of a link is out of bounds")
    if len(url) > limits.max_url or len(extra) > limits.max_extra:
        raise MessageError(f"a link of {len(url) + len(extra):,} characters is too long")
    if not url.startswith(("http://", "https://")):
        raise MessageError("a link must be a URL of http or https")
    if host not in hosts:
        if not fields.is_host_name(host) and not is_address(host):
            raise MessageError(f"{host[:80]!r} is no host")
        hosts.add(host)
    return Link(url=url, host=host, depth=depth, priority=priority, key=key, extra=extra)


def _read_delivered(content: object, limits: WireLimits, hosts: set[str]) -> DeliveredLink:
    if not isinstance(content, list) or len(content) != 9:  # noqa: PLR2004 - three more than a link
        raise MessageError("a delivered link must be a list of nine")
    number, slot, bits = content[:3]
    if type(bits) is not int or not 0 <= bits <= _MOVED + _OPEN:
        raise MessageError("the third field of a delivered link must be a number from 0 to 3")
    return DeliveredLink(
        number=_number(number),
        slot=_slot(slot),
        is_moved=bool(bits & _MOVED),
        is_open=bool(bits & _OPEN),
        link=_read_link(content[3:], limits, hosts),
    )


def _number(value: object) -> int:
    if type(value) is not int or not 0 < value < _BITS:
        raise MessageError("the number of a link must be a whole number above 0")
    return value


def _key(value: object) -> int:
    if type(value) is not int or not -_BITS <= value < _BITS:
        raise MessageError("the key of a link must be a number of 64 bits")
    return value


def _slot(value: object) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= 300:  # noqa: PLR2004 - a host has 253
        raise MessageError("a slot must be a text of at most 300 characters")
    return value


def _list(content: fields.Object, key: str, most: int) -> list[Any]:
    value = content.get(key, [])
    if not isinstance(value, list) or len(value) > most:
        raise MessageError(f"{key} must be a list of at most {most:,}")
    return value
