"""Serve HTTP under a connection limiter; agents and coordinators run the same server."""

from __future__ import annotations

import asyncio
import math
import socket
import ssl
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from ipmicra.edge.web.connection_limits import ConnectionLimiter, ConnectionLimits, LimitedProtocol
from ipmicra.errors import InputError, IpmicraError

_BACKLOG = 512
_LAST_PORT = 65535


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """Where and how to listen."""

    host: str = "127.0.0.1"
    port: int = 0
    """0 takes any free port."""
    certificate: Path | None = None
    key: Path | None = None
    client_authority: Path | None = None
    """Certificate of the authority that signs clients (mutual TLS)."""
    stop_s: float = 15.0
    """How long a stop waits for answers in progress."""
    limits: ConnectionLimits = field(default_factory=ConnectionLimits)


class LimitedServer(uvicorn.Server):
    """A server with a connection limiter."""

    def __init__(self, config: uvicorn.Config, limiter: ConnectionLimiter) -> None:
        """Serve what the configuration says, under a limiter."""
        super().__init__(config)
        self._limiter = limiter

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen; uvicorn's own start-up has no time limit for TLS and no place for a limiter."""
        await self.lifespan.startup()
        made = sockets or [listening(self.config.host, self.config.port)]
        limit_s = self._limiter.limits.handshake_s if self.config.ssl else None
        loop = asyncio.get_running_loop()
        protocol = partial(
            LimitedProtocol, self._limiter, self.config, self.server_state, self.lifespan.state
        )
        self.servers = [
            await loop.create_server(
                protocol,
                sock=one,
                ssl=self.config.ssl,
                backlog=self.config.backlog,
                ssl_handshake_timeout=limit_s,
                ssl_shutdown_timeout=limit_s,
            )
            for one in made
        ]
        self.started = True

    @property
    def bound_port(self) -> int:
        """The port of the server; known once `started` is true."""
        return int(self.servers[0].sockets[0].getsockname()[1])


def uvicorn_config(app: ASGIApp, settings: ServerSettings) -> uvicorn.Config:
    """Configure uvicorn: no log of its own, no headers that say what runs, limits on everything."""
    authority = settings.client_authority
    return uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        lifespan="off",
        ws="none",
        http="h11",
        loop="asyncio",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=settings.limits.connections,
        h11_max_incomplete_event_size=settings.limits.head_bytes,
        timeout_keep_alive=math.ceil(settings.limits.keep_alive_s),
        timeout_graceful_shutdown=int(settings.stop_s),
        ssl_certfile=settings.certificate,
        ssl_keyfile=settings.key,
        ssl_ca_certs=str(authority) if authority else None,
        ssl_cert_reqs=ssl.CERT_REQUIRED if authority else ssl.CERT_NONE,
    )


def listening(host: str, port: int) -> socket.socket:
    """Open a listening socket.

    asyncio sets TCP_NODELAY on what a listener accepts, but only if the listener says it speaks TCP:
    `socket.create_server` leaves the protocol open, and each exchange would wait 40 ms for a delayed ACK.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind((host, port))
        made.listen(_BACKLOG)
    except BaseException:
        made.close()
        raise
    return made


def listening_or_error(host: str, port: int) -> socket.socket:
    """Open a listening socket; a failure is one line."""
    try:
        return listening(host, port)
    except OSError as error:
        reason = error.strerror or str(error)
        raise IpmicraError(f"cannot listen on {host}:{port}: {reason}") from error


def read_place(text: str) -> tuple[str, int]:
    """Read HOST:PORT; an IPv6 address is in brackets."""
    host, is_pair, port = text.rpartition(":")
    if not is_pair or not port.isdigit() or int(port) > _LAST_PORT:
        raise InputError(f"--listen {text!r} must look like HOST:PORT, [::1]:8470 for IPv6")
    return host.strip("[]") or "127.0.0.1", int(port)


def url_of(host: str, port: int, *, is_secure: bool) -> str:
    """Return the URL at which a server is reached; one that listens everywhere is reached on this machine."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - names, not a binding
    shown = f"[{host}]" if ":" in host else host
    return f"{'https' if is_secure else 'http'}://{shown}:{port}"
