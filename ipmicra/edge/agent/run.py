"""Run an agent: build its parts from settings and serve until it is stopped."""

from __future__ import annotations

import asyncio
import math
import socket
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import FrameType

import uvicorn

from ipmicra.edge.agent.connection_limits import ConnectionLimiter, ConnectionLimits, LimitedProtocol
from ipmicra.edge.agent.names import NamesConfig, NameService
from ipmicra.edge.agent.opt_out import OptOutList
from ipmicra.edge.agent.service import WEB_PORTS, AddressPolicy, PolitenessConfig, ProbeService, ServiceConfig
from ipmicra.edge.agent.web import AgentMetrics, AgentParts, TokenCheck, make_app
from ipmicra.edge.dns.bulk import Asking
from ipmicra.edge.dns.client import DnsConfig
from ipmicra.edge.prober.exchange import ProberConfig
from ipmicra.edge.prober.ladder import Prober, Resolve
from ipmicra.edge.prober.sockets import Dialler
from ipmicra.errors import InputError
from ipmicra.model.address import Address

Translate = Callable[[Address], Address | None]
_BACKLOG = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSettings:
    """Everything an operator can set."""

    host: str = "127.0.0.1"
    port: int = 0
    """0 takes any free port."""
    token: str | None = None
    certificate: Path | None = None
    key: Path | None = None
    client_authority: Path | None = None
    """Certificate of the authority that signs clients (mutual TLS)."""
    allowed: tuple[str, ...] = ()
    """Prefixes that may be probed although they are not public."""
    ports: tuple[int, ...] = WEB_PORTS
    opt_out: Path | None = None
    source: Address | None = None
    """Address from which probes are sent."""
    prober: ProberConfig = field(default_factory=ProberConfig)
    service: ServiceConfig = field(default_factory=ServiceConfig)
    politeness: PolitenessConfig = field(default_factory=PolitenessConfig)
    dns: DnsConfig = field(default_factory=DnsConfig)
    names: NamesConfig = field(default_factory=NamesConfig)
    stop_s: float = 15.0
    """How long a stop waits for probes in progress."""
    limits: ConnectionLimits = field(default_factory=ConnectionLimits)


class AgentServer(uvicorn.Server):
    """A server with a connection limiter; it starts nothing new once it was asked to stop."""

    def __init__(self, config: uvicorn.Config, service: ProbeService, limiter: ConnectionLimiter) -> None:
        """Serve, and stop the service when the server stops."""
        super().__init__(config)
        self.service = service
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

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop: waiting orders are answered without a probe, those in progress finish."""
        self.service.stop()
        super().handle_exit(sig, frame)

    @property
    def bound_port(self) -> int:
        """The port of the server; known once `started` is true."""
        return int(self.servers[0].sockets[0].getsockname()[1])


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


def make_server(
    settings: AgentSettings,
    resolve: Resolve | None = None,
    translate: Translate | None = None,
    names: Asking | None = None,
) -> AgentServer:
    """Build an agent; settings that would admit unauthenticated clients are refused.

    Names are resolved for coordinators through `names`; without it they are not.
    """
    check_access(settings)
    metrics = AgentMetrics()
    opt_out = OptOutList(settings.opt_out) if settings.opt_out else None
    policy = AddressPolicy(settings.allowed, settings.ports, opt_out)
    dialler = Dialler(permit=policy.refusal, translate=translate, source=settings.source)
    prober = Prober(settings.prober, dialler, resolve)
    service = ProbeService(prober, settings.service, settings.politeness, watch=metrics.note)
    naming = None
    if names is not None and settings.names.per_second > 0:
        naming = NameService(names, policy.refusal, settings.names, watch=metrics.note_name)
    parts = AgentParts(
        service=service,
        names=naming,
        metrics=metrics,
        check=TokenCheck(settings.token) if settings.token else None,
        started_s=time.time(),
        body_s=settings.limits.body_s,
        head_bytes=settings.limits.head_bytes,
    )
    limiter = ConnectionLimiter(settings.limits, metrics.note_dropped)
    return AgentServer(_uvicorn_config(settings, parts), service, limiter)


def check_access(settings: AgentSettings) -> None:
    """Refuse settings under which no token or certificate is needed."""
    if settings.token is None and settings.client_authority is None:
        raise InputError(
            "an agent needs a token (--token-file FILE or IPMICRA_AGENT_TOKEN) "
            "or mutual TLS (--client-ca FILE)"
        )
    if (settings.certificate is None) != (settings.key is None):
        raise InputError("--tls-cert and --tls-key go together")
    if settings.client_authority is not None and settings.certificate is None:
        raise InputError("mutual TLS needs the agent's own --tls-cert and --tls-key too")


def _uvicorn_config(settings: AgentSettings, parts: AgentParts) -> uvicorn.Config:
    authority = settings.client_authority
    return uvicorn.Config(
        make_app(parts),
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
