"""Several coordinators on one database: which sites are ours to decide, and who decides the others.

Theory of operation
-------------------
`Dealing` says in its own thread which sectors of the tree are held by whom. Here, in the event loop, that
becomes two rules:

1. A site of a sector that is ours is decided here; any other one is decided by the coordinator that holds its
   sector, which is asked over HTTP. That one writes the decision, and we read it from the database. While a
   sector changes hands, nobody decides there, and whoever wants to know asks again in a moment.
2. Nothing is written for a sector, and no probe there is paid for, without checking its lease in the same
   transaction (`fence`, `fence_orders`): whoever takes over reads once what was ordered before. What a
   session wants to write about subnets of other sectors, as when a holder turns out to be spread, is dropped:
   their own coordinator finds out by the same samples. A *decision* for another sector cannot be dropped: it
   raises, the session ends, and whoever waits is sent to the right place.

A sector that was just taken is used only after the session has been opened anew: what its former holder
decided must be known first. A session also learns from the samples that others took, at most `stale_s` after
they were written, and forgets rendered answers when others have changed assignments.

Who is gone: the batch of questions that it left open is ended here, after its orders were asked for again
(`only_repeat`); the batches of clients that it was running go on here.

All coordinators must use the same edition of the hierarchy. The edition of a database only ever becomes
newer: a coordinator with an older file waits until it has the newer one, unless it is alone.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field

import aiohttp

from ipmicra.app.delegate.new_edition import EDITION
from ipmicra.app.delegate.session import Session
from ipmicra.app.delegate.write_queue import WriteQueue
from ipmicra.app.serve.dealing import Dealing, DealingConfig, Dealt
from ipmicra.delegate.actions import AnsweredMany
from ipmicra.delegate.sectors import sector_of
from ipmicra.edge.coordinator.access import hash_of, make_token
from ipmicra.edge.coordinator.agent_client import AgentAccess, agent_session
from ipmicra.edge.coordinator.peer_client import PeerClient
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.log import EventLog
from ipmicra.edge.store.lock import ending_in
from ipmicra.edge.store.store import Store
from ipmicra.errors import IpmicraError, LeaseLostError, StoreError
from ipmicra.model.address import Address
from ipmicra.model.crawler import CrawlerState
from ipmicra.model.delegation import Decision
from ipmicra.model.sample import Sample
from ipmicra.model.site import Site
from ipmicra.model.token import Role, TokenRecord
from ipmicra.wire.peers import PeerWish

events = EventLog("coordinator")
EDITION_DATE = "edition_date"
"""Key in `meta` of the day of the newest dump of the edition in use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeersConfig:
    """Numbers of coordinators that share a database."""

    dealing: DealingConfig = field(default_factory=DealingConfig)
    stale_s: float = 2.0
    """How often what others wrote is read: how much older our knowledge of it may be."""
    taught: int = 5_000
    """Samples of others that are learnt from at a time."""
    pause_s: float = 0.2
    """Time until somebody is asked again while a sector changes hands."""
    own_samples: int = 50_000
    """Our own samples that are remembered, so as not to learn from them twice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerSettings:
    """This coordinator as others know it."""

    name: str
    url: str
    """Where the others reach it."""
    config: PeersConfig = field(default_factory=PeersConfig)


class NotDecidedError(IpmicraError):
    """A site without an answer: there is nobody who could get it, or be asked."""

    def __init__(self, host: str, reason: str) -> None:
        """Keep the host and the reason."""
        super().__init__(f"{host}: {reason}")
        self.host, self.reason = host, reason


class MovedError(IpmicraError):
    """A site that another coordinator decides by now."""

    def __init__(self, host: str) -> None:
        """Name the host."""
        super().__init__(f"{host} is decided by another coordinator")


class Peers:
    """What is ours, in the event loop."""

    def __init__(self, settings: PeerSettings, store_url: str, access: AgentAccess) -> None:
        """Hold nothing yet."""
        self.name, self.config = settings.name, settings.config
        self._dealing = Dealing(store_url, settings.name, settings.url, settings.config.dealing)
        self._access = access
        self._dealt = Dealt()
        self._active: frozenset[int] = frozenset()
        """Sectors of ours whose delegations the session knows."""
        self._waiting: Counter[int] = Counter()
        """Sites that wait for a decision here, by sector."""
        self._own: OrderedDict[tuple[str, Address, float], None] = OrderedDict()
        self._mark = 0
        self._change = 0
        self._tree: Hierarchy
        self._store: Store
        self._http: aiohttp.ClientSession
        self._client: PeerClient
        self._tasks: list[asyncio.Task[None]] = []
        self._turned = asyncio.Event()
        self._session: Session | None = None
        self._fleet: frozenset[object] = frozenset()
        """Who belonged to the fleet when the session was opened."""
        self.on_change: Callable[[], object] = lambda: None
        """Called when others have changed assignments."""
        self.on_others: Callable[[], object] = lambda: None
        """Called when a coordinator came or went."""
        self.on_turn: Callable[[Dealt], Awaitable[None]]
        """Awaited when sectors were gained, or somebody is gone."""

    # --- opening and closing

    def hold(self, store: Store, tree: Hierarchy) -> None:
        """Take our part of the sectors; `StoreBusyError` if a command decides with the store."""
        self._store, self._tree = store, tree
        loop = asyncio.get_running_loop()

        def turned(dealt: Dealt) -> None:
            with suppress(RuntimeError):  # the loop may be closed by now
                loop.call_soon_threadsafe(self._turn, dealt)

        self._dealt = self._dealing.start(turned, lambda sector: not self._waiting[sector])
        self._active = frozenset(self._dealt.ours)
        for note in self._dealing.notes:
            ending = ending_in(note)
            if ending is not None:  # of a command that was killed on its way out
                store.batches.reopen(*ending)

    async def open(self) -> None:
        """Make a token for questions to the others, and look at what they write from now on."""
        self._http = agent_session()
        tls = self._access.context() if self._access.authority is not None else None
        self._client = PeerClient(self._http, self._make_token(), tls)
        self._change = self._store.assignments.last_change()
        if self._dealt.gone:
            self._turned.set()
        self._tasks = [asyncio.create_task(work) for work in (self._keep_reading(), self._keep_turning())]

    async def close(self) -> None:
        """Stop looking."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._tasks:
            await self._client.close()
            await self._http.close()

    def release(self) -> None:
        """Release everything."""
        self._dealing.stop()

    def _make_token(self) -> str:
        """Make a token by which others know this coordinator; earlier ones of the name stop working."""
        name, now_s, text = f"coordinator {self.name}", self._store.leases.now_s(), make_token(Role.PEER)
        earlier = [one.hash for one in self._store.tokens.all() if (one.name, one.role) == (name, Role.PEER)]
        with self._store.transaction():
            self._store.tokens.revoke(earlier, now_s)
            self._store.tokens.add(
                TokenRecord(name=name, role=Role.PEER, hash=hash_of(text), created_s=now_s)
            )
        return text

    # --- what is ours

    @property
    def coordinators(self) -> dict[str, str]:
        """URLs of all that live, by name."""
        return dict(self._dealt.coordinators)

    @property
    def sectors(self) -> int:
        """Sectors that are decided here."""
        return len(self._active - self._dealt.leaving)

    def is_ours(self, address: Address) -> bool:
        """Return whether a site is to be decided here."""
        sector = sector_of(self._tree, address)
        return sector in self._active and sector not in self._dealt.leaving

    def is_held(self, address: Address) -> bool:
        """Return whether a decision for a site that waits here can still be written."""
        return sector_of(self._tree, address) in self._active

    def begin(self, address: Address) -> None:
        """Note that a site waits for a decision here: its sector is not given back meanwhile."""
        self._waiting[sector_of(self._tree, address)] += 1

    def end(self, address: Address) -> None:
        """Note that a site waits no longer."""
        self._waiting[sector_of(self._tree, address)] -= 1

    def _turn(self, dealt: Dealt) -> None:
        known, self._dealt = self._dealt.coordinators, dealt
        self._active &= dealt.ours.keys()
        if known != dealt.coordinators:
            self.on_others()
        if dealt.ours.keys() - self._active or dealt.gone or dealt.is_evicted:
            self._turned.set()

    async def _keep_turning(self) -> None:
        """Let the coordinator follow what has changed, one change after the other."""
        while True:
            await self._turned.wait()
            self._turned.clear()
            dealt = self._dealt
            try:
                await self.on_turn(dealt)
                for name in dealt.gone:
                    self._dealing.settled(name)
            except StoreError as error:  # the database is away: what changed is followed when it is back
                events.warning("turn_waits", "what changed waits: {reason}", reason=error.reason)
                await asyncio.sleep(self.config.stale_s)
                self._turned.set()

    @property
    def held(self) -> frozenset[int]:
        """Sectors that are ours, whether a session knows them or not."""
        return frozenset(self._dealt.ours)

    def expect(self, sectors: frozenset[int]) -> None:
        """Use sectors from now on: a session is being opened that reads what was decided in them."""
        self._active = sectors & self._dealt.ours.keys()

    # --- in each transaction

    def fence(self, writes: WriteQueue) -> None:
        """Refuse decisions for sectors that are not ours, and drop what else concerns other sectors."""
        if self._store.meta.get(EDITION) not in {None, self._tree.content_hash}:
            raise IpmicraError("the other coordinators use another edition of the hierarchy by now")
        decided = self._checked(_decided(writes))
        for kept in (writes.ended, writes.renewed, writes.delegations):
            for bounds in list(kept):
                if sector_of(self._tree, bounds[0]) not in self._active | decided:
                    del kept[bounds]

    def fence_orders(self, addresses: Iterable[Address]) -> None:
        """Refuse probes in sectors that are not ours: whoever took over does not know what they measure."""
        self._checked(addresses)

    def _checked(self, addresses: Iterable[Address]) -> set[int]:
        """Return the sectors of addresses; `LeaseLostError` if one of them is not ours any more."""
        sectors, held = {sector_of(self._tree, address) for address in addresses}, self._dealt.ours
        for sector in sectors:
            if sector not in self._active or sector not in held:
                raise LeaseLostError(f"sector {sector}")
        self._store.leases.check(*(held[sector] for sector in sectors))
        return sectors

    def check_edition(self) -> None:
        """See that this coordinator may use its edition; `IpmicraError` says what to do if not."""
        ours, date = self._tree.content_hash, _date_of(self._tree)
        theirs, their_date = self._store.meta.get(EDITION), self._store.meta.get(EDITION_DATE) or ""
        if theirs not in {None, ours} and len(self._dealt.coordinators) > 1 and date <= their_date:
            raise IpmicraError(
                f"the other coordinators use edition {str(theirs)[:12]} of {their_date}, this one has "
                f"{ours[:12]} of {date}: give it the same hierarchy, or all of them a newer one"
            )
        if their_date != date or theirs != ours:
            self._store.meta.set(EDITION_DATE, date)

    def use(self, tree: Hierarchy) -> None:
        """Use another edition of the hierarchy."""
        self._tree = tree

    # --- the others

    async def ask(self, site: Site, batch: int | None, *, assigns: bool) -> Decision | None:
        """Have another coordinator decide; None if it could not be asked, and somebody else may be.

        `NotDecidedError` if there is no answer.
        """
        url = self._dealt.others.get(sector_of(self._tree, site.address))
        answer = None
        if url is not None:
            answer = await self._client.ask(url, PeerWish(site=site, batch=batch, assigns=assigns))
        if answer is not None and answer.reason is not None:
            raise NotDecidedError(site.host, answer.reason)
        if answer is None or answer.decision is None:
            await asyncio.sleep(self.config.pause_s)
            return None
        return answer.decision

    # --- what others write

    def follow(self, session: Session) -> None:
        """Learn from the samples of others in a session that was just opened, and not twice from our own."""
        queue = session.driver.probes
        forward = queue.on_sample

        def noted(attempt: int, sample: Sample) -> None:
            self._own[_key_of(sample)] = None
            while len(self._own) > self.config.own_samples:
                self._own.popitem(last=False)
            forward(attempt, sample)

        queue.on_sample = noted
        self._mark = self._store.samples.last_mark()
        self._fleet = self._fleet_now()
        self._session = session

    async def _keep_reading(self) -> None:
        while True:
            await asyncio.sleep(self.config.stale_s)
            try:
                self._read()
            except StoreError as error:
                events.info("peers_unread", "what others wrote waits: {reason}", reason=error.reason)

    def _read(self) -> None:
        change = self._store.assignments.last_change()
        if change != self._change:
            self._change = change
            self.on_change()
        if self._session is not None:
            self._learn(self._session)
            if self._fleet_now() != self._fleet:  # another coordinator let somebody join, drain or leave
                self._turned.set()

    def _fleet_now(self) -> frozenset[object]:
        """Return what a session must know of the fleet; whether agents answer, it finds out by itself."""
        lasting = (CrawlerState.LEFT, CrawlerState.DRAINING)
        return frozenset(
            (one.name, one.joined_s, one.address, one.agent_url, one.state in lasting and one.state)
            for one in (member.crawler for member in self._store.crawlers.all())
        )

    def _learn(self, session: Session) -> None:
        """Let the policy learn from the samples that others took meanwhile."""
        self._mark, samples = self._store.samples.after(self._mark, self.config.taught)
        theirs = [one for one in samples if _key_of(one) not in self._own and int(one.address)]
        session.driver.machine.learn(theirs)

    def leave(self) -> None:
        """Note that the session is closed."""
        self._session = None


def _decided(writes: WriteQueue) -> Iterable[Address]:
    """Return the addresses that decisions of a transaction are about."""
    for one in writes.decisions:
        if isinstance(one, AnsweredMany):
            yield from (site.address for site in one.sites)
        else:
            yield one.address
    for record in writes.delegations.values():
        if record.address is not None:
            yield record.address


def _key_of(sample: Sample) -> tuple[str, Address, float]:
    return sample.crawler, sample.address, sample.taken_s


def _date_of(tree: Hierarchy) -> str:
    return max((dump.date for dump in tree.edition.dumps), default="")
