"""Agents that call out, as members of the fleet: they join, are heard of, fall silent and leave.

A join token is used up in the transaction that makes the member, so that of two agents with the same token
one joins. The same agent may repeat its request, since it is recognised by the hash of its own token: the
answer to its first one may have been lost.

The poll is the heartbeat: `watch` compares, every `watch_s`, who polls with what the store says, by the table
of `ipmicra.model.membership`. An agent that has not called since it joined, or since this process began, has
`return_s` to do so before anything is said of it. When agents were last seen is written once per `write_s`,
for all in one transaction.

Several coordinators share the states in one store, and an agent may reach some of them only. It is silent if
the last that heard of it says so; whoever hears it sets that right.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace

from ipmicra.app.describe.texts import time_text
from ipmicra.app.fleet.fleet import Fleet, agent_tokens
from ipmicra.edge.address_policy import AddressPolicy
from ipmicra.edge.coordinator.access import Access, fleet_id, hash_of
from ipmicra.edge.coordinator.switchboard import Switchboard
from ipmicra.edge.log import EventLog
from ipmicra.edge.store.ports import AgentRecord, StorePort
from ipmicra.errors import AddressError, IpmicraError, StoreError
from ipmicra.model.address import Address, read_address
from ipmicra.model.crawler import CALLS_OUT, Crawler, CrawlerState
from ipmicra.model.membership import Change, next_state
from ipmicra.model.token import Identity, Role, TokenRecord
from ipmicra.wire.joining import JoinAnswer, JoinRequest

events = EventLog("coordinator")
WHAT_NEXT = "an operator makes a new join token with `ipmicra token add NAME --role join`"
WHY_NOT = {
    "revoked": "this join token was revoked",
    "used": "another agent has joined with this token: a join token works once",
    "expired": "this join token has expired",
}


class NotMemberError(IpmicraError):
    """An agent that may not take part; the message says why, and what its operator can do."""

    def __init__(self, reason: str, next_step: str = WHAT_NEXT) -> None:
        """Keep the reason and what to do."""
        super().__init__(f"{reason}; {next_step}")


@dataclass(frozen=True, slots=True, kw_only=True)
class MembershipConfig:
    """How often members are looked at."""

    watch_s: float = 1.0
    write_s: float = 60.0


@asynccontextmanager
async def _at_once() -> AsyncIterator[None]:
    """Stand in for a pause of a session where there is none."""
    yield


@dataclass(slots=True)
class Membership:
    """Who polls, and who may."""

    store: StorePort
    access: Access
    switchboard: Switchboard
    fleet: Callable[[], Fleet]
    """Makes a fleet over the same store."""
    paused: Callable[[], AbstractAsyncContextManager[None]] = _at_once
    """Keeps others from deciding while a crawler joins: its own subnet changes hands."""
    on_state: Callable[[str, CrawlerState], object] = lambda _name, _state: None
    """Called when an agent falls silent or is back."""
    config: MembershipConfig = field(default_factory=MembershipConfig)
    clock: Callable[[], float] = time.time
    is_shared: bool = False
    """Whether other coordinators write states into the same store."""
    _joining: asyncio.Lock = field(init=False, default_factory=asyncio.Lock)
    _present: dict[str, bool] = field(init=False, default_factory=dict)
    """Whether each agent polled when it was last looked at."""
    _written_s: float = field(init=False, default_factory=time.monotonic)

    # --- joining and leaving

    async def join(self, secret: str, request: JoinRequest, peer: str) -> JoinAnswer:
        """Make an agent a member; its crawler joins the fleet if it is not there."""
        async with self._joining:
            token, repeated = self._invited(secret, request)
            if repeated is not None:
                return repeated
            crawler = self._crawler(str(token.crawler), request, peer)
            self.switchboard.forget(crawler.name, "its agent joined anew")
            async with self.paused():
                answer = self._enter(token, request, crawler)
        self.access.refresh()
        events.info("agent_joined", "the agent of {crawler} joined by calling out", crawler=answer.crawler)
        return answer

    def _invited(self, secret: str, request: JoinRequest) -> tuple[TokenRecord, JoinAnswer | None]:
        """Check a join token; return it, and the answer of before if the same agent asks again."""
        token = self.store.tokens.find(hash_of(secret))
        if token is None or token.role is not Role.JOIN:
            raise NotMemberError("this coordinator did not make this join token")
        fleet = fleet_id(self.store)
        if request.fleet != fleet:
            raise NotMemberError(f"this join token is for fleet {request.fleet}, and this is fleet {fleet}")
        known = self.store.tokens.find(request.key_hash)
        agent = self.store.agents.get(str(token.crawler))
        if known is not None:
            is_same = known.role is Role.AGENT and known.crawler == token.crawler and known.revoked_s is None
            if is_same and agent is not None:
                return token, JoinAnswer(fleet=fleet, crawler=agent.crawler, agent=agent.id)
            raise NotMemberError("this agent's own token is known already, as somebody else's")
        state = token.state(self.clock())
        if state != "good":
            raise NotMemberError(WHY_NOT[state])
        return token, None

    def _crawler(self, name: str, request: JoinRequest, peer: str) -> Crawler:
        """Return the crawler that an agent stands beside, as it will be."""
        before = self.store.crawlers.get(name)
        url = f"{CALLS_OUT}{name}"
        if before is not None and before.crawler.state is not CrawlerState.LEFT:
            return replace(before.crawler, agent_url=url, address=request.address or before.crawler.address)
        return Crawler(name=name, address=request.address or _public(peer), agent_url=url)

    def _enter(self, token: TokenRecord, request: JoinRequest, crawler: Crawler) -> JoinAnswer:
        now_s, agent = self.clock(), secrets.token_hex(16)
        with self.store.transaction():
            self.fleet().add(crawler, replaces=True)
            earlier = [one for one in agent_tokens(self.store, crawler.name) if one != token.hash]
            self.store.tokens.revoke(earlier, now_s)
            self.store.tokens.use_many([(token.hash, now_s)])
            self.store.tokens.add(
                TokenRecord(
                    name=crawler.name,
                    role=Role.AGENT,
                    hash=request.key_hash,
                    created_s=now_s,
                    crawler=crawler.name,
                )
            )
            self.store.agents.put(
                AgentRecord(
                    crawler=crawler.name,
                    id=agent,
                    joined_s=now_s,
                    seen_s=now_s,
                    software=request.software,
                )
            )
        return JoinAnswer(fleet=fleet_id(self.store), crawler=crawler.name, agent=agent)

    def agent_of(self, authorization: str | None) -> Identity:
        """Return whose agent calls; `NotMemberError` says why it may not."""
        identity = self.access.identify(authorization)
        if identity is not None and identity.role is Role.AGENT and identity.crawler is not None:
            return identity
        record = self.access.record(authorization)
        if record is not None and record.role is Role.AGENT and record.revoked_s is not None:
            when = time_text(record.revoked_s)
            raise NotMemberError(f"{record.crawler} was removed from the fleet, or joined anew, at {when}")
        raise NotMemberError(self.access.refusal(authorization))

    # --- who is there

    async def watch(self) -> None:
        """Keep the store's states in step with who polls, until cancelled."""
        while True:
            try:
                self.look()
            except StoreError as error:
                events.warning("agents_unwatched", "agents' states wait: {reason}", reason=error.reason)
            await asyncio.sleep(self.config.watch_s)

    def look(self) -> None:
        """Compare who polls with who did before; what changed goes into the store.

        What an agent's orders tell about it is somebody else's business: one that polls may still fail.
        """
        present: list[tuple[str, float]] = []
        agents = self.store.agents.all()
        misjudged = self._silent() if self.is_shared else frozenset()
        for agent in agents:
            is_present = self.switchboard.expect(agent.crawler)
            if is_present is None:  # it has some time yet to call
                continue
            if is_present:
                present.append((agent.crawler, self.clock()))
            is_news = self._present.get(agent.crawler) is not is_present
            if is_news or (is_present and agent.crawler in misjudged):
                self._note(agent.crawler, Change.ANSWER if is_present else Change.FAIL_TO_ANSWER)
                self._present[agent.crawler] = is_present
        self._dismiss({agent.crawler for agent in agents})
        if time.monotonic() - self._written_s >= self.config.write_s:
            self._written_s = time.monotonic()
            self.store.agents.saw_many(present)

    def _silent(self) -> frozenset[str]:
        """Return the crawlers that some coordinator did not hear of."""
        members = (one.crawler for one in self.store.crawlers.all())
        return frozenset(one.name for one in members if one.state is CrawlerState.UNREACHABLE)

    def _note(self, crawler: str, change: Change) -> None:
        member = self.store.crawlers.get(crawler)
        if member is None:
            return
        state = next_state(member.crawler.state, change)
        if state is not member.crawler.state:
            self.store.crawlers.set_state(crawler, state, self.clock())
            self.on_state(crawler, state)

    def _dismiss(self, members: set[str]) -> None:
        """Answer the held polls of crawlers that were removed meanwhile."""
        for crawler in self.switchboard.crawlers() - members:
            self.switchboard.forget(crawler, f"{crawler} left the fleet")
            self._present.pop(crawler, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentDesk:
    """What answers agents that call out."""

    membership: Membership
    authority: Callable[[], str] = str
    """Returns the certificates that a join token may pin, in PEM form."""
    on_leave: Callable[[str], Awaitable[object]] | None = None
    """Lets a crawler leave; None leaves that to the fleet."""
    coordinators: Callable[[], tuple[str, ...]] = tuple
    """Returns the URLs of all coordinators, if several share the database."""
    body_s: float = 10.0
    """Seconds within which the body of a request must arrive."""


def _public(peer: str) -> Address:
    """Return the address from which an agent calls, if its crawler can be reached there."""
    try:
        address = read_address(peer.partition("%")[0])
    except AddressError:
        address = None
    reason = "it is not known" if address is None else AddressPolicy().refusal(address)
    if address is None or reason is not None:
        raise NotMemberError(
            f"the address from which the agent calls cannot be that of a crawler ({reason})",
            "name its public address: `ipmicra agent --join-file FILE --address ADDRESS`",
        )
    return address
