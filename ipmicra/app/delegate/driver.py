"""Drives the sans-IO machine: sites and samples in, its actions carried out.

Theory of operation
-------------------
The machine decides and never waits; whatever waits (DNS, agents, the disk) runs in tasks of the session. They
end by calling `arrive`, `sampled`, `located` or `join` here. Each call hands one event to the machine and
carries out the actions it returns, in order:

    AskProbe                    the probe queue sends it; its sample comes back by `sampled`
    AskPlace                    the place queue locates the site; its place comes back by `located`
    Delegated, Renewed, Revoked the write queue keeps it
    CrawlerChecked              the write queue keeps the crawler's record
    Assigned, AnsweredMany      the write queue keeps the decisions and hands them on once they are written
    GaveUp                      the caller hears of it at once

Everything happens in one event loop, and no method awaits. Hence the invariants:

1. `pending` is the number of sites that arrived and have neither a decision nor a failure.
2. All that one event changed is in the write queue before anything can flush it, apart from decisions of
   further sites of the same subnet, which would be given again from the delegation.
3. A parent's count in the gate is the number of its attempts that wait for an answer.

Sites that the gate holds back are admitted again, by the loop in `_admit_ready`, when an attempt of the same
parent ends. That is a loop and not a recursion because one end may release thousands of sites, each of which
may be answered at once and release more.

What a policy believes of a subnet while it decides takes memory, the more the larger the fleet. So only so
many attempts are open at a time; sites of further subnets wait in `_crowd`, in order, until one of them ends.

Sites of a policy that asks nobody have nothing to wait for. They are gathered until there are enough for one
transaction, or until it is time to write, and are then looked for in the store, decided (`AtOnce`) and
written together, by columns: what a site costs alone (an event, its actions, a question to the store) would
be most of what such a list takes.

The machine is the only owner of crawlers' states, delegations and their expiry. The driver asks it through
`handle` and its few questions (`has_crawlers`, `hold_of`, `scope`), and keeps no copy.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable, Container, Hashable
from dataclasses import dataclass, field

from ipmicra.app.delegate.options import DrivingConfig
from ipmicra.app.delegate.place_queue import PlaceQueue
from ipmicra.app.delegate.probe_queue import ProbeQueue
from ipmicra.app.delegate.write_queue import WriteQueue
from ipmicra.delegate.actions import (
    Action,
    AnsweredMany,
    AskPlace,
    AskProbe,
    Assigned,
    CrawlerChecked,
    Delegated,
    GaveUp,
    Renewed,
    Revoked,
)
from ipmicra.delegate.at_once import AtOnce
from ipmicra.delegate.events import (
    CrawlerJoined,
    CrawlerLeft,
    DelegationExpired,
    Event,
    PlaceFound,
    SampleReturned,
    SiteArrived,
)
from ipmicra.delegate.ledger import Hold
from ipmicra.delegate.machine import DelegationMachine
from ipmicra.delegate.ports import Scope
from ipmicra.delegate.subnets import SubnetTree, key_of, single
from ipmicra.edge.log import EventLog
from ipmicra.edge.store.ports import DelegationRecord
from ipmicra.model.crawler import Crawler
from ipmicra.model.delegation import Decision
from ipmicra.model.location import Hint
from ipmicra.model.sample import Sample
from ipmicra.model.site import Site

events = EventLog("delegate")
WIDER_BITS = {4: 16, 6: 96}
"""Bits below the wider slice that stands for a parent where an address is not registered."""

BELIEF_BYTES = 960
"""For each crawler, of what is believed of a subnet: three numbers at each of some dozens of points."""


class Gate:
    """Holds back sites whose parent has enough subnets under way."""

    def __init__(self, tree: SubnetTree, per_parent: int) -> None:
        """Let so many through for each parent."""
        self._tree, self._per_parent = tree, per_parent
        self._under_way: Counter[Hashable] = Counter()
        self._waiting: dict[Hashable, deque[Site]] = {}
        self._parents: dict[int, Hashable] = {}
        """By attempt."""
        self.held_back = 0
        """Sites that wait."""

    def parent_of(self, site: Site) -> Hashable | None:
        """Return what siblings share; None where they reveal nothing about each other."""
        key = key_of(self._tree, site.address)
        if key < 0:
            return site.address.version, int(site.address) >> WIDER_BITS[site.address.version]
        above = self._tree.parent(key)
        return None if above is None or self._tree.parent(above) is None else above

    def is_full(self, parent: Hashable | None) -> bool:
        """Return whether a parent has enough under way."""
        return parent is not None and self._under_way[parent] >= self._per_parent

    def hold_back(self, parent: Hashable, site: Site) -> None:
        """Let a site wait."""
        self._waiting.setdefault(parent, deque()).append(site)
        self.held_back += 1

    def opened(self, attempt: int, parent: Hashable | None) -> None:
        """Note that an attempt is under way."""
        if parent is not None and attempt not in self._parents:
            self._parents[attempt] = parent
            self._under_way[parent] += 1

    def opened_but(self, open_: Container[int]) -> list[int]:
        """Return the attempts that were opened here and are not open any more."""
        return [attempt for attempt in self._parents if attempt not in open_]

    def closed(self, attempt: int) -> list[Site]:
        """Note that an attempt is over; return the sites that waited for it."""
        parent = self._parents.pop(attempt, None)
        if parent is None:
            return []
        self._under_way[parent] -= 1
        if not self._under_way[parent]:
            del self._under_way[parent]
        return self._release(self._waiting.pop(parent, deque()))

    def empty(self) -> list[Site]:
        """Return all that wait, to be given up."""
        waiting, self._waiting = self._waiting, {}
        return [site for sites in waiting.values() for site in self._release(sites)]

    def _release(self, sites: deque[Site]) -> list[Site]:
        self.held_back -= len(sites)
        return list(sites)


@dataclass(slots=True)
class Driver:
    """One machine at work. All calls come from one event loop; nothing here waits."""

    machine: DelegationMachine
    gate: Gate
    writes: WriteQueue
    config: DrivingConfig
    on_give_up: Callable[[Site, str], object]
    """Called with each site without an answer, and why."""
    clock: Callable[[], float] = time.time
    probes: ProbeQueue = field(init=False)
    """Set by the session, once agents can be reached."""
    places: PlaceQueue = field(init=False)
    """Set by the session, if sites can be located."""
    limited: Callable[[DelegationMachine, Event], list[Action]] = DelegationMachine.handle
    """Hands an event to the machine; the session sets another way if there are rules."""
    pending: int = 0
    """Sites that wait for an answer."""
    failure: BaseException | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set whenever waiting tasks should look again."""
    gathered: asyncio.Event = field(default_factory=asyncio.Event)
    """Set whenever there may be something to write; whoever writes clears it first."""
    _ready: deque[Site] = field(default_factory=deque)
    """Sites to be admitted, or to be decided together."""
    _crowd: deque[Site] = field(default_factory=deque)
    """Sites of subnets that nobody decides yet because too many others are being decided."""

    # --- in

    def arrive(self, *sites: Site, batch: int | None = None) -> None:
        """Take in sites; their answers come by the write queue or by `on_give_up`.

        Where several batches share the machine, `batch` is the one that waits for them.
        """
        self.pending += len(sites)
        if self.writes.payers is not None:
            self.writes.payers.wait(sites, batch)
        self._ready.extend(sites)
        self.gathered.set()
        if self.machine.at_once is None:
            self._admit_ready()
        elif 2 * len(self._ready) >= self.config.flush_rows:  # each is a delegation and a result
            self.flush()

    def _decide_ready(self, at_once: AtOnce) -> None:
        """Let the machine decide many sites, after restoring what it has forgotten of their delegations."""
        sites, self._ready = list(self._ready), deque()
        for record in self.writes.store.delegations.at(at_once.unknown(sites)):
            self.machine.restore(single(record.delegation.first), record.delegation, record.location)
        for action in at_once.arrived_many(sites, self.clock()):
            self._carry_out(action)
        self.changed.set()

    def _admit_ready(self) -> None:
        while self._ready or (self._crowd and not self._is_crowded):
            self._admit(self._ready.popleft() if self._ready else self._crowd.popleft())

    @property
    def _is_crowded(self) -> bool:
        """Whether as many attempts are open as memory allows."""
        each = BELIEF_BYTES * max(1, len(self.machine.roster))
        most = max(self.config.least_open, self.config.belief_bytes // each)
        return len(self.machine.attempts) >= most

    def _admit(self, site: Site) -> None:
        parent = self._parent_to_watch(site)
        if parent is not None and self.gate.is_full(parent):
            self.gate.hold_back(parent, site)
            return
        if self._is_crowded and self.machine.hold_of(site.address) is Hold.FREE:
            self._crowd.append(site)
            return
        self._handle(SiteArrived(site, self.clock()), parent)

    def _parent_to_watch(self, site: Site) -> Hashable | None:
        """Return the parent of a subnet that is neither delegated nor being decided; others need not wait."""
        if self.machine.scope is Scope.SITE or self.machine.hold_of(site.address) is not Hold.FREE:
            return None
        return self.gate.parent_of(site)

    def sampled(self, attempt: int, sample: Sample) -> None:
        """Take in the answer to a probe."""
        self._handle(SampleReturned(attempt, sample, self.clock()))
        self._admit_ready()

    def located(self, attempt: int, found: Hint | str) -> None:
        """Take in where a site is that cannot be probed, or why that is unknown."""
        self._handle(PlaceFound(attempt, found, self.clock()))
        self._admit_ready()

    def join(self, crawler: Crawler) -> None:
        """Take in that a crawler can be reached again, or no longer."""
        self._handle(CrawlerJoined(crawler, self.clock()))

    def leave(self, name: str) -> None:
        """Take in that a crawler left the fleet."""
        self._handle(CrawlerLeft(name, self.clock()))
        for attempt in self.gate.opened_but(self.machine.attempts):  # some may have waited for it alone
            self._ready.extend(self.gate.closed(attempt))
        self._admit_ready()

    def fail(self, error: BaseException) -> None:
        """Remember the first error, for the tasks that wait."""
        self.failure = self.failure or error
        self.changed.set()

    @property
    def has_room(self) -> bool:
        """Whether more sites may arrive; those of a policy that asks nobody wait for no answer."""
        return self.machine.at_once is not None or self.pending < self.config.window

    @property
    def has_crawlers(self) -> bool:
        """Whether anybody is left to ask."""
        return self.machine.has_crawlers

    # --- out

    def _handle(self, event: Event, parent: Hashable | None = None) -> None:
        """Let the machine take in an event, and do what it returns."""
        is_over = False
        for action in self.limited(self.machine, event):
            if isinstance(action, AskProbe):
                self.gate.opened(action.attempt, parent)
                self.probes.ask(action.attempt, action.probe, action.since_s, self._budget(action, event))
            elif isinstance(action, AskPlace):
                self.places.ask(action.attempt, action.site)
            else:
                is_over = is_over or isinstance(action, Delegated | GaveUp)
                self._carry_out(action)
        if is_over and isinstance(event, SampleReturned | PlaceFound) and event.attempt is not None:
            self._ready.extend(self.gate.closed(event.attempt))
            if self.writes.payers is not None:
                self.writes.payers.closed(event.attempt)
        self.gathered.set()
        self.changed.set()

    def _budget(self, action: AskProbe, event: Event) -> str | None:
        """Return the budget that pays for a probe: of the batch whose site opened the attempt."""
        if self.writes.payers is None:
            return None
        host = event.site.host if isinstance(event, SiteArrived) else None
        return self.writes.payers.budget_of(action.attempt, host)

    def _carry_out(self, action: Action) -> None:
        if isinstance(action, Delegated):
            self.keep(action)
        elif isinstance(action, Assigned):
            self.answer(action.decision)
        elif isinstance(action, AnsweredMany):
            self.pending -= len(action)
            self.writes.answer(action)
        elif isinstance(action, Renewed):
            self.writes.renew(action.delegation)
        elif isinstance(action, Revoked):
            self.writes.end(action.delegation, action.reason, self.clock())
        elif isinstance(action, CrawlerChecked):
            self._check(action)
        elif isinstance(action, GaveUp):
            self._give_up(action.site, action.reason)

    def keep(self, action: Delegated) -> None:
        """Keep a delegation, unless only an empty budget kept its subnet from being probed.

        Where several batches share the machine, such a one is good for the sites that wait for it alone:
        another batch may have probes left.
        """
        if action.is_makeshift:
            if self.writes.payers is not None:
                self.machine.handle(DelegationExpired(action.key, self.clock()))
            return
        self.gathered.set()
        self.writes.delegate(
            DelegationRecord(
                delegation=action.delegation,
                address=action.address,
                location=action.location,
                account=action.account.written(self.writes.explained),
            )
        )

    def answer(self, decision: Decision) -> None:
        """Keep the answer for a site, to be handed on once it is written."""
        self.pending -= 1
        self.gathered.set()
        self.writes.decisions.append(decision)
        if len(self.writes.decisions) + len(self.writes.delegations) >= self.config.flush_rows:
            self.flush()

    def _check(self, action: CrawlerChecked) -> None:
        self.writes.check(action)
        if action.implausible is not None:
            events.info(
                "sample_rejected",
                "{crawler}: {rtt_ms:.1f} ms to {address}, where light needs {least_ms:.1f} ms",
                crawler=action.crawler,
                address=str(action.implausible.address),
                rtt_ms=action.implausible.rtt_ms,
                least_ms=action.implausible.least_ms,
                is_flagged=action.is_flagged,
            )

    def _give_up(self, site: Site, reason: str) -> None:
        self.pending -= 1
        if self.writes.payers is not None:
            self.writes.payers.drop(site.host)
        self.on_give_up(site, reason)

    def flush(self) -> None:
        """Write what was gathered; what is written need not be kept in memory."""
        at_once = self.machine.at_once
        if at_once is not None and self._ready:
            self._decide_ready(at_once)
        self.writes.flush(self.clock())
        if at_once is not None:
            at_once.forget()

    def abandon(self, reason: str) -> None:
        """Abandon the sites that are still held back."""
        waiting, self._crowd = [*self.gate.empty(), *self._crowd], deque()
        for site in waiting:
            self._give_up(site, reason)
