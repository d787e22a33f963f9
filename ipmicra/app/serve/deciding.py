"""The one delegation session of a coordinator: opened, watched over, and opened again when it has to be.

Theory of operation
-------------------
All questions and all batches use one session, so that no subnet is decided twice. A session does not survive
everything: the store may fail, a new edition of the hierarchy has other subnets, and some commands (`forget`,
`assign`) change what the machine keeps in memory. In each case the session is closed and another one is
opened on the same batch. What a session does not know is who is waiting; that is kept here, by host:

    ask ──▶ waiting ──▶ arrive ──▶ … ──▶ decided (after the commit) ──▶ every future of the host
                          ▲                  └▶ given up ────────────▶ every future of the host
                          └── a new session: all that wait arrive again

So a reopened session resumes where the last one stopped, as a batch does after a crash: orders that were paid
are asked for again (`only_repeat`), never sent twice.

Hosts that wait are few (callers limit them), each with the batches that want it (`Payers`) and the futures of
whoever asked.

Where several coordinators share a database, `peers.py` says which sites are decided here; the others are
asked about the rest, and what they wrote is read from the database.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace

from ipmicra.app.delegate.options import DelegateOptions
from ipmicra.app.delegate.session import Session
from ipmicra.app.home import Home
from ipmicra.app.serve.dealing import Dealt
from ipmicra.app.serve.peers import MovedError, NotDecidedError, Peers
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.log import EventLog
from ipmicra.edge.store.lock import HeldLock
from ipmicra.edge.store.ports import StorePort
from ipmicra.errors import IpmicraError
from ipmicra.model.delegation import Decision
from ipmicra.model.site import Site

events = EventLog("coordinator")
KEY = WORDS = "ipmicra serve"
"""Of the batch to which questions about single hosts belong."""
FLUSH_S = 0.02
"""How long an answer may wait for others before all are written: somebody waits for it."""
KNOWN_FROM = 16
"""Batches of questions whose probes a session knows: each coordinator has one, and a new one after others
took over from it."""
FLUSH_SHARE = 0.5
"""Share of the time that may go into writing: others wait for twice as long as a long list took to write."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 15.0
"""Between two attempts to open a session that failed."""


@dataclass(slots=True)
class _Waiting:
    """A host that somebody waits for."""

    site: Site
    batches: set[int | None] = field(default_factory=set)
    futures: list[asyncio.Future[Decision]] = field(default_factory=list)


class Deciding:
    """Holds the store and the hierarchy of a home, and the session that decides with them."""

    def __init__(
        self,
        home: Home,
        options: DelegateOptions,
        clock: Callable[[], float] = time.time,
        peers: Peers | None = None,
    ) -> None:
        """Nothing is opened yet."""
        self.peers = peers
        driving = replace(options.driving, flush_s=FLUSH_S, flush_share=FLUSH_SHARE)
        self.home = home
        self.options = replace(
            options, driving=driving, rules=options.rules or home.load_rules_if_any(), probe_budget=None
        )
        self.clock = clock
        self.store: StorePort
        self.hierarchy: Hierarchy
        self.session: Session | None = None
        """None while it is being opened."""
        self.trouble: str | None = None
        """Why there is no session; None if there is one."""
        self.beside: list[Callable[[Session], Callable[[float], object]]] = []
        """Each is called with a new session and returns what is called in every transaction of it."""
        self.on_open: list[Callable[[Session], object]] = []
        """Called with each session once it is open, before those who wait arrive again."""
        self.batches: Callable[[], list[int]] = list
        """Returns the batches that are not finished."""
        self.is_to_assign: Callable[[str], bool] = lambda _host: False
        """Returns whether a host that is being decided is to be assigned, too."""
        self.on_end: Callable[[str], object] = lambda _host: None
        """Called with each host that nobody waits for any more."""
        self.on_gone: Callable[[Collection[str]], object] = lambda _names: None
        """Called with the names of coordinators that are gone, or with our own after others took over."""
        self._orphans: list[int] = []
        """Batches of questions that coordinators left open which are gone."""
        self._waiting: dict[str, _Waiting] = {}
        self._held = ExitStack()
        self._lock = asyncio.Lock()
        self._watch: asyncio.Task[None] | None = None

    # --- opening and closing

    def hold(self) -> None:
        """Open store and hierarchy; no command may decide or assign from now on."""
        with ExitStack() as stack:
            self.hierarchy = self.home.open_hierarchy()
            if self.peers is not None:
                store = stack.enter_context(self.home.open_store())
                self.peers.hold(store, self.hierarchy)
                stack.callback(self.peers.release)
            else:
                lock: HeldLock = stack.enter_context(self.home.lock("delegate", WORDS))
                other = stack.enter_context(self.home.lock("assign", WORDS))
                store = stack.enter_context(self.home.open_store())
                lock.protect(store)
                other.protect(store)
                lock.settle(store.batches.reopen)
            self.store = store
            self._held = stack.pop_all()

    async def open(self, *, waits: bool = True) -> None:
        """Open the first session; what keeps it from opening is raised.

        Whoever does not wait gets a session later, however often that fails; questions wait for it.
        """
        if waits:
            async with self._lock:
                await self._open()
        self._watch = asyncio.create_task(self._watch_over())
        if self.peers is not None:
            self.peers.on_turn = self._follow
            await self.peers.open()

    async def close(self) -> None:
        """Write what is left and release everything; whoever still waits gets an error."""
        if self.peers is not None:
            await self.peers.close()
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
        async with self._lock:
            number = self.session.batch.id if self.session is not None else None
            await self._close()
            if number is not None and not self._waiting:
                self.store.batches.end(number, self.clock())
        for one in list(self._waiting.values()):
            self._end(one.site.host, NotDecidedError(one.site.host, "the coordinator stops: ask again"))

    def release(self) -> None:
        """Close store and hierarchy; the last thing that happens."""
        self._held.close()
        self.hierarchy.close()

    async def _open(self) -> None:
        sectors: frozenset[int] = frozenset()
        if self.peers is not None:
            self.peers.check_edition()
            sectors = self.peers.held
        session = Session(
            self.store,
            self.hierarchy,
            self.options,
            self._decided,
            self._gave_up,
            clock=self.clock,
            key=KEY if self.peers is None else _key_of(self.peers.name),
            words=WORDS,
            shared_with=[*self.batches(), *self._orphans],
            known_from=self._batches_of_all() if self.peers is not None else (),
            is_patient=True,
        )
        if self.peers is not None:
            session.fence, session.fence_orders = self.peers.fence, self.peers.fence_orders
            self.peers.expect(sectors)
        await session.__aenter__()
        session.driver.writes.beside += [make(session) for make in self.beside]
        if self.peers is not None:
            self.peers.follow(session)
            for number in self._orphans:
                self.store.batches.end(number, self.clock())
            self._orphans = []
        self.session, self.trouble = session, None
        for call in self.on_open:
            call(session)
        for one in list(self._waiting.values()):
            if self.peers is not None and not self.peers.is_held(one.site.address):
                self._end(one.site.host, MovedError(one.site.host))
                continue
            for batch in one.batches:
                self._arrive(session, one.site, batch)

    def _batches_of_all(self) -> list[int]:
        """Return the open batches of all coordinators, and their latest batches of questions, ended or not.

        A site may have come here from a coordinator that had asked some crawlers about it already; it may
        even have been ours before others took over.
        """
        batches = self.store.batches.all()
        questions = [one.id for one in batches if one.key.startswith(_key_of(""))]
        return sorted({*questions[-KNOWN_FROM:], *(one.id for one in batches if one.ended_s is None)})

    async def _close(self) -> None:
        session, self.session = self.session, None
        if self.peers is not None:
            self.peers.leave()
        if session is not None:
            session.driver.changed.set()  # `_watch_over` looks again, and finds that this one is over
            try:
                await session.__aexit__(None, None, None)
            except IpmicraError as error:  # what failed may well fail again when the rest is written
                events.warning("session_lost", "the session did not close well: {reason}", reason=str(error))

    @asynccontextmanager
    async def paused(self) -> AsyncIterator[None]:
        """Run a block while nothing is decided; a new session then takes up what it left."""
        async with self._lock:
            await self._close()
            try:
                yield
            finally:
                await self._open_patiently()

    async def _open_patiently(self) -> None:
        """Open a session, however often that fails."""
        pause_s = FIRST_PAUSE_S
        while True:
            try:
                await self._open()
            except IpmicraError as error:
                self.trouble = str(error)
                events.warning("session_waits", "cannot decide for now: {reason}", reason=self.trouble)
            else:
                return
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

    async def _watch_over(self) -> None:
        """Open another session whenever one has failed."""
        if self.session is None:
            async with self._lock:
                await self._open_patiently()
        while True:
            session = self.session
            if session is None:
                async with self._lock:  # whoever closed it opens the next one
                    continue
            try:
                await session.until(lambda opened=session: self.session is not opened)  # type: ignore[misc]
            except Exception as error:  # noqa: BLE001 - whatever it was, questions must go on
                self.trouble = str(error)
                events.warning("session_failed", "the session failed: {reason}", reason=self.trouble)
                async with self._lock:
                    if self.session is session:
                        await self._close()
                        await asyncio.sleep(FIRST_PAUSE_S)
                        await self._open_patiently()
            await asyncio.sleep(0)

    async def _follow(self, dealt: Dealt) -> None:
        """Open the session anew for sectors that were gained, and for what those left who are gone."""
        gone = [*dealt.gone, *([self.peers.name] if dealt.is_evicted and self.peers is not None else [])]
        async with self.paused():
            keys = {_key_of(name) for name in dealt.gone}
            self._orphans = [
                one.id for one in self.store.batches.all() if one.ended_s is None and one.key in keys
            ]
        if gone:
            self.on_gone(gone)

    # --- questions

    @property
    def pending(self) -> int:
        """Hosts that somebody waits for."""
        return len(self._waiting)

    def is_waiting(self, host: str) -> bool:
        """Return whether a host waits for our own session."""
        return host in self._waiting

    def ask(self, site: Site, batch: int | None = None) -> asyncio.Future[Decision]:
        """Ask for a decision; a batch pays for its probes, and gets its result.

        The future has a decision that is written, or `NotDecidedError`.
        """
        if self.peers is None:
            return self.ask_here(site, batch)
        return asyncio.ensure_future(self._ask_anybody(self.peers, site, batch))

    async def _ask_anybody(self, peers: Peers, site: Site, batch: int | None) -> Decision:
        """Ask whoever decides for a site, again and again while that changes."""
        while True:
            if peers.is_ours(site.address):
                with suppress(MovedError):
                    return await self.ask_here(site, batch)
                continue
            decision = await peers.ask(site, batch, assigns=self.is_to_assign(site.host))
            if decision is not None:
                return decision

    def ask_here(self, site: Site, batch: int | None = None) -> asyncio.Future[Decision]:
        """Ask our own session, as `ask` does; `MovedError` if the site is another coordinator's by now."""
        future: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()
        one = self._waiting.get(site.host)
        is_new = one is None
        if one is None:
            one = self._waiting[site.host] = _Waiting(site)
            if self.peers is not None:
                self.peers.begin(site.address)
        one.futures.append(future)
        one.batches.add(batch)
        session = self.session
        if session is not None and is_new:
            self._arrive(session, site, batch)
        elif session is not None and session.driver.writes.payers is not None:
            session.driver.writes.payers.wait([site], batch)
        return future

    def recheck(self, site: Site, reason: str) -> bool:
        """Have a site measured again that is in doubt; return whether it will be.

        Among several coordinators only the one that decides for the site does so.
        """
        session = self.session
        if session is None or (self.peers is not None and not self.peers.is_ours(site.address)):
            return False
        machine = session.driver.machine
        if machine.at_once is not None or not machine.doubt(site.address, reason, self.clock()):
            return False
        self.ask_here(site)  # nobody waits for the answer: it is written as any other
        return True

    def _arrive(self, session: Session, site: Site, batch: int | None) -> None:
        session.driver.arrive(site, batch=batch)

    def leave(self, batch: int) -> None:
        """Forget that a batch waits for anything."""
        for one in self._waiting.values():
            one.batches.discard(batch)
        if self.session is not None and self.session.driver.writes.payers is not None:
            self.session.driver.writes.payers.leave(batch)

    def _decided(self, decision: Decision) -> None:
        self._end(decision.host, decision)

    def _gave_up(self, site: Site, reason: str) -> None:
        self._end(site.host, NotDecidedError(site.host, reason))

    def _end(self, host: str, answer: Decision | IpmicraError) -> None:
        one = self._waiting.pop(host, None)
        if one is not None and self.peers is not None:
            self.peers.end(one.site.address)
        asked = [] if one is None else [future for future in one.futures if not future.done()]
        for future in asked:
            if isinstance(answer, Decision):
                future.set_result(answer)
            else:
                future.set_exception(answer)
                future.exception()  # whoever asked may be gone: that is no error
        if not (asked and isinstance(answer, MovedError)):  # those who asked ask again, for the same
            self.on_end(host)


def _key_of(name: str) -> str:
    """Return the key of the batch of questions of one coordinator among several."""
    return f"{KEY} {name}"
