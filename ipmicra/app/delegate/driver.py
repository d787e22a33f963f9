"""Drives the sans-IO delegator: sites and samples in, its actions carried out."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace

from ipmicra.app.delegate.gate import Gate
from ipmicra.app.delegate.options import DrivingConfig
from ipmicra.app.delegate.probes import Probes
from ipmicra.app.delegate.writer import Writer
from ipmicra.delegate.account import Account, Considered
from ipmicra.delegate.actions import (
    Action,
    AskProbe,
    Assigned,
    CrawlerCleared,
    CrawlerMarked,
    Delegated,
    GaveUp,
    Revoked,
)
from ipmicra.delegate.events import CrawlerJoined, SampleReturned, SiteArrived
from ipmicra.delegate.lifecycle import Hold
from ipmicra.delegate.machine import DelegationMachine
from ipmicra.delegate.ports import Scope
from ipmicra.delegate.subnets import SubnetTree, bounds_of, key_of
from ipmicra.edge.store.ports import DelegationRecord, MarkRecord, ResultRecord
from ipmicra.model.crawler import Crawler, CrawlerState
from ipmicra.model.delegation import Evidence
from ipmicra.model.probe import Probe
from ipmicra.model.sample import Loss, Sample
from ipmicra.model.site import Site


@dataclass(slots=True)
class Driver:
    """One machine at work. All calls come from one event loop; nothing here waits."""

    machine: DelegationMachine
    tree: SubnetTree
    scope: Scope
    writer: Writer
    config: DrivingConfig
    give_up: Callable[[Site, str], object]
    """Told each site without an answer, and why."""
    clock: Callable[[], float] = time.time
    probes: Probes = field(init=False)
    gate: Gate = field(init=False)
    pending: int = 0
    """Sites that wait for an answer."""
    answered: int = 0
    failure: BaseException | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set whenever somebody who waits should look again."""
    _sites: dict[int, Site] = field(default_factory=dict)
    """By attempt: whom its probes are for."""
    _ready: deque[Site] = field(default_factory=deque)
    _expiries: dict[int, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Make the gate."""
        self.gate = Gate(self.tree, self.config.per_parent)

    # --- in

    def arrive(self, site: Site) -> None:
        """Take in a site; its answer comes by the writer or by `give_up`."""
        self.pending += 1
        self._ready.append(site)
        while self._ready:
            self._admit(self._ready.popleft())

    def _admit(self, site: Site) -> None:
        parent = None if self.scope is Scope.SITE else self._parent_if_new(site)
        if parent is not None and self.gate.is_full(parent):
            self.gate.hold_back(parent, site)
            return
        self._handle(SiteArrived(site, self.clock()), site, parent)

    def _parent_if_new(self, site: Site) -> Hashable | None:
        """Give the parent of a subnet that nobody holds or fights for."""
        if self.machine.ledger.hold_of(key_of(self.tree, site.address)) is not Hold.FREE:
            return None
        return self.gate.parent_of(site)

    def sampled(self, attempt: int, sample: Sample) -> None:
        """Take in the answer to a probe."""
        self._handle(SampleReturned(attempt, sample, self.clock()), self._sites.get(attempt), None)
        while self._ready:
            self._admit(self._ready.popleft())

    def join(self, crawler: Crawler) -> None:
        """Tell the machine that a crawler can be reached again, or no longer."""
        index = self.machine.roster.index_of(crawler.name)
        is_liar = index is not None and (
            self.machine.roster.marks[index] >= self.machine.config.physics.marks_allowed
        )
        if is_liar and crawler.state is CrawlerState.JOINED:
            return
        self.machine.handle(CrawlerJoined(crawler, self.clock()))
        self.changed.set()

    def fail(self, error: BaseException) -> None:
        """Remember the first thing that went wrong, for whoever waits."""
        self.failure = self.failure or error
        self.changed.set()

    @property
    def has_crawlers(self) -> bool:
        """Whether anybody is left to ask."""
        return bool(self.machine.roster.usable())

    # --- out

    def _handle(
        self, event: SiteArrived | SampleReturned, site: Site | None, parent: Hashable | None
    ) -> None:
        """Let the machine take in an event that is about a site, and do what it says."""
        is_over = False
        for action in self.machine.handle(event):
            if isinstance(action, AskProbe):
                self._ask(action, site, parent)
            else:
                is_over = is_over or isinstance(action, Delegated | GaveUp)
                self._carry_out(action, site)
        if is_over and isinstance(event, SampleReturned) and event.attempt is not None:
            self._sites.pop(event.attempt, None)
            self._ready.extend(self.gate.closed(event.attempt))
        self.changed.set()

    def _ask(self, action: AskProbe, site: Site | None, parent: Hashable | None) -> None:
        site = site or Site(str(action.address), action.address)
        self._sites.setdefault(action.attempt, site)
        self.gate.opened(action.attempt, parent)
        probe = Probe(
            crawler=action.crawler,
            address=action.address,
            host=None if site.host == str(site.address) else site.host,
            scheme=site.scheme,
            port=site.port,
        )
        self.probes.ask(action.attempt, probe)

    def _carry_out(self, action: Action, site: Site | None) -> None:
        now_s = self.clock()
        if isinstance(action, Delegated):
            self.delegated(action, site)
        elif isinstance(action, Assigned):
            self._assigned(action)
        elif isinstance(action, Revoked):
            bounds = action.delegation.first, action.delegation.last
            self.writer.end(bounds, action.reason, now_s)
        elif isinstance(action, CrawlerMarked):
            self.writer.marks.append(
                MarkRecord(
                    crawler=action.crawler,
                    address=action.address,
                    rtt_ms=action.rtt_ms,
                    least_ms=action.least_ms,
                    at_s=now_s,
                )
            )
        elif isinstance(action, CrawlerCleared):
            self.writer.clear(action.crawler, action.address)
        elif isinstance(action, GaveUp):
            self.pending -= 1
            self.give_up(action.site, action.reason)

    def delegated(self, action: Delegated, site: Site | None) -> None:
        """Keep a delegation, unless only an empty budget kept its subnet from being probed."""
        account, one = action.account, action.delegation
        is_makeshift = one.evidence is not Evidence.PROBED and any(
            considered.loss is Loss.BUDGET for considered in account.tried
        )
        if is_makeshift:
            return
        held = self.machine.ledger.get(action.key)
        self._expiries[action.key] = one.expires_s
        self.writer.delegate(
            DelegationRecord(
                delegation=one,
                address=site.address if site else None,
                location=held.location if held else None,
                account=written(account, self.config.explained),
            )
        )

    def _assigned(self, action: Assigned) -> None:
        first, last = bounds_of(self.tree, action.key)
        held = self.machine.ledger.get(action.key)
        if held is not None and held.expires_s > self._expiries.get(action.key, held.created_s):
            known = self._expiries.get(action.key)
            self._expiries[action.key] = held.expires_s
            if known is not None:
                self.writer.renewed[first, last] = held.expires_s
        self.pending -= 1
        self.answered += 1
        self.writer.results.append(
            ResultRecord(
                host=action.site.host,
                address=action.site.address,
                first=first,
                last=last,
                crawler=action.crawler,
                evidence=action.evidence,
                rtt_ms=action.rtt_ms,
                probes=action.probes,
            )
        )
        if self.writer.rows >= self.config.flush_rows:
            self.flush()

    def expect(self, key: int, expires_s: float) -> None:
        """Take note of a delegation that is in the store."""
        self._expiries[key] = expires_s

    def flush(self) -> None:
        """Write what was gathered."""
        self.writer.flush(self.clock())

    def abandon(self, reason: str) -> None:
        """Give up the sites that are still held back."""
        for site in self.gate.empty():
            self.pending -= 1
            self.give_up(site, reason)


def written(account: Account, most: int) -> tuple[Considered, ...]:
    """Write an account down: all who were tried, and of the others those that promised most."""
    rest = sorted(account.rest(), key=lambda one: -(one.saving_ms or 0.0))
    kept = rest[:most]
    if len(rest) > most:
        kept[-1] = replace(kept[-1], reason=f"{kept[-1].reason} (and {len(rest) - most} more)")
    return (*account.tried, *kept)
