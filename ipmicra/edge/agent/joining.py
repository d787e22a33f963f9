"""Join a fleet by calling out: once, with a join token; later starts use the identity that came of it."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from random import Random

import aiohttp

from ipmicra.edge.agent.calling import Backoff, CallingConfig
from ipmicra.edge.agent.identity import AgentIdentity, new_identity, read_identity, write_identity
from ipmicra.edge.agent.link import CoordinatorLink, NotNowError, proxy_for
from ipmicra.edge.log import EventLog
from ipmicra.errors import InputError, MessageError
from ipmicra.model.address import Address
from ipmicra.wire.joining import JoinRequest, JoinToken, decode_joined, encode_join

events = EventLog("agent")
JOIN_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinSettings:
    """How an agent finds its fleet."""

    identity_file: Path
    join: JoinToken | None = None
    """None if it has joined before."""
    address: Address | None = None
    """Public address of its crawler; None takes the one that it calls from."""
    proxy: str | None = None
    """None takes that of the environment."""


def known_identity(settings: JoinSettings) -> AgentIdentity:
    """Return who the agent is, or who it will be once it has joined."""
    known, join = read_identity(settings.identity_file), settings.join
    if known is None and join is None:
        raise InputError(
            f"{settings.identity_file}: there is no identity yet: join with --join-file FILE first"
        )
    if known is not None and join is not None and known.fleet != join.fleet:
        raise InputError(
            f"{settings.identity_file} is an identity of another fleet than the join token's: "
            "use another --identity, or remove it"
        )
    if join is None or (known is not None and known.url == join.url and known.pin == join.pin):
        if known is None or not (known.has_joined or join):
            raise InputError(f"{settings.identity_file}: this agent has not joined yet: use --join-file FILE")
        return known
    if known is None:
        made = new_identity(join)
        write_identity(settings.identity_file, made)
        return made
    moved = replace(known, url=join.url, pin=join.pin, certificate=None)
    write_identity(settings.identity_file, moved)
    return moved


async def link_up(settings: JoinSettings, session: aiohttp.ClientSession, rng: Random) -> CoordinatorLink:
    """Return the link to the coordinator, after joining if that is necessary.

    Raises:
        DismissedError: The coordinator refused.
        InputError: It shows another key than the pinned one, or is of another fleet.
    """
    identity = known_identity(settings)
    link = CoordinatorLink(
        session,
        identity,
        proxy_for(identity.url, settings.proxy),
        lambda changed: write_identity(settings.identity_file, changed),
    )
    backoff = Backoff(CallingConfig(), rng)
    while True:
        try:
            await link.trust()
            if not link.identity.has_joined and settings.join is not None:
                await _join(link, settings, settings.join)
        except NotNowError as error:
            pause_s = backoff.pause_s(error.retry_s)
            events.warning(
                "coordinator_unreachable",
                "{url} cannot be reached ({reason}); again in {pause_s} s",
                url=identity.url,
                reason=str(error),
                pause_s=round(pause_s, 1),
            )
            await asyncio.sleep(pause_s)
        else:
            return link


async def _join(link: CoordinatorLink, settings: JoinSettings, join: JoinToken) -> None:
    request = JoinRequest(
        fleet=join.fleet,
        key_hash=hashlib.sha256(link.identity.token.encode()).digest(),
        software=version("ipmicra"),
        address=settings.address,
    )
    try:
        answer = decode_joined(
            await link.post("/v1/agents/join", encode_join(request), JOIN_S, token=join.secret)
        )
    except MessageError as error:
        raise InputError(f"{join.url} does not answer as a coordinator does: {error}") from error
    if answer.fleet != join.fleet:
        raise InputError(f"{join.url} serves fleet {answer.fleet}, the join token is for {join.fleet}")
    link.identity = replace(link.identity, crawler=answer.crawler, agent=answer.agent)
    write_identity(settings.identity_file, link.identity)
    events.info("agent_joined", "joined as the agent of {crawler}", crawler=answer.crawler)
