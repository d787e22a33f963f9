"""Running an agent: settings in, a server that stops gracefully out."""

from __future__ import annotations

import asyncio
import math
import socket
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

import uvicorn

from ipmicra.edge.agent.access import TokenCheck
from ipmicra.edge.agent.door import DoorLimits, Doorman, GuardedProtocol
from ipmicra.edge.agent.metrics import AgentMetrics
from ipmicra.edge.agent.opt_out import OptOutList
from ipmicra.edge.agent.policy import WEB_PORTS, AddressPolicy
from ipmicra.edge.agent.politeness import PolitenessConfig
from ipmicra.edge.agent.service import ProbeService, ServiceConfig
from ipmicra.edge.agent.web import AgentParts, make_app
from ipmicra.edge.prober.config import ProberConfig
from ipmicra.edge.prober.ladder import Prober, Resolve
from ipmicra.edge.prober.tcp import Dialler
from ipmicra.errors import InputError
from ipmicra.model.address import Address

Translate = Callable[[Address], Address | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSettings:
    """All that an operator decides."""

    host: str = "127.0.0.1"
    port: int = 0
    """0 takes any free port."""
    token: str | None = None
    certificate: Path | None = None
    key: Path | None = None
    client_authority: Path | None = None
    """Certificates of the authority whose clients are let in (mutual TLS)."""
    allowed: tuple[str, ...] = ()
    """Prefixes that may be probed although they are not public."""
    ports: tuple[int, ...] = WEB_PORTS
    opt_out: Path | None = None
    source: Address | None = None
    """Address from which probes are sent."""
    prober: ProberConfig = field(default_factory=ProberConfig)
    service: ServiceConfig = field(default_factory=ServiceConfig)
    politeness: PolitenessConfig = field(default_factory=PolitenessConfig)
    stop_s: float = 15.0
    """How long a stop waits for what is under way."""
    door: DoorLimits = field(default_factory=DoorLimits)


class AgentServer(uvicorn.Server):
    """A server with a doorman, that starts nothing new once it was asked to stop."""

    def __init__(self, config: uvicorn.Config, service: ProbeService, doorman: Doorman) -> None:
        """Serve, and tell the service when it is over."""
        super().__init__(config)
        self.service = service
        self._doorman = doorman

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen; uvicorn's own way knows no limits for TLS and no doorman."""
        await self.lifespan.startup()
        made = sockets or [listening(self.config.host, self.config.port)]
        limit_s = self._doorman.limits.handshake_s if self.config.ssl else None
        loop = asyncio.get_running_loop()
        self.servers = [
            await loop.create_server(
                self._protocol,
                sock=one,
                ssl=self.config.ssl,
                backlog=self.config.backlog,
                ssl_handshake_timeout=limit_s,
                ssl_shutdown_timeout=limit_s,
            )
            for one in made
        ]
        self.started = True

    def _protocol(self) -> GuardedProtocol:
        return GuardedProtocol(self._doorman, self.config, self.server_state, self.lifespan.state)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop: orders that wait are answered without a probe, those under way finish."""
        self.service.stop()
        super().handle_exit(sig, frame)

    @property
    def bound_port(self) -> int:
        """The port that is listened on; known once `started` is true."""
        return int(self.servers[0].sockets[0].getsockname()[1])


def listening(host: str, port: int) -> socket.socket:
    """Take a port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=512)


def make_server(
    settings: AgentSettings, resolve: Resolve | None = None, translate: Translate | None = None
) -> AgentServer:
    """Put an agent together; one that would answer strangers is refused."""
    check_access(settings)
    metrics = AgentMetrics()
    opt_out = OptOutList(settings.opt_out) if settings.opt_out else None
    policy = AddressPolicy(settings.allowed, settings.ports, opt_out)
    dialler = Dialler(permit=policy.refusal, translate=translate, source=settings.source)
    prober = Prober(settings.prober, dialler, resolve)
    service = ProbeService(prober, settings.service, settings.politeness, watch=metrics.note)
    parts = AgentParts(
        service=service,
        metrics=metrics,
        check=TokenCheck(settings.token) if settings.token else None,
        started_s=time.time(),
        body_s=settings.door.body_s,
    )
    doorman = Doorman(settings.door, metrics.note_dropped)
    return AgentServer(_uvicorn_config(settings, parts), service, doorman)


def check_access(settings: AgentSettings) -> None:
    """See that nobody gets in without a token or a certificate."""
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
        limit_concurrency=settings.door.connections,
        h11_max_incomplete_event_size=16_384,
        timeout_keep_alive=math.ceil(settings.door.keep_alive_s),
        timeout_graceful_shutdown=int(settings.stop_s),
        ssl_certfile=settings.certificate,
        ssl_keyfile=settings.key,
        ssl_ca_certs=str(authority) if authority else None,
        ssl_cert_reqs=ssl.CERT_REQUIRED if authority else ssl.CERT_NONE,
    )
