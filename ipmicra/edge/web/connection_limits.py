"""Limit connections: how long each may take, and how many may be open.

Theory of operation
-------------------
An agent stands on the open Internet, and anyone who can connect can hold a connection open. Two rules keep
that from shutting out a coordinator:

1. A timer runs whenever the other side is expected to send: from the connection to the end of its first
   request's headers, and from an answer to the end of the next request's headers. Bytes that arrive do not
   restart it, so sending one byte per second gains nothing. It stops while a request is being answered.
2. A connection is unauthenticated until one of its requests carries the token. Unauthenticated connections
   are few, in all and per client; when a new one arrives and there is no room, the one that has waited
   longest is dropped. Authenticated connections make room for others of the same token only, where the
   application limits them: a token in bad hands must not take all connections.

Dropping means aborting the transport: a graceful close would let the other side decide when it is over.
Bodies have their own time limit (`bodies.py`), and so has the TLS handshake (`server.py`).

Why not uvicorn's own limits? `timeout_keep_alive` starts only after the first answer, and
`limit_concurrency` counts attackers and coordinators alike: 320 idle connections, or as many that send a
header byte per second, were all still open after 20 s, and a coordinator was answered 503 all the while.
Here 20 were left at once, none after 20 s, and the coordinator was always answered 200. A reverse proxy
could do it; an agent should be safe without one.
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

AUTHENTICATED = "ipmicra_authenticated"
"""Key in a request's state of the function to call once it has shown the token."""
_NETWORK_BITS = 64
"""Bits of an IPv6 address that one customer may choose at will (RFC 6177)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionLimits:
    """Time and number of connections."""

    handshake_s: float = 10.0
    """Time for TLS."""
    head_s: float = 10.0
    """From the connection to the end of its first request's headers."""
    head_bytes: int = 16_384
    """Most bytes of a request's first line and headers."""
    body_s: float = 10.0
    """For the body of a request."""
    keep_alive_s: float = 30.0
    """From an answer to the end of the next request's headers."""
    connections: int = 300
    """In all; beyond that requests are refused with a reason."""
    unauthenticated: int = 100
    """Connections among them that have not shown the token."""
    unauthenticated_per_client: int = 20
    """The same for one IPv4 address or one /64 of IPv6."""


class ConnectionLimiter:
    """Keeps track of the unauthenticated connections of an agent."""

    def __init__(self, limits: ConnectionLimits, note: Callable[[str], None] = lambda _: None) -> None:
        """Enforce limits; `note` receives the reason for which a connection was dropped."""
        self.limits = limits
        self._note = note
        self._waiting: dict[LimitedProtocol, str] = {}
        """The client of each unauthenticated connection; the one that has waited longest comes first."""
        self._known: dict[str, dict[LimitedProtocol, None]] = {}
        """Authenticated connections by the name of their token, the oldest first."""

    def add(self, connection: LimitedProtocol, client: str) -> None:
        """Admit an unauthenticated connection; an older one may have to make room."""
        same = [one for one, other in self._waiting.items() if other == client]
        if len(same) >= self.limits.unauthenticated_per_client:
            self.drop(same[0], "crowded")
        elif len(self._waiting) >= self.limits.unauthenticated:
            self.drop(next(iter(self._waiting)), "crowded")
        self._waiting[connection] = client

    def know(self, connection: LimitedProtocol, name: str, most: int) -> None:
        """Count a connection as that of a token; the oldest of the same token may have to make room."""
        self._waiting.pop(connection, None)
        if not name or connection.name == name:
            return
        self.remove(connection)
        connection.name = name
        mine = self._known.setdefault(name, {})
        if len(mine) >= most:
            self.drop(next(iter(mine)), "crowded")
        mine = self._known.setdefault(name, {})
        mine[connection] = None

    def remove(self, connection: LimitedProtocol) -> None:
        """Forget a connection that has closed."""
        self._waiting.pop(connection, None)
        mine = self._known.get(connection.name, {})
        mine.pop(connection, None)
        if not mine:
            self._known.pop(connection.name, None)

    def drop(self, connection: LimitedProtocol, reason: str) -> None:
        """Abort a connection."""
        self.remove(connection)
        self._note(reason)
        connection.transport.abort()


class LimitedProtocol(H11Protocol):
    """HTTP with a timer that runs whenever the other side is expected to send a request."""

    def __init__(
        self,
        limiter: ConnectionLimiter,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
    ) -> None:
        """Serve one connection under a limiter."""
        super().__init__(config, server_state, {**app_state, AUTHENTICATED: self.authenticated})
        self._limiter = limiter
        self.name = ""
        """Of the token that its last request showed."""
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer."""
        super().connection_made(transport)
        self._limiter.add(self, client_of(self.client))
        self._start_timer(self._limiter.limits.head_s)

    def data_received(self, data: bytes) -> None:
        """Read on; the timer stops when there is a request to answer."""
        super().data_received(data)
        if self._is_answering:
            self._stop_timer()

    def on_response_complete(self) -> None:
        """Wait for the next request, but not for ever."""
        super().on_response_complete()
        if not self._is_answering and not self.transport.is_closing():
            self._start_timer(self._limiter.limits.keep_alive_s)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_timer()
        self._limiter.remove(self)
        super().connection_lost(exc)

    def authenticated(self, name: str = "", most: int = 0) -> None:
        """Count the connection as authenticated from now on, as one of at most so many of a token."""
        self._limiter.know(self, name, most)

    @property
    def _is_answering(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    def _start_timer(self, seconds: float) -> None:
        self._stop_timer()
        self._timer = self.loop.call_later(seconds, self._limiter.drop, self, "slow")

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def client_of(peer: tuple[str, int] | None) -> str:
    """Return what counts as one client: an IPv4 address, or a /64 of IPv6."""
    if peer is None:
        return ""
    try:
        address = read_address(peer[0].partition("%")[0])
    except AddressError:
        return peer[0]
    if isinstance(address, IPv6Address):
        return str(IPv6Address(int(address) >> _NETWORK_BITS << _NETWORK_BITS))
    return str(address)
