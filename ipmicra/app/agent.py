"""Running an agent until it is told to stop."""

from __future__ import annotations

import asyncio
import gc
import socket
from ipaddress import ip_address

from ipmicra.app.probe import resolving
from ipmicra.edge.agent.run import AgentServer, AgentSettings, listening, make_server
from ipmicra.edge.dns.client import DnsClient
from ipmicra.edge.log import EventLog
from ipmicra.errors import InputError, IpmicraError

events = EventLog("agent")


def run_agent(settings: AgentSettings) -> None:
    """Serve until SIGTERM or Ctrl-C; what is under way is finished first."""
    if settings.certificate is None and not _is_loopback(settings.host):
        events.warning(
            "agent_without_tls", "without TLS the token can be read on the way: use --tls-cert, or a tunnel"
        )
    _collect_seldom()
    asyncio.run(_serve(settings))


def _collect_seldom() -> None:
    """Spare what is there for good from the search for garbage: with a thousand probes it took a tenth."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


async def _serve(settings: AgentSettings) -> None:
    async with DnsClient() as client:
        try:
            server = make_server(settings, resolving(client))
            server.config.load()
        except OSError as error:
            raise InputError(f"the agent cannot start: {error}") from error
        with _listening(settings) as made:
            try:
                await asyncio.gather(server.serve(sockets=[made]), _announce(server, settings))
            finally:  # a stop by signal ends in a cancellation
                events.info("agent_stopped", "agent stopped", pending=server.service.pending)


def _listening(settings: AgentSettings) -> socket.socket:
    """Take the port before anything else, so that trouble is told in one line."""
    try:
        return listening(settings.host, settings.port)
    except OSError as error:
        reason = error.strerror or str(error)
        raise IpmicraError(f"cannot listen on {settings.host}:{settings.port}: {reason}") from error


async def _announce(server: AgentServer, settings: AgentSettings) -> None:
    """Say where the agent listens, once it does."""
    while not server.started:
        if server.should_exit:
            return
        await asyncio.sleep(0.05)
    scheme = "https" if settings.certificate else "http"
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    url = f"{scheme}://{host}:{server.bound_port}"
    events.info("agent_listens", "agent listens on {url}", url=url, concurrency=settings.service.concurrency)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
