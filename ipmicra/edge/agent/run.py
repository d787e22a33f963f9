"""Run an agent: build its parts from settings and serve until it is stopped."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

import uvicorn

from ipmicra.edge.address_policy import WEB_PORTS, AddressPolicy
from ipmicra.edge.agent.names import NamesConfig, NameService
from ipmicra.edge.agent.opt_out import OptOutList
from ipmicra.edge.agent.service import ProbeService, ServiceConfig
from ipmicra.edge.agent.target_log import TargetLog
from ipmicra.edge.agent.web import AgentMetrics, AgentParts, TokenCheck, make_app
from ipmicra.edge.dns.bulk import Asking
from ipmicra.edge.dns.client import DnsConfig
from ipmicra.edge.pace.limiter import PolitenessConfig
from ipmicra.edge.prober.exchange import ProberConfig
from ipmicra.edge.prober.ladder import Prober, Resolve
from ipmicra.edge.prober.sockets import Dialler
from ipmicra.edge.web.connection_limits import ConnectionLimiter
from ipmicra.edge.web.server import LimitedServer, ServerSettings, uvicorn_config
from ipmicra.errors import InputError
from ipmicra.model.address import Address

Translate = Callable[[Address], Address | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSettings(ServerSettings):
    """Everything an operator can set."""

    token: str | None = None
    allowed: tuple[str, ...] = ()
    """Prefixes that may be probed although they are not public."""
    ports: tuple[int, ...] = WEB_PORTS
    opt_out: Path | None = None
    target_log: Path | None = None
    """Where each target that is probed is written down, for the agent's owner."""
    source: Address | None = None
    """Address from which probes are sent."""
    prober: ProberConfig = field(default_factory=ProberConfig)
    service: ServiceConfig = field(default_factory=ServiceConfig)
    politeness: PolitenessConfig = field(default_factory=PolitenessConfig)
    dns: DnsConfig = field(default_factory=DnsConfig)
    names: NamesConfig = field(default_factory=NamesConfig)


class AgentServer(LimitedServer):
    """A server that starts nothing new once it was asked to stop."""

    def __init__(self, config: uvicorn.Config, service: ProbeService, limiter: ConnectionLimiter) -> None:
        """Serve, and stop the service when the server stops."""
        super().__init__(config, limiter)
        self.service = service

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop: waiting orders are answered without a probe, those in progress finish."""
        self.service.stop()
        super().handle_exit(sig, frame)


def make_server(
    settings: AgentSettings,
    resolve: Resolve | None = None,
    translate: Translate | None = None,
    names: Asking | None = None,
) -> AgentServer:
    """Build an agent that listens; settings that would admit unauthenticated clients are refused.

    Names are resolved for coordinators through `names`; without it they are not.
    """
    check_access(settings)
    parts = make_parts(settings, resolve, translate, names)
    limiter = ConnectionLimiter(settings.limits, parts.metrics.note_dropped)
    return AgentServer(uvicorn_config(make_app(parts), settings), parts.service, limiter)


def make_parts(
    settings: AgentSettings,
    resolve: Resolve | None = None,
    translate: Translate | None = None,
    names: Asking | None = None,
) -> AgentParts:
    """Build what carries out orders, however they arrive."""
    metrics = AgentMetrics()
    opt_out = OptOutList(settings.opt_out) if settings.opt_out else None
    policy = AddressPolicy(settings.allowed, settings.ports, opt_out)
    dialler = Dialler(permit=policy.refusal, translate=translate, source=settings.source)
    prober = Prober(settings.prober, dialler, resolve)
    target_log = TargetLog(settings.target_log) if settings.target_log else None
    service = ProbeService(
        prober,
        settings.service,
        settings.politeness,
        watch=metrics.note,
        on_target=target_log.note if target_log else lambda _: None,
    )
    naming = None
    if names is not None and settings.names.per_second > 0:
        naming = NameService(names, policy.refusal, settings.names, watch=metrics.note_name)
    return AgentParts(
        service=service,
        names=naming,
        target_log=target_log,
        metrics=metrics,
        check=TokenCheck(settings.token) if settings.token else None,
        started_s=time.monotonic(),
        body_s=settings.limits.body_s,
        head_bytes=settings.limits.head_bytes,
    )


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
