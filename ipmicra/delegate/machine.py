"""The machine: events in, actions out. What it does depends on its events alone."""

from __future__ import annotations

from ipmicra.delegate.account import Account, Considered, Verdict
from ipmicra.delegate.actions import Action, AskProbe, CrawlerCleared, CrawlerMarked, Delegated, GaveUp
from ipmicra.delegate.attempt import Ask, Attempt, Settle
from ipmicra.delegate.config import DelegatorConfig
from ipmicra.delegate.events import (
    CrawlerJoined,
    CrawlerLeft,
    DelegationExpired,
    Event,
    ProbeLost,
    SampleReturned,
    SiteArrived,
)
from ipmicra.delegate.fallback import Fallback
from ipmicra.delegate.holdings import Holdings
from ipmicra.delegate.ledger import Ledger
from ipmicra.delegate.lifecycle import Stage, Step
from ipmicra.delegate.physics import Physics, are_apart
from ipmicra.delegate.ports import CoordinateSource, LocationSource, Policy, PrefixSet, Scope
from ipmicra.delegate.roster import Roster
from ipmicra.delegate.subnets import SubnetTree, key_of, row_of_key, single, slice_of
from ipmicra.model.delegation import Delegation, Evidence
from ipmicra.model.location import Location
from ipmicra.model.sample import Loss, Sample
from ipmicra.model.site import Site

KNOWN = "its sample was known"
NOBODY = "there is no crawler to give it to: add one, or wait until one is reachable"


class DelegationMachine:
    """Delegates subnets by a policy. Drive it with `handle`; do what it says; tell it what came of it."""

    def __init__(
        self,
        tree: SubnetTree,
        policy: Policy,
        config: DelegatorConfig | None = None,
        *,
        locations: LocationSource | None = None,
        coordinates: CoordinateSource | None = None,
        anycast: PrefixSet | None = None,
    ) -> None:
        """Begin with no crawlers and nothing delegated."""
        self.config = config or DelegatorConfig()
        self.roster, self.ledger = Roster(), Ledger()
        self._tree, self._policy = tree, policy
        self._locations, self._anycast = locations, anycast
        self._physics = Physics(self.config.physics, self.roster)
        self._fallback = Fallback(tree, self.roster, self.ledger, coordinates)
        self._holdings = Holdings(tree, self.roster, self.ledger, self.config)
        self._attempts: dict[int, Attempt] = {}
        self._open_by_key: dict[int, Attempt] = {}
        self._count = 0
        policy.bind(self.roster, self.ledger, tree)

    def __repr__(self) -> str:
        """Show the state in one line."""
        parts = f"{self.roster!r}, {self.ledger!r}, {len(self._attempts)} open"
        return f"<DelegationMachine {self._policy.name}: {parts}>"

    def handle(self, event: Event) -> list[Action]:
        """Take in what happened; give what is to be done."""
        if isinstance(event, SiteArrived):
            return self._site_arrived(event.site, event.now_s)
        if isinstance(event, SampleReturned):
            return self._sample_returned(event)
        if isinstance(event, ProbeLost):
            return self._probe_lost(event)
        if isinstance(event, CrawlerJoined):
            return self._crawler_joined(event)
        if isinstance(event, CrawlerLeft):
            return self._crawler_left(event)
        return self._delegation_expired(event)

    # --- sites

    def _site_arrived(self, site: Site, now_s: float) -> list[Action]:
        key, location = self._whereabouts(site)
        held = self.ledger.get(key)
        if held is not None and held.fleet_size == len(self.roster) and self._holdings.is_good(held, now_s):
            return [self._holdings.assign(site, key, held, 0)]
        attempt = self._open_by_key.get(key)
        if attempt is not None:
            attempt.sites.append(site)
            return []
        return self._consider(site, key, location, now_s)

    def _whereabouts(self, site: Site) -> tuple[int, Location | None]:
        """Give the key to delegate for a site, and its place if anybody knows it."""
        if self._policy.scope is Scope.SITE:
            key = single(site.address)
            return key, self._location_of(site, key)
        key = key_of(self._tree, site.address)
        location = self._location_of(site, key)
        if self._policy.scope is Scope.PLACE and location is not None:
            held = self.ledger.get(key)
            if held is not None and are_apart(location, held.location, self.config.apart_km):
                return slice_of(site.address), location
        return key, location

    def _location_of(self, site: Site, key: int) -> Location | None:
        return self._locations.location_of(site, key) if self._locations else None

    def _consider(self, site: Site, key: int, location: Location | None, now_s: float) -> list[Action]:
        """Decide whether a subnet's holder, if any, may keep it; open an attempt if not."""
        held = self.ledger.get(key)
        actions: list[Action] = []
        if held is not None and not self._holdings.is_good(held, now_s):
            is_over = now_s >= held.expires_s
            step = Step.DELEGATION_EXPIRED if is_over else Step.CRAWLER_LEFT
            actions += self._holdings.revoke(key, step, "it expired" if is_over else "its crawler left")
            held = None
        attempt = Attempt(self._count, key, row_of_key(self._tree, key), site.address, location)
        if held is not None:
            if held.rtt_ms is not None and held.evidence is Evidence.PROBED:
                attempt.samples[held.crawler] = held.rtt_ms
                attempt.known = (held.crawler,)
            newcomers = range(held.fleet_size, len(self.roster))
            held.fleet_size = len(self.roster)
            if held.evidence is Evidence.ANYCAST or not any(
                self.roster.is_usable(crawler) and self._policy.can_win(crawler, attempt)
                for crawler in newcomers
            ):
                return [*actions, self._holdings.assign(site, key, held, 0)]
            attempt.scratch = None
        return actions + self._open(attempt, site, now_s)

    def _open(self, attempt: Attempt, site: Site, now_s: float) -> list[Action]:
        self._count += 1
        attempt.sites.append(site)
        if not self.roster.usable():
            return [GaveUp(site, NOBODY)]
        self.ledger.contest(attempt.key)
        self._attempts[attempt.number] = self._open_by_key[attempt.key] = attempt
        if self._anycast is not None and str(site.address) in self._anycast:
            return self._settle_anycast(attempt, "it is in the list of anycast prefixes", now_s)
        return self._go_on(attempt, now_s)

    # --- attempts

    def _go_on(self, attempt: Attempt, now_s: float) -> list[Action]:
        """Ask the policy what is next, within the budget."""
        if not self.roster.usable():
            return self._abandon(attempt)
        if self._is_unprobeable(attempt):
            return self._settle_by_fallback(attempt, now_s)
        decision = self._policy.decide(attempt)
        if attempt.location is None and attempt.doubted:  # the policy found out that the place is wrong
            return [*self._believe(attempt), *self._go_on(attempt, now_s)]
        if isinstance(decision, Settle):
            return self._settle(attempt, decision, now_s)
        crawlers = decision.crawlers[: self._budget_left(attempt)]
        if not crawlers:
            return self._settle_without_budget(attempt, now_s)
        return self._ask(attempt, Ask(crawlers, decision.reason))

    def _is_unprobeable(self, attempt: Attempt) -> bool:
        if attempt.samples or not attempt.losses:
            return False
        if len(attempt.losses) >= self.config.losses_allowed:
            return True
        return all(attempt.was_tried(crawler) for crawler in self.roster.usable())

    def _budget_left(self, attempt: Attempt) -> int:
        budget = self.config.probe_budget
        return len(self.roster) if budget is None else max(0, budget - attempt.probes)

    def _ask(self, attempt: Attempt, ask: Ask) -> list[Action]:
        attempt.follow(Step.PROBE_ASKED)
        actions: list[Action] = []
        for crawler in ask.crawlers:
            attempt.asked.append(crawler)
            attempt.outstanding.add(crawler)
            attempt.reasons[crawler] = ask.reason
            name = self.roster.name(crawler)
            actions.append(AskProbe(attempt.number, name, attempt.address, ask.reason))
        return actions

    def _sample_returned(self, event: SampleReturned) -> list[Action]:
        sample, crawler = event.sample, self.roster.index_of(event.sample.crawler)
        if crawler is None:
            return []
        if sample.rtt_ms is None:
            loss = sample.loss or Loss.AGENT
            return (
                []
                if event.attempt is None
                else self._probe_lost(ProbeLost(event.attempt, sample.crawler, loss, event.now_s))
            )
        if event.attempt is None:
            self._learn_elsewhere(sample, crawler, sample.rtt_ms)
            return []
        attempt = self._attempts.get(event.attempt)
        if attempt is None or crawler not in attempt.outstanding:
            return []
        least_ms = self._physics.least_ms(crawler, attempt.location)
        if not least_ms <= sample.rtt_ms < float("inf") or sample.rtt_ms <= 0:
            return self._refuse(attempt, crawler, sample.rtt_ms, least_ms, event.now_s)
        if least_ms > 0:
            self.roster.check(crawler)
        attempt.outstanding.discard(crawler)
        attempt.samples[crawler] = sample.rtt_ms
        return self._after_answer(attempt, event.now_s)

    def _refuse(
        self, attempt: Attempt, crawler: int, rtt_ms: float, least_ms: float, now_s: float
    ) -> list[Action]:
        """Throw away a sample that cannot be true and mark its crawler.

        Where two crawlers say what the place makes impossible, the place is wrong and not the crawlers.
        """
        marks = self.roster.mark(crawler, self.config.physics.marks_allowed)
        name = self.roster.name(crawler)
        actions: list[Action] = [CrawlerMarked(name, attempt.address, rtt_ms, least_ms, marks)]
        if 0 < rtt_ms < least_ms:
            attempt.doubted[crawler] = rtt_ms
        lost = ProbeLost(attempt.number, name, Loss.IMPOSSIBLE, now_s)
        if len(attempt.doubted) <= 1:
            return actions + self._probe_lost(lost)
        attempt.outstanding.discard(crawler)
        attempt.location = attempt.scratch = None
        return [*actions, *self._believe(attempt), *self._after_answer(attempt, now_s)]

    def _believe(self, attempt: Attempt) -> list[Action]:
        """Count samples after all that only a wrong place made impossible; clear their crawlers."""
        doubted, attempt.doubted = attempt.doubted, {}
        allowed = self.config.physics.marks_allowed
        for crawler in doubted:
            attempt.losses.pop(crawler, None)
        attempt.samples.update(doubted)
        return [
            CrawlerCleared(self.roster.name(crawler), attempt.address, self.roster.clear(crawler, allowed))
            for crawler in doubted
        ]

    def _probe_lost(self, event: ProbeLost) -> list[Action]:
        attempt, crawler = self._attempts.get(event.attempt), self.roster.index_of(event.crawler)
        if attempt is None or crawler is None or crawler not in attempt.outstanding:
            return []
        attempt.outstanding.discard(crawler)
        attempt.losses[crawler] = event.loss
        return self._after_answer(attempt, event.now_s)

    def _after_answer(self, attempt: Attempt, now_s: float) -> list[Action]:
        if attempt.outstanding:
            return []
        attempt.follow(Step.PROBES_IN)
        if Loss.BUDGET in attempt.losses.values():
            return self._settle_without_budget(attempt, now_s)
        if len(attempt.samples) > 1 and self._physics.is_in_many_places(attempt.samples):
            return self._settle_anycast(attempt, "light cannot be at both ends of two samples", now_s)
        return self._go_on(attempt, now_s)

    def _learn_elsewhere(self, sample: Sample, crawler: int, rtt_ms: float) -> None:
        """Learn from a sample that no attempt asked for."""
        key, location = self._whereabouts(Site(str(sample.address), sample.address))
        attempt = Attempt(-1, key, row_of_key(self._tree, key), sample.address, location)
        attempt.samples[crawler] = rtt_ms
        self._policy.learn(attempt)

    # --- ends of attempts

    def _settle_without_budget(self, attempt: Attempt, now_s: float) -> list[Action]:
        best = attempt.best
        if best is None:
            return self._settle_by_fallback(attempt, now_s)
        settle = Settle(best, Evidence.PROBED, attempt.samples[best], "the budget is out: the lowest sample")
        return self._settle(attempt, settle, now_s)

    def _settle_by_fallback(self, attempt: Attempt, now_s: float) -> list[Action]:
        return self._settle(attempt, self._fallback.settle(attempt), now_s)

    def _settle_anycast(self, attempt: Attempt, reason: str, now_s: float) -> list[Action]:
        crawler = self.roster.least_loaded()
        if crawler is None:
            return self._abandon(attempt)
        best_ms = min(attempt.samples.values(), default=None)
        return self._settle(attempt, Settle(crawler, Evidence.ANYCAST, best_ms, reason), now_s)

    def _settle(self, attempt: Attempt, settle: Settle, now_s: float) -> list[Action]:
        """End an attempt: the subnet is held, the policy learns, the sites get their answer."""
        attempt.follow(Step.CRAWLER_CHOSEN)
        self._close(attempt)
        if settle.evidence is not Evidence.ANYCAST:
            self._policy.learn(attempt)
        account = self._account(attempt, settle)
        held = self._holdings.held(settle, attempt.probes, attempt.location, now_s)
        self.ledger.settle(attempt.key, held, self._holdings.organisation(attempt.key))
        actions: list[Action] = [
            Delegated(attempt.key, self._holdings.delegation(attempt.key, held), account)
        ]
        for i, site in enumerate(attempt.sites):
            actions.append(self._holdings.assign(site, attempt.key, held, 0 if i else attempt.probes))
        return actions

    def _abandon(self, attempt: Attempt) -> list[Action]:
        attempt.follow(Step.NOBODY_LEFT)
        self._close(attempt)
        self.ledger.abandon(attempt.key)
        return [GaveUp(site, NOBODY) for site in attempt.sites]

    def _close(self, attempt: Attempt) -> None:
        del self._attempts[attempt.number]
        del self._open_by_key[attempt.key]

    def _account(self, attempt: Attempt, settle: Settle) -> Account:
        """Write down why each crawler was asked or not, the chosen one's reason first."""
        names = self.roster.name
        chosen = Considered(
            crawler=names(settle.crawler), verdict=Verdict.CHOSEN, reason=settle.reason, rtt_ms=settle.rtt_ms
        )
        known = [
            Considered(
                crawler=names(one), verdict=Verdict.KNOWN, reason=KNOWN, rtt_ms=attempt.samples.get(one)
            )
            for one in attempt.known
        ]
        asked = [
            Considered(
                crawler=names(one),
                verdict=Verdict.ASKED,
                reason=attempt.reasons[one],
                rtt_ms=attempt.samples.get(one),
                loss=attempt.losses.get(one),
            )
            for one in attempt.asked
        ]
        return Account((chosen, *known, *asked), self._policy.explain(attempt))

    # --- the fleet and the ledger

    def _crawler_joined(self, event: CrawlerJoined) -> list[Action]:
        index, is_new = self.roster.join(event.crawler)
        if is_new:
            self._policy.crawler_added(index)
            if self._policy.scope is not Scope.SITE:
                return self._holdings.give_own(index, event.now_s)
        return []

    def _crawler_left(self, event: CrawlerLeft) -> list[Action]:
        """Let a crawler go; what it holds is revoked when it is next needed."""
        index = self.roster.leave(event.name)
        if index is None:
            return []
        actions: list[Action] = []
        for attempt in list(self._attempts.values()):
            if attempt.stage is Stage.WAITING:
                attempt.samples.pop(index, None)
                actions += self._probe_lost(ProbeLost(attempt.number, event.name, Loss.AGENT, event.now_s))
        return actions

    def _delegation_expired(self, event: DelegationExpired) -> list[Action]:
        return self._holdings.revoke(event.key, Step.DELEGATION_EXPIRED, "it expired")

    def restore(
        self,
        key: int,
        delegation: Delegation,
        location: Location | None = None,
        fleet_size: int | None = None,
    ) -> bool:
        """Take over a delegation from the store or an earlier edition; False if its crawler is unknown.

        `fleet_size` is the number of crawlers that had joined when it was made: later ones may be nearer.
        """
        return self._holdings.restore(key, delegation, location, fleet_size)
