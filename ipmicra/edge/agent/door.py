"""The agent's door: how long a connection may take to say what it wants, and how many may stand there.

A stranger is a connection that has not shown the token yet. Strangers are few, each has little time, and when
they are too many the one that waited longest has to go: whoever only holds connections open keeps nobody out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv6Address
from typing import Any

from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.server import ServerState

from ipmicra.errors import AddressError
from ipmicra.model.address import read_address

LET_IN = "ipmicra_let_in"
"""Name in a request's state of what is called once it has shown the token."""
_NETWORK_BITS = 64
"""Bits of an IPv6 address that one customer may choose at will (RFC 6177)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoorLimits:
    """What a connection may take."""

    handshake_s: float = 10.0
    """Time for TLS."""
    head_s: float = 10.0
    """From the connection to the end of its first request's headers."""
    body_s: float = 10.0
    """For the body of a request."""
    keep_alive_s: float = 30.0
    """From an answer to the end of the next request's headers."""
    connections: int = 300
    """In all; beyond that requests are turned away with a reason."""
    strangers: int = 100
    """Connections among them that have not shown the token."""
    strangers_per_client: int = 20
    """The same for one IPv4 address or one /64 of IPv6."""


class Doorman:
    """Knows who stands at the door."""

    def __init__(self, limits: DoorLimits, note: Callable[[str], None] = lambda _: None) -> None:
        """Keep to limits; `note` is told why a connection had to go."""
        self.limits = limits
        self._note = note
        self._strangers: dict[GuardedProtocol, str] = {}
        """By connection, the one that waited longest first: its client."""

    def arrive(self, guest: GuardedProtocol, client: str) -> None:
        """Take a stranger in; one that waited longer may have to make room."""
        same = [one for one, other in self._strangers.items() if other == client]
        if len(same) >= self.limits.strangers_per_client:
            self.drop(same[0], "crowded")
        elif len(self._strangers) >= self.limits.strangers:
            self.drop(next(iter(self._strangers)), "crowded")
        self._strangers[guest] = client

    def leave(self, guest: GuardedProtocol) -> None:
        """Forget a stranger who went, or who is none any more."""
        self._strangers.pop(guest, None)

    def drop(self, guest: GuardedProtocol, reason: str) -> None:
        """Hang up at once: a farewell would let the other side decide when it is over."""
        self.leave(guest)
        self._note(reason)
        guest.transport.abort()


class GuardedProtocol(H11Protocol):
    """HTTP with a clock that runs whenever the other side is expected to ask; bytes do not stop it."""

    def __init__(
        self,
        doorman: Doorman,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
    ) -> None:
        """Serve one connection under a doorman."""
        super().__init__(config, server_state, {**app_state, LET_IN: self.let_in})
        self._doorman = doorman
        self._clock: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Greet a stranger, and start the clock."""
        super().connection_made(transport)
        self._doorman.arrive(self, client_of(self.client))
        self._start_clock(self._doorman.limits.head_s)

    def data_received(self, data: bytes) -> None:
        """Read on; the clock stops when there is something to answer."""
        super().data_received(data)
        if self._is_answering:
            self._stop_clock()

    def on_response_complete(self) -> None:
        """Wait for the next request, and not without end."""
        super().on_response_complete()
        if not self._is_answering and not self.transport.is_closing():
            self._start_clock(self._doorman.limits.keep_alive_s)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_clock()
        self._doorman.leave(self)
        super().connection_lost(exc)

    def let_in(self) -> None:
        """Treat the other side as no stranger from now on."""
        self._doorman.leave(self)

    @property
    def _is_answering(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    def _start_clock(self, seconds: float) -> None:
        self._stop_clock()
        self._clock = self.loop.call_later(seconds, self._doorman.drop, self, "slow")

    def _stop_clock(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None


def client_of(peer: tuple[str, int] | None) -> str:
    """Name what counts as one client: an IPv4 address, or a /64 of IPv6."""
    if peer is None:
        return ""
    try:
        address = read_address(peer[0].partition("%")[0])
    except AddressError:
        return peer[0]
    if isinstance(address, IPv6Address):
        return str(IPv6Address(int(address) >> _NETWORK_BITS << _NETWORK_BITS))
    return str(address)
