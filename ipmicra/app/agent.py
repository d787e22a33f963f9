"""Running an agent until it is stopped."""

from __future__ import annotations

import asyncio
import gc
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from ipmicra.app.probe import resolving
from ipmicra.edge.address_policy import WEB_PORTS
from ipmicra.edge.agent.access import read_token
from ipmicra.edge.agent.names import NamesConfig
from ipmicra.edge.agent.run import AgentServer, AgentSettings, make_server
from ipmicra.edge.agent.service import ServiceConfig
from ipmicra.edge.dns.client import DnsClient, DnsConfig
from ipmicra.edge.log import EventLog
from ipmicra.edge.pace.limiter import PolitenessConfig
from ipmicra.edge.prober.exchange import CONTACT, ProberConfig, user_agent
from ipmicra.edge.web.server import listening_or_error, read_place, url_of
from ipmicra.errors import AddressError, InputError
from ipmicra.model.address import read_address

events = EventLog("agent")
LAST_PORT, DNS_PORT = 65535, 53


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOptions:
    """What an operator asks for, as text and files."""

    listen: str
    """HOST:PORT; port 0 takes any free one."""
    token_file: Path | None = None
    certificate: Path | None = None
    key: Path | None = None
    client_authority: Path | None = None
    allowed: tuple[str, ...] = ()
    """Prefixes that may be probed although they are not public."""
    extra_ports: tuple[int, ...] = ()
    """Ports that may be probed beside those of the web."""
    opt_out: Path | None = None
    contact: str | None = None
    """URL of a page for those who are probed."""
    source: str | None = None
    """Address from which probes are sent."""
    concurrency: int
    interval_s: float
    burst: int
    dns: tuple[str, ...] = ()
    """DNS servers to ask, ADDRESS or ADDRESS:PORT; none means the system's."""
    resolve_rate: float = NamesConfig().per_second
    """Names that are resolved for coordinators in a second; 0 for none."""
    probe_rate: float = 1_000.0
    """Probes per second of all targets together; 0 for no limit."""
    target_log: Path | None = None
    """Where targets are written down."""

    def settings(self) -> AgentSettings:
        """Check the options and read the files that they name."""
        host, port = read_place(self.listen)
        return AgentSettings(
            host=host,
            port=port,
            token=read_token(self.token_file),
            certificate=self.certificate,
            key=self.key,
            client_authority=self.client_authority,
            allowed=self.allowed,
            ports=(*WEB_PORTS, *self.extra_ports),
            opt_out=self.opt_out,
            source=read_address(self.source) if self.source else None,
            prober=ProberConfig(user_agent=user_agent(_check_contact(self.contact or CONTACT))),
            service=ServiceConfig(concurrency=self.concurrency),
            politeness=PolitenessConfig(
                interval_s=self.interval_s, burst=self.burst, per_second=self.probe_rate
            ),
            target_log=self.target_log,
            dns=DnsConfig(servers=tuple(map(_read_server, self.dns))),
            names=NamesConfig(per_second=self.resolve_rate),
        )


def _read_server(text: str) -> tuple[str, int]:
    """Read the address of a DNS server, with a port or without."""
    host, _, port = text.rpartition(":")
    is_pair = port.isdigit() and 0 < int(port) <= LAST_PORT and (":" not in host or host.startswith("["))
    try:
        return str(read_address((host if is_pair else text).strip("[]"))), int(port) if is_pair else DNS_PORT
    except AddressError as error:
        raise InputError(
            f"--dns {text!r} must look like ADDRESS or ADDRESS:PORT, [::1]:53 for IPv6"
        ) from error


def _check_contact(url: str) -> str:
    """Refuse a contact that does not fit into a header."""
    if not url.isascii() or not url.isprintable() or any(letter in url for letter in " ()<>"):
        raise InputError(f"--contact {url!r} must be a plain URL")
    return url


def run_agent(settings: AgentSettings) -> None:
    """Serve until SIGTERM or Ctrl-C; probes in progress are finished first."""
    if settings.certificate is None and not _is_loopback(settings.host):
        events.warning(
            "agent_without_tls", "without TLS the token can be read on the way: use --tls-cert, or a tunnel"
        )
    collect_seldom()
    asyncio.run(_serve(settings))


def collect_seldom() -> None:
    """Keep long-lived objects out of garbage collection: it took a tenth of the time of a thousand probes."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


async def _serve(settings: AgentSettings) -> None:
    async with DnsClient(settings.dns) as client:
        try:
            server = make_server(settings, resolving(client), names=client)
            server.config.load()
        except OSError as error:
            raise InputError(f"the agent cannot start: {error}") from error
        with listening_or_error(settings.host, settings.port) as made:
            try:
                await asyncio.gather(server.serve(sockets=[made]), _announce(server, settings))
            finally:  # a signal ends in a cancellation
                events.info("agent_stopped", "agent stopped", pending=server.service.pending)


async def _announce(server: AgentServer, settings: AgentSettings) -> None:
    """Say where the agent listens, once it does."""
    while not server.started:
        if server.should_exit:
            return
        await asyncio.sleep(0.05)
    url = url_of(settings.host, server.bound_port, is_secure=settings.certificate is not None)
    events.info("agent_listens", "agent listens on {url}", url=url, concurrency=settings.service.concurrency)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
