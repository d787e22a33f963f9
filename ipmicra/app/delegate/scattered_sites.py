"""Sites whose names answer differently in different places: resolved, compared and decided by themselves.

How it works
------------
`parts` takes the place of the resolver. Names of a part of the seeds are asked of all agents at once, unless
what they see is known; the answers are kept in the store, and `compare` says what to do with each host:

- all see the same: it is pinned to that address and leaves as any other site. Once this was seen, it need not
  be asked again as long as delegations live and no crawler joined;
- they see different things: it leaves as a `ScatteredSite`, which `take` keeps from the driver. Its attempt
  asks each crawler that sees it for a probe of the address that it sees, except where a round trip to that
  slice of addresses is known or on its way: many hosts share the front ends of a content network, and only
  the first one pays;
- nobody sees anything: it is reported like a name that cannot be resolved.

An answer is kept for the host. It holds for the life of a delegation, until its crawler leaves or another one
joins; for a day only, if some crawler had no part in it. Probes go through the same queue and budget as all
others, under negative numbers of attempts. What was seen in a batch holds for the batch, whatever its time to
live: a run that resumes must find the same addresses, or its samples would be paid for twice.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, field

from ipmicra.app.delegate.driver import Driver
from ipmicra.app.delegate.known_views import KnownViews, Views
from ipmicra.app.rules import SiteRules
from ipmicra.delegate.subnets import slice_of
from ipmicra.delegate.views import Different, KnownTrip, Nothing, Same, Seen, SiteAttempt, compare, trip_of
from ipmicra.edge.coordinator.names import NameDesk
from ipmicra.edge.dns.bulk import NO_SITE, Found, in_parts
from ipmicra.edge.dns.one_by_one import REASONS
from ipmicra.edge.files.seeds import Seed, UnresolvedSeed, parse_seed
from ipmicra.edge.store.ports import SiteAnswer, StorePort
from ipmicra.model.address import Address
from ipmicra.model.delegation import Decision, Delegation, Origin
from ipmicra.model.name import FAILURES, NameStatus, View
from ipmicra.model.probe import Probe
from ipmicra.model.sample import Sample
from ipmicra.model.site import Site
from ipmicra.wire.fields import is_host_name

AT_ONCE = 500
"""Seeds whose names are asked for together."""
AHEAD = 4
"""Such parts under way at a time: a name that nobody answers holds up its own part, and not those behind."""
INCOMPLETE_S = 86_400.0
"""Life of an answer that some crawler had no part in, since its agent or its resolver failed: a day."""
UNANSWERED = "its agent did not resolve the name"
MANY = 0.5
"""Share of names that a crawler sees apart from all others, from which its resolver is in doubt."""
FEW = 10
"""Names below which a share says nothing."""


@dataclass(frozen=True, slots=True)
class ScatteredSite(Site):
    """A site that crawlers see at different addresses; `address` is one of them."""

    seen: Seen = field(default_factory=dict)
    """Empty if the answer is known."""
    others: Mapping[str, str] = field(default_factory=dict)
    """Why the other crawlers see nothing."""
    is_complete: bool = True
    """Whether it is known of every crawler what it sees."""
    answer: SiteAnswer | None = None
    """An earlier answer that still holds."""


@dataclass(slots=True)
class ScatteredSites:
    """Resolves seeds at agents, and decides the sites that have no single address."""

    store: StorePort
    driver: Driver
    desk: NameDesk
    margin_ms: float
    """Within this of each other, crawlers are equally near."""
    batch_s: float
    """When the batch began."""
    lifetime_s: float
    """How long answers hold."""
    is_again: bool = False
    """Whether nothing counts that was known before the batch."""
    rules: SiteRules | None = None
    """Who may own which site."""
    clock: Callable[[], float] = time.time
    compared: int = 0
    """Hosts that were compared."""
    scattered: int = 0
    """Those of which crawlers see different things."""
    blind: Counter[str] = field(default_factory=Counter)
    """Hosts that others see and a crawler does not."""
    _unwritten: dict[str, tuple[SiteAnswer, Site]] = field(default_factory=dict)
    """Answers that the next transaction keeps, with the sites at their crawlers' addresses, by host."""
    _number: int = 0
    """Of the last attempt, counted downwards."""
    _flights: dict[tuple[str, int], list[int]] = field(default_factory=dict)
    """Probes on their way, by crawler and slice: the attempts that wait for what another one asked."""
    _attempts: dict[int, tuple[ScatteredSite, SiteAttempt]] = field(default_factory=dict)
    _trips: dict[tuple[str, int], KnownTrip] = field(default_factory=dict)
    """The newest round trip of each crawler to each slice."""

    def learn(self, samples: Iterable[Sample]) -> None:
        """Remember round trips, oldest first."""
        for sample in samples:
            if sample.rtt_ms is not None:
                key = sample.crawler, slice_of(sample.address)
                self._trips[key] = trip_of(sample, sample.rtt_ms)

    # --- names

    async def parts(self, texts: Iterable[str]) -> AsyncIterator[list[Found]]:
        """Return a site or a reason for each text, in order, many at a time."""
        ahead: deque[asyncio.Task[list[Found]]] = deque()
        try:
            for part in in_parts(texts, AT_ONCE):
                ahead.append(asyncio.create_task(self._resolved(part)))
                if len(ahead) == AHEAD:
                    yield await ahead.popleft()
            while ahead:
                yield await ahead.popleft()
        finally:
            for task in ahead:
                task.cancel()

    async def _resolved(self, texts: list[str]) -> list[Found]:
        seeds = [parse_seed(text) for text in texts]
        hosts = dict.fromkeys(one.host for one in seeds if isinstance(one, Seed) and one.first is None)
        known = self._known_views()
        answers = {host: one for host in hosts if (one := known.answer(host)) is not None}
        asked = [host for host in hosts if host not in answers and is_host_name(host)]
        views = await self._views(known, asked)
        found: list[Found] = []
        moved: dict[str, Site] = {}
        for seed in seeds:
            if isinstance(seed, UnresolvedSeed):
                found.append(seed)
            elif seed.is_range:
                found.append(UnresolvedSeed(text=seed.text, reason=NO_SITE))
            elif seed.first is not None:
                found.append(Site(seed.host, seed.first, seed.scheme, seed.port))
            elif seed.host in answers:
                answer = answers[seed.host]
                site = ScatteredSite(
                    seed.host, answer.delegation.first, seed.scheme, seed.port, answer=answer
                )
                found.append(site)
            elif not is_host_name(seed.host):
                found.append(UnresolvedSeed(text=seed.text, reason=REASONS[NameStatus.BAD_NAME.value]))
            else:
                found.append(self._site_of(seed, views.get(seed.host, {}), moved))
        self.store.sites.move_many(moved.values(), self.clock())
        return found

    async def _views(self, known: KnownViews, hosts: list[str]) -> Views:
        """Return what crawlers see of hosts; those are asked whose views do not hold any more."""
        views, wanted = known.views(hosts)
        fresh = await self.desk.ask(wanted)
        self.store.views.put_many(fresh)
        unanswered = {(name, host) for name, some in wanted.items() for host in some}
        unanswered -= {(view.crawler, view.answer.name) for view in fresh}
        for view in fresh:
            views.setdefault(view.answer.name, {})[view.crawler] = view
        return {
            host: {
                name: view for name, view in some.items() if name in wanted and (name, host) not in unanswered
            }
            for host, some in views.items()
        }

    def _usable(self) -> list[str]:
        roster = self.driver.machine.roster
        return [roster.name(index) for index in roster.usable()]

    def _known_views(self) -> KnownViews:
        roster = self.driver.machine.roster
        return KnownViews(
            store=self.store,
            usable=[roster.crawlers[index] for index in roster.usable()],
            present={one.name for index, one in enumerate(roster) if roster.is_present(index)},
            now_s=self.clock(),
            batch_s=self.batch_s,
            is_again=self.is_again,
            lifetime_s=self.lifetime_s,
        )

    def _site_of(self, seed: Seed, views: Mapping[str, View], moved: dict[str, Site]) -> Found:
        """Return a seed as what crawlers see; a host that all see elsewhere than it is pinned is moved."""
        pin = self.store.sites.get(seed.host)
        answers = {name: one.answer for name, one in views.items()}
        verdict = compare(answers, len(self._usable()), pin.address if pin else None)
        self.compared += 1
        if isinstance(verdict, Nothing):
            reason = REASONS[verdict.status.value] if answers else "no agent could resolve the host name"
            return UnresolvedSeed(text=seed.text, reason=reason)
        if isinstance(verdict, Same):
            site = Site(seed.host, verdict.address, seed.scheme, seed.port)
            if pin is None or pin.address != verdict.address:
                moved[seed.host] = site
            return site
        return self._scattered_site(seed, verdict, views)

    def _scattered_site(self, seed: Seed, verdict: Different, views: Mapping[str, View]) -> ScatteredSite:
        self.scattered += 1
        others = {name: UNANSWERED for name in self._usable() if name not in verdict.seen}
        for name in others:
            if name in views:
                status = views[name].answer.status
                others[name] = f"it sees nothing: {REASONS[status.value]}"
                self.blind[name] += status not in FAILURES
        first = next(iter(verdict.seen.values()))[0]
        sure = {name for name, view in views.items() if view.answer.status not in FAILURES}
        return ScatteredSite(
            *(seed.host, first, seed.scheme, seed.port),
            seen=verdict.seen,
            others=others,
            is_complete=sure >= self.desk.crawlers.keys(),
        )

    # --- decisions

    def take(self, sites: Iterable[Site]) -> list[Site]:
        """Begin to decide the sites that crawlers see apart; return the others."""
        rest: list[Site] = []
        for site in sites:
            if isinstance(site, ScatteredSite):
                self.driver.pending += 1
                self._begin(site)
            else:
                rest.append(site)
        return rest

    def _begin(self, site: ScatteredSite) -> None:
        if site.answer is not None:
            self._decided(site, site.answer.delegation, 0)
            return
        usable = set(self._usable())
        attempt = self._attempt(site, usable)
        self._number -= 1
        self._attempts[self._number] = site, attempt
        asked = [name for name in attempt.waiting if name in usable]
        for name in asked:
            self._fly(self._number, name)
        if not asked:
            self._settle(self._number)

    def _fly(self, number: int, crawler: str) -> None:
        """Ask for a probe, or wait for one that is on its way to the same slice."""
        flight = crawler, slice_of(self._attempts[number][1].seen[crawler])
        if flight in self._flights:
            self._flights[flight].append(number)
            return
        self._flights[flight] = []
        self._ask(number, crawler)

    def _ask(self, number: int, crawler: str) -> None:
        site, attempt = self._attempts[number]
        address = attempt.seen[crawler]
        probe = Probe(crawler=crawler, address=address, host=site.host, scheme=site.scheme, port=site.port)
        self.driver.probes.ask(number, probe)

    def _attempt(self, site: ScatteredSite, usable: set[str]) -> SiteAttempt:
        """Put together what is known; crawlers that fell silent meanwhile are left out, if any is left."""
        attempt = SiteAttempt({})
        for name in self._left(site, [one for one in site.seen if one in usable] or list(site.seen)):
            known = self._known(name, site.seen[name])
            attempt.seen[name] = site.seen[name][0] if known is None else known[0]
            if known is not None:
                attempt.known[name] = known[1]
        return attempt

    def _left(self, site: ScatteredSite, names: list[str]) -> list[str]:
        """Return the crawlers that rules leave, each by the address that it sees; all if that is nobody."""
        if self.rules is None:
            return names
        crawlers = self.driver.machine.roster.crawlers
        left = []
        for name in names:
            seen = Site(site.host, site.seen[name][0])
            choices = self.rules.choices([seen], crawlers).get(site.host, ())
            if not choices or any(
                crawlers[one].name == name for choice in choices for one in choice.crawlers
            ):
                left.append(name)
        return left or names

    def _known(self, crawler: str, addresses: tuple[Address, ...]) -> tuple[Address, KnownTrip] | None:
        """Return one of the addresses, and a round trip to it, or else to its slice, if there is one."""
        trips = [(one, self._trips.get((crawler, slice_of(one)))) for one in addresses]
        found = [(one, trip) for one, trip in trips if trip is not None]
        return min(found, key=lambda pair: pair[0] != pair[1].address, default=None)

    def sampled(self, number: int, sample: Sample) -> None:
        """Take in the answer to a probe: of an attempt here, or of the machine's."""
        if number >= 0:
            self.driver.sampled(number, sample)
            return
        self.learn([sample])
        self._attempts[number][1].take(sample)
        self._settle_if_done(number)
        for other in self._flights.pop((sample.crawler, slice_of(sample.address)), ()):
            self._share(other, sample)
        self.driver.changed.set()

    def _share(self, number: int, sample: Sample) -> None:
        """Hand a sample on that another attempt asked for; one that was lost elsewhere tells nothing."""
        attempt = self._attempts[number][1]
        if sample.rtt_ms is None and attempt.seen[sample.crawler] != sample.address:
            self._ask(number, sample.crawler)
            return
        attempt.share(sample)
        self._settle_if_done(number)

    def _settle_if_done(self, number: int) -> None:
        if not self._attempts[number][1].waiting:
            self._settle(number)

    def _settle(self, number: int) -> None:
        site, attempt = self._attempts.pop(number)
        roster, now_s = self.driver.machine.roster, self.clock()
        load = {one.name: roster.load[index] for index, one in enumerate(roster)}
        choice = attempt.choose(load, self.margin_ms)
        delegation = Delegation(
            first=choice.address,
            last=choice.address,
            crawler=choice.crawler,
            evidence=choice.evidence,
            rtt_ms=choice.rtt_ms,
            probes=attempt.probes,
            created_s=now_s,
            expires_s=now_s + (self.lifetime_s if site.is_complete else min(self.lifetime_s, INCOMPLETE_S)),
            origin=choice.origin,
        )
        if not attempt.is_makeshift:
            account = attempt.account(choice, site.others)
            answer = SiteAnswer(host=site.host, delegation=delegation, account=account)
            pinned = Site(site.host, choice.address, site.scheme, site.port)
            self._unwritten[site.host] = answer, pinned
        self._decided(site, delegation, attempt.probes)

    def write(self, now_s: float) -> None:
        """Write answers and the addresses that their crawlers see, in the transaction of the decisions."""
        self.store.site_answers.put_many(answer for answer, _ in self._unwritten.values())
        self.store.sites.move_many((site for _, site in self._unwritten.values()), now_s)
        self._unwritten = {}

    def _decided(self, site: ScatteredSite, delegation: Delegation, probes: int) -> None:
        roster = self.driver.machine.roster
        index = roster.index_of(delegation.crawler)
        if index is not None:
            roster.load[index] += 1
        self.driver.answer(
            Decision(
                host=site.host,
                address=delegation.first,
                first=delegation.first,
                last=delegation.last,
                crawler=delegation.crawler,
                evidence=delegation.evidence,
                rtt_ms=delegation.rtt_ms,
                probes=probes,
                inherited_from=_inherited(delegation),
            )
        )

    # --- what the user should know

    def lines(self) -> list[str]:
        """Say what resolving at agents came to, and which agents are in doubt."""
        said = []
        if self.desk.requests:
            said.append(f"names: {self.desk.asked:,} questions to agents in {self.desk.requests:,} requests")
        if self.scattered:
            said.append(
                f"{self.scattered:,} of {self.compared:,} hosts answer differently in different places"
            )
        for name, reason in sorted(self.desk.troubles.items()):
            said.append(f"{name} gets no host that answers differently, for it resolved no names: {reason}")
        for name, count in sorted(self.blind.items()):
            if self.compared >= FEW and count > MANY * self.compared:
                hosts = f"{count:,} of {self.compared:,} hosts"
                said.append(f"{name} sees no address of {hosts} that others see: look at its resolver")
        return said


def _inherited(delegation: Delegation) -> Origin | None:
    """Return what was measured instead of the address that the crawler sees."""
    origin = delegation.origin
    return None if origin is None or origin.first == delegation.first else origin
