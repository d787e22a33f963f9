"""Running an agent that only calls out, until it is stopped or dismissed; and letting it leave."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from dataclasses import dataclass
from pathlib import Path
from random import Random

from ipmicra.app.agent import collect_seldom
from ipmicra.app.home import Home
from ipmicra.app.probe import resolving
from ipmicra.edge.agent.access import TOKEN_VARIABLE
from ipmicra.edge.agent.callers import Callers
from ipmicra.edge.agent.calling import Caller, CallingConfig
from ipmicra.edge.agent.identity import read_identity
from ipmicra.edge.agent.joining import JoinSettings, link_up
from ipmicra.edge.agent.link import DismissedError, call_session
from ipmicra.edge.agent.run import AgentSettings, make_parts
from ipmicra.edge.dns.client import DnsClient
from ipmicra.edge.log import EventLog
from ipmicra.errors import InputError
from ipmicra.model.address import read_address
from ipmicra.wire.joining import LONGEST_JOIN_TOKEN, JoinToken, decode_join_token

events = EventLog("agent")
JOIN_VARIABLE = "IPMICRA_JOIN_TOKEN"
IDENTITY = "agent-identity.json"
"""Name of the file in the home folder that says who an agent is."""
LEAVE_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CallingOptions:
    """What an operator says about calling out, as text and files."""

    home: Home
    join: str | None = None
    join_file: Path | None = None
    identity: Path | None = None
    address: str | None = None
    proxy: str | None = None
    listens: bool = False
    """Whether a token for coordinators that call was named."""

    def settings(self) -> JoinSettings | None:
        """Return how to find the coordinator; None for an agent that listens."""
        join, file = self._token(), self.identity or self.home.folder / IDENTITY
        if join is None and self.identity is None:
            has_token = self.listens or TOKEN_VARIABLE in os.environ
            if has_token or not file.is_file():
                return None
        address = read_address(self.address) if self.address else None
        return JoinSettings(identity_file=file, join=join, address=address, proxy=self.proxy)

    def _token(self) -> JoinToken | None:
        if self.join is not None and self.join_file is not None:
            raise InputError("--join and --join-file exclude each other")
        text = self.join or os.environ.get(JOIN_VARIABLE)
        if self.join_file is not None:
            with self.join_file.open("rb") as file:
                text = file.read(2 * LONGEST_JOIN_TOKEN).decode("utf-8", "replace").strip()
        if self.join is not None:
            events.warning(
                "join_token_visible",
                "a token on the command line can be read by every user of this machine: use --join-file",
            )
        return decode_join_token(text) if text else None


def run_calling_agent(
    settings: AgentSettings, join: JoinSettings, config: CallingConfig | None = None
) -> None:
    """Call the coordinator until SIGTERM or Ctrl-C; probes in progress are finished first."""
    collect_seldom()
    asyncio.run(_run(settings, join, config or CallingConfig()))


def leave_fleet(join: JoinSettings) -> str:
    """Let the agent's crawler leave its fleet, and forget the identity; return the crawler's name."""
    return asyncio.run(_leave(join))


async def _leave(join: JoinSettings) -> str:
    if read_identity(join.identity_file) is None:
        raise InputError(f"{join.identity_file}: there is no identity, so nothing to leave")
    async with call_session() as session:
        link = await link_up(join, session, Random())  # noqa: S311 - spreads load, keeps no secret
        await link.post("/v1/agents/leave", b"{}", LEAVE_S)
        join.identity_file.unlink(missing_ok=True)
        return link.identity.crawler


async def _run(settings: AgentSettings, join: JoinSettings, config: CallingConfig) -> None:
    rng = Random()  # noqa: S311 - spreads load, keeps no secret
    async with DnsClient(settings.dns) as client, call_session() as session:
        try:
            parts = make_parts(settings, resolving(client), names=client)
        except OSError as error:
            raise InputError(f"the agent cannot start: {error}") from error
        link = await link_up(join, session, rng)
        caller = Callers(
            link,
            lambda link, on_answer: Caller(
                link, parts.service, parts.names, config, rng=rng, on_answer=on_answer
            ),
        )
        events.info(
            "agent_calls",
            "agent of {crawler} calls {url}",
            crawler=link.identity.crawler,
            url=link.identity.url,
            concurrency=settings.service.concurrency,
        )
        try:
            stopped = await _until_stopped(caller)
            await caller.finish()
        finally:
            if parts.target_log is not None:
                parts.target_log.close()
        events.info("agent_stopped", "agent stopped", pending=parts.service.pending)
        if stopped == signal.SIGINT:
            raise KeyboardInterrupt


async def _until_stopped(caller: Callers) -> int | None:
    """Call until a signal comes; return it."""
    loop, signals = asyncio.get_running_loop(), asyncio.Queue[int]()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, signals.put_nowait, number)
    calling, waiting = asyncio.create_task(caller.run()), asyncio.create_task(signals.get())
    await asyncio.wait({calling, waiting}, return_when=asyncio.FIRST_COMPLETED)
    if calling.done():
        waiting.cancel()
        calling.result()  # raises what ended it
        return None
    calling.cancel()
    with contextlib.suppress(asyncio.CancelledError, DismissedError):
        await calling
    return waiting.result()
