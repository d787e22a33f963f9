"""All that is open while something is delegated: machine, driver, agents, names, store.

Theory of operation
-------------------
A session belongs to one batch. Opening it brings everything to where the last run of the batch stopped:

1. choose who takes part, and carry delegations over if the hierarchy is another edition;
2. ask all agents whether they are there, so that only those that can answer are asked;
3. begin the batch, or take up the one that the same command left unfinished;
4. restore the machine: crawlers join with their records, delegations are taken over;
5. ask agents for answers that a crash swallowed. Their orders are paid for, so nothing is probed again;
6. let the policy learn from the samples of earlier runs.

While it is open two tasks run beside the driver: one writes what was gathered, several times a second; one
looks after agents that fell silent. Both hand errors to the driver; `until` raises them where a task waits.
A task that merely died would leave the batch waiting for ever.

Whether a crawler can be reached is known to the machine alone. The store's column is written when it changes,
for other commands and for the next run, and is never read here while the session is open.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import TYPE_CHECKING, Self

import aiohttp

from ipmicra.app.delegate.coordinates import FleetCoordinates
from ipmicra.app.delegate.distances import FleetDistances
from ipmicra.app.delegate.driver import Driver, Gate
from ipmicra.app.delegate.locations import make_locations, read_anycast
from ipmicra.app.delegate.missing_registrations import GraftedTree, Grafter
from ipmicra.app.delegate.new_edition import CarryingReport, carry_delegations
from ipmicra.app.delegate.options import AGENTS, DelegateOptions
from ipmicra.app.delegate.payers import Payers
from ipmicra.app.delegate.place_queue import PlaceQueue
from ipmicra.app.delegate.probe_queue import Pair, ProbeQueue, asked_pairs
from ipmicra.app.delegate.restoring import (
    ALL_SILENT,
    FLAGGED,
    NOT_AUTHENTICATED,
    Participants,
    believed_samples,
    choose_participants,
    restore_machine,
    teach_policy,
)
from ipmicra.app.delegate.write_queue import WriteQueue
from ipmicra.delegate.config import DelegatorConfig
from ipmicra.delegate.machine import DelegationMachine
from ipmicra.delegate.ports import FallbackSources
from ipmicra.delegate.subnets import SubnetTree
from ipmicra.edge.coordinator.agent_client import agent_session, is_healthy
from ipmicra.edge.coordinator.orders import OrderDesk
from ipmicra.edge.dns.bulk import BulkResolver, NamesOnDemand
from ipmicra.edge.files.seeds import UnresolvedSeed
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.log import EventLog
from ipmicra.edge.rdap import RdapSource, RegistrationSource
from ipmicra.edge.store.ports import BatchRecord, StorePort
from ipmicra.edge.store.probes import budget_name
from ipmicra.errors import IpmicraError
from ipmicra.model.address import Address
from ipmicra.model.crawler import Crawler, CrawlerState
from ipmicra.model.delegation import Decision
from ipmicra.model.membership import Change, next_state
from ipmicra.model.site import Site

if TYPE_CHECKING:
    from ipmicra.app.delegate.limits import SubnetLimits
    from ipmicra.app.delegate.scattered_sites import ScatteredSites

events = EventLog("delegate")
UNREACHABLE = CrawlerState.UNREACHABLE


@dataclass(slots=True)
class Session:
    """The machine with everything around it, for one batch. Use as an asynchronous context."""

    store: StorePort
    hierarchy: Hierarchy
    options: DelegateOptions
    on_decision: Callable[[Decision], object]
    """Called with each decision once it is written."""
    on_give_up: Callable[[Site, str], object]
    """Called with each site without an answer, and why."""
    registrations: RegistrationSource = field(default_factory=RdapSource)
    clock: Callable[[], float] = time.time
    key: str = "library"
    words: str = "library"
    shared_with: Sequence[int] | None = None
    """Other batches that use the machine, which may not be finished; None if none ever will."""
    known_from: Sequence[int] = ()
    """Batches of others that may have measured what is asked for here: it is not measured again."""
    is_patient: bool = False
    """Whether to wait for crawlers and agents that are not there, rather than to refuse."""
    fence: Callable[[WriteQueue], object] = lambda _writes: None
    """Called first in each transaction that decides: see `WriteQueue.fence`."""
    fence_orders: Callable[[Sequence[Address]], object] = lambda _addresses: None
    """Called first in each transaction that pays for probes of sites; not where agents resolve names, since
    what they find may be anywhere."""
    batch: BatchRecord = field(init=False)
    driver: Driver = field(init=False)
    tree: SubnetTree = field(init=False)
    grafter: Grafter | None = field(init=False, default=None)
    scattered: ScatteredSites | None = field(init=False, default=None)
    """Set if names are resolved at agents."""
    limits: SubnetLimits | None = field(init=False, default=None)
    """Set if there are rules."""
    carrying: CarryingReport = field(init=False)
    notes: list[str] = field(init=False, default_factory=list)
    """What the user should know."""
    resumed: int = field(init=False, default=0)
    """Results that an earlier run of the batch left."""
    recovered: int = field(init=False, default=0)
    """Orders of an earlier run that had no answer yet."""
    _config: DelegatorConfig = field(init=False, default_factory=DelegatorConfig)
    _agents: dict[str, Crawler] = field(init=False, default_factory=dict)
    """Crawlers that may be asked, for their URLs; their states are the machine's."""
    _stack: AsyncExitStack = field(init=False, default_factory=AsyncExitStack)
    _http: aiohttp.ClientSession = field(init=False)
    _names: NamesOnDemand = field(init=False)
    _tasks: list[asyncio.Task[None]] = field(init=False, default_factory=list)

    @property
    def budget_name(self) -> str:
        """The budget that this batch is charged to."""
        return budget_name(self.batch.id)

    # --- opening and closing

    async def __aenter__(self) -> Self:
        """Bring everything to where the last run of the batch left it."""
        try:
            await self._open()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def _open(self) -> None:
        participants = choose_participants(
            self.store.crawlers.all(), self.options, is_patient=self.is_patient
        )
        self.notes += participants.notes
        self.tree = self._make_tree()
        self.carrying = carry_delegations(self.store, self.tree, self.hierarchy.content_hash, self.clock())
        self.notes += self.carrying.lines()
        self._http = await self._stack.enter_async_context(agent_session())
        self.store.names.prune(self.clock())
        self._names = NamesOnDemand(self.options.dns, self._stack)
        await self._look_who_is_there(participants)
        self.batch = self.store.batches.begin(self.key, self.words, self.clock())
        self._config = self.options.delegator_config(self.batch.started_s)
        self.resumed = self.store.results.count(self.batch.id)
        self.driver = self._make_driver()
        if unplaced := restore_machine(self.driver, self.store, self.tree, participants):
            self.notes.append(f"{unplaced:,} delegations fit no subnet of this hierarchy and were left alone")
        if flagged := self.driver.machine.roster.flagged():
            self.notes.append(f"{', '.join(flagged)}: {FLAGGED}")
        asked = await self._open_desk()
        teach_policy(self.driver, self.store, self.clock() - self._config.lifetime_s, asked)
        counts = {"batch": self.batch.id, "resumed": self.resumed, "recovered": self.recovered}
        fields = {**counts, "policy": self.options.policy, "crawlers": len(participants.crawlers)}
        message = "batch {batch}: {policy}, {crawlers} crawlers, {resumed} sites done before"
        events.info("batch_begun", message, **fields)
        self._tasks = [asyncio.create_task(work) for work in (self._keep_writing(), self._keep_looking())]

    def _make_tree(self) -> SubnetTree:
        if not self.options.grafts:
            return self.hierarchy
        tree = GraftedTree(self.hierarchy)
        self.grafter = Grafter(tree, self.store, self.registrations, self.clock)
        return tree

    def _make_driver(self) -> Driver:
        options, policy = self.options, self.options.make_policy()
        locations = make_locations(options, self.hierarchy, self.notes)
        anycast = read_anycast(options.anycast, self.notes) if options.anycast else None
        distances = FleetDistances(self.store, self.tree, locations)
        coordinates = FleetCoordinates(self.store, self.tree)
        fallback = FallbackSources(
            coordinates=coordinates, distances=distances, asks_places=locations is not None
        )
        machine = DelegationMachine(
            self.tree, policy, self._config, locations=locations, anycast=anycast, fallback=fallback
        )
        distances.machine = coordinates.machine = machine
        driver = Driver(
            machine=machine,
            gate=Gate(self.tree, options.driving.per_parent),
            writes=WriteQueue(
                self.store,
                self.batch.id,
                self.on_decision,
                options.driving.explained,
                fence=self.fence,
                payers=None if self.shared_with is None else Payers(self.batch.id),
            ),
            config=options.driving,
            on_give_up=self.on_give_up,
            clock=self.clock,
        )
        if options.rules is not None:
            from ipmicra.app.delegate.limits import SubnetLimits
            from ipmicra.app.rules import SiteRules

            self.limits = SubnetLimits(SiteRules(options.rules, self.hierarchy), self.tree)
            driver.limited = self.limits.handle
        if locations is not None:
            driver.places = PlaceQueue(locations, driver.located, driver.fail)
            self._stack.push_async_callback(driver.places.close)
        return driver

    async def _open_desk(self) -> set[Pair]:
        """Open the desk; ask agents for answers that a crash swallowed; return what the batch has probed."""
        self.store.budget.open(self.budget_name, self.options.probe_budget)
        desk = await self._stack.enter_async_context(
            OrderDesk(
                self.store,
                self._agents,
                self.options.access,
                replace(self.options.desk, budget=self.budget_name),
                on_state=self.note_state,
                clock=self.clock,
            )
        )
        if self.options.resolve_at == AGENTS:
            self.scattered = self._make_scattered()
        else:
            desk.fence = self.fence_orders
        on_sample = self.driver.sampled if self.scattered is None else self.scattered.sampled
        self.driver.probes = ProbeQueue(
            desk, self.store, self.options.driving, on_sample, self.driver.fail, clock=self.clock
        )
        if self.shared_with is not None:
            self.driver.probes.remembered_s = self._config.lifetime_s
        asked = {pair for one in self.known_from for pair in asked_pairs(self.store, budget_name(one))}
        for number in (self.batch.id, *(self.shared_with or ())):
            async for _ in desk.recover(budget_name(number)):
                self.recovered += 1
            asked |= asked_pairs(self.store, budget_name(number))
        self.driver.probes.know(asked)
        return asked

    def _make_scattered(self) -> ScatteredSites:
        """Resolve names at agents from now on; what crawlers measured before counts."""
        from ipmicra.app.delegate.scattered_sites import ScatteredSites
        from ipmicra.edge.coordinator.names import NameDesk

        made = ScatteredSites(
            store=self.store,
            driver=self.driver,
            desk=NameDesk(self._agents, self._http, self.options.access, clock=self.clock),
            margin_ms=self.options.near_ms,
            batch_s=self.batch.started_s,
            lifetime_s=self._config.lifetime_s,
            is_again=self.options.again,
            rules=self.limits.rules if self.limits is not None else None,
            clock=self.clock,
        )
        self.driver.writes.beside.append(made.write)
        self.store.views.prune(self.clock() - self._config.lifetime_s)
        since_s = self.batch.started_s if self.options.again else self.clock() - self._config.lifetime_s
        made.learn(believed_samples(self.store, self.options.driving.taught, since_s))
        return made

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Write what is left, unless writing is what failed, and release everything."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.driver.probes.close()
        try:
            if self.driver.failure is None:
                self.driver.flush()
        finally:
            await self._stack.aclose()

    # --- background tasks

    async def _keep_writing(self) -> None:
        """Write what is gathered: at once, then as often as `flush_s` allows; nothing wakes an idle one."""
        try:
            while True:
                await self.driver.gathered.wait()
                self.driver.gathered.clear()
                began_s = time.monotonic()
                self.driver.flush()
                taken_s = time.monotonic() - began_s
                driving = self.options.driving
                await asyncio.sleep(max(driving.flush_s, taken_s / driving.flush_share))
        except IpmicraError as error:
            self.driver.fail(error)

    async def _keep_looking(self) -> None:
        """Look after agents that fell silent."""
        try:
            while True:
                await asyncio.sleep(self.options.driving.health_s)
                await self.look_again()
        except IpmicraError as error:
            self.driver.fail(error)

    async def look_again(self) -> None:
        """Ask silent agents whether they are back.

        Those that failed a moment ago are left alone for a while, as long as there is anybody else.
        """
        desk, is_choosy = self.driver.probes.desk, self.driver.has_crawlers
        asked = [self._crawler(name) for name in self._agents if not (is_choosy and desk.is_avoided(name))]
        silent = [one for one in asked if one.state is UNREACHABLE]
        for crawler, is_well in zip(silent, await self._health(silent), strict=True):
            if is_well:
                desk.forgive(crawler.name)
                self.note_state(crawler.name, CrawlerState.JOINED)

    async def _look_who_is_there(self, participants: Participants) -> None:
        """See which agents answer before anybody is asked."""
        if not self.options.needs_agents:
            return
        asked = [one for one in participants.crawlers if one.agent_url and one.state is not CrawlerState.LEFT]
        health = dict(zip((one.name for one in asked), await self._health(asked), strict=True))
        if not any(health.values()) and not self.is_patient:
            raise IpmicraError(ALL_SILENT if self.options.access.token else NOT_AUTHENTICATED)
        for i, one in enumerate(participants.crawlers):
            if one.name in health:
                state = next_state(one.state, Change.ANSWER if health[one.name] else Change.FAIL_TO_ANSWER)
                self.store.crawlers.set_state(one.name, state, self.clock())
                self._agents[one.name] = participants.crawlers[i] = replace(one, state=state)
        silent = [name for name, is_well in health.items() if not is_well]
        for name in silent:
            events.info("agent_silent", "agent of {crawler} does not answer", crawler=name)
        if silent:
            self.notes.append(f"silent agents, not asked for now: {', '.join(silent)}")

    async def _health(self, crawlers: Iterable[Crawler]) -> list[bool]:
        access = self.options.access
        return await asyncio.gather(*(is_healthy(str(one.agent_url), self._http, access) for one in crawlers))

    async def add_crawler(self, crawler: Crawler) -> None:
        """Let a crawler join that was added to the store; it is asked if its agent answers."""
        if self.options.needs_agents and crawler.agent_url is None:
            crawler = replace(crawler, state=UNREACHABLE)
        elif self.options.needs_agents:
            (is_well,) = await self._health([crawler])
            crawler = replace(crawler, state=CrawlerState.JOINED if is_well else UNREACHABLE)
            self.store.crawlers.set_state(crawler.name, crawler.state, self.clock())
            self._agents[crawler.name] = crawler
        self.driver.join(crawler)

    def remove_crawler(self, name: str) -> None:
        """Let a crawler go that left the fleet; what it holds is decided anew when it is next asked for."""
        self._agents.pop(name, None)
        self.driver.leave(name)

    def _crawler(self, name: str) -> Crawler:
        """Return a crawler as the machine knows it."""
        found = self.driver.machine.crawler(name)
        assert found is not None  # noqa: S101 - all that have an agent joined when the session opened
        return found

    def note_state(self, name: str, state: CrawlerState) -> None:
        """Note that an agent fell silent or answers again."""
        before = self._crawler(name)
        if before.state in {state, CrawlerState.DRAINING} or name not in self._agents:
            return
        event, word = ("back", "is back") if state is CrawlerState.JOINED else ("silent", "fell silent")
        events.info(f"agent_{event}", f"agent of {{crawler}} {word}", crawler=name)
        self.store.crawlers.set_state(name, state, self.clock())
        self.driver.join(replace(before, state=state))

    # --- sites

    def parts(self, texts: Iterable[str]) -> AsyncIterator[list[Site | UnresolvedSeed]]:
        """Resolve seeds, as many at a time as are ready; a host keeps the address it was once given."""
        if self.scattered is not None:
            return self.scattered.parts(texts)
        resolver = BulkResolver(self._names, self.store.names, self.store.sites, clock=self.clock)
        return resolver.resolve_parts(texts)

    async def until(self, is_done: Callable[[], bool]) -> None:
        """Wait for the driver; raise what went wrong."""
        driver = self.driver
        while True:
            if driver.failure is not None:
                raise driver.failure
            if is_done():
                return
            driver.changed.clear()
            await driver.changed.wait()
