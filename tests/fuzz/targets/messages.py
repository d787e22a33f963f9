"""Messages between agents, nodes, coordinators and URLFrontier."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ipmicra.errors import InputError, MessageError
from ipmicra.wire import joining, links, messages, names, peers, polling
from tests.fuzz.target import target

Pair = tuple[Callable[[bytes], Any], Callable[[Any], bytes]]


def _encode_line(line: messages.Answer | messages.End) -> bytes:
    return messages.encode_end(line) if isinstance(line, messages.End) else messages.encode_answer(line)


def _encode_name_line(line: names.ResolvedName | messages.End) -> bytes:
    return messages.encode_end(line) if isinstance(line, messages.End) else names.encode_name(line)


PAIRS: tuple[Pair, ...] = (
    (messages.decode_request, messages.encode_request),
    (messages.decode_line, _encode_line),
    (messages.decode_error, messages.encode_error),
    (names.decode_names, names.encode_names),
    (names.decode_name_line, _encode_name_line),
    (joining.decode_join, joining.encode_join),
    (joining.decode_joined, joining.encode_joined),
    (polling.decode_poll, polling.encode_poll),
    (polling.decode_polled, polling.encode_polled),
    (polling.decode_results, polling.encode_results),
    (peers.decode_wishes, peers.encode_wishes),
    (peers.decode_peer_answer, peers.encode_peer_answer),
    (links.decode_join, links.encode_join),
    (links.decode_joined, links.encode_joined),
    (links.decode_exchange, links.encode_exchange),
    (links.decode_exchanged, links.encode_exchanged),
)
"""Chosen by the first letter, from `a` on."""


@target("messages", MessageError)
def read_message(data: bytes) -> None:
    """A message that is read can be written, and is then read as the same."""
    if data:
        decode, encode = PAIRS[(data[0] - ord("a")) % len(PAIRS)]
        message = decode(data[1:])
        assert decode(encode(message)) == message


@target("join-tokens", InputError)
def read_join_token(data: bytes) -> None:
    """A join token that is read can be written, and is then read as the same."""
    token = joining.decode_join_token(data.decode("utf-8", "replace"))
    assert joining.decode_join_token(joining.encode_join_token(token)) == token
