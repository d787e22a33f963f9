"""The machine: events in, actions out. What it does depends on its events alone.

Theory of operation
-------------------
`handle` takes one event and returns what its driver must do, in order. Nothing here waits, reads a clock or
draws a number, so the same events always give the same actions; that is what the tests replay.

A site belongs to a subnet (its *key*). The first site of an undelegated subnet opens an *attempt*; sites
of the same subnet that arrive meanwhile join it. The policy says whom to ask (`Ask`) until it has seen enough
(`Settle`). In between the attempt waits for all probes it asked for, lost ones included. When it settles, the
subnet is held, the policy learns, and every waiting site gets its `Decision`:

    SiteArrived ─ held and good ───────────────────────────────────▶ [Renewed] Assigned
         │                                             ┌── Settle ─▶ [CrawlerChecked…] Delegated Assigned…
         └─ free, or to be reviewed ─▶ policy.decide ──┤
                       ▲                               └── Ask ────▶ AskProbe… ─▶ SampleReturned / ProbeLost
                       └────────────── all answers are in ────────────────────────────────┘

A site that cannot be probed goes by `fallback.py`, which may have it located first: `AskPlace`, `PlaceFound`.

A held subnet is reviewed (`reviewing`) if it is time to measure it again, if a crawler joined that may be
nearer, or if the user wants it decided anew. Where that finds nothing new, its holder keeps it.

Invariants:

1. Every site gets exactly one `Assigned` or `GaveUp`.
2. A subnet has at most one open attempt, and an attempt asks a crawler at most once.
3. A crawler's record changes only when an attempt ends, never on a single answer. Before the end it is not
   known whether the crawler is wrong or the place of the site: two crawlers that contradict a place, or a
   policy that finds it wrong, clear each other. It also makes a crash harmless: the driver stores record and
   delegation in one transaction, and an attempt that was cut off is repeated from its stored samples.

Why is expiry checked on use rather than by a timer? Most delegations are never asked for again; a million
timers would be kept for the few that are.
"""

from __future__ import annotations

from collections.abc import Iterable

from ipmicra.delegate.actions import Action, AskPlace, AskProbe, Delegated, GaveUp
from ipmicra.delegate.at_once import NOBODY, AtOnce
from ipmicra.delegate.attempt import Ask, Attempt, Settle, Stage, StageStep, account_of, by_address
from ipmicra.delegate.config import DelegatorConfig
from ipmicra.delegate.events import (
    CrawlerJoined,
    CrawlerLeft,
    Event,
    PlaceFound,
    ProbeLost,
    SampleReturned,
    SiteArrived,
)
from ipmicra.delegate.expecting import Expecting
from ipmicra.delegate.fallback import Fallback
from ipmicra.delegate.ledger import Held, Hold, Holdings, HoldStep, Ledger
from ipmicra.delegate.ports import FallbackSources, LocationSource, Policy, PrefixSet, Scope, UnaskedPolicy
from ipmicra.delegate.reviewing import Reviewing
from ipmicra.delegate.roster import Roster
from ipmicra.delegate.subnets import SubnetTree
from ipmicra.delegate.units import SPREAD, Units
from ipmicra.model.address import Address
from ipmicra.model.crawler import Crawler
from ipmicra.model.delegation import Evidence
from ipmicra.model.location import Location
from ipmicra.model.sample import Loss, Sample
from ipmicra.model.site import Site


class DelegationMachine:
    """Delegates subnets by a policy. Drive it with `handle`, do what it returns, feed the results back."""

    def __init__(
        self,
        tree: SubnetTree,
        policy: Policy,
        config: DelegatorConfig | None = None,
        *,
        locations: LocationSource | None = None,
        fallback: FallbackSources | None = None,
        anycast: PrefixSet | None = None,
    ) -> None:
        """Begin with no crawlers and nothing delegated."""
        self.config = config or DelegatorConfig()
        self.roster, self.ledger = Roster(self.config), Ledger()
        self._tree, self._policy = tree, policy
        self._locations, self._anycast = locations, anycast
        self._fallback = Fallback(tree, self.roster, self.ledger, fallback or FallbackSources())
        self.holdings = Holdings(tree, self.roster, self.ledger, self.config, policy.name)
        self.restore = self.holdings.restore
        self._units = Units(tree, self.ledger, policy.scope, self.config)
        self._reviewing = Reviewing(self._units, self.roster, self.ledger, self.holdings, policy)
        self.doubt = self._reviewing.doubt
        self.at_once: AtOnce | None = None
        if isinstance(policy, UnaskedPolicy) and anycast is None:
            self.at_once = AtOnce(policy, self.roster, self.ledger, self.holdings, self.config, locations)
        self.attempts: dict[int, Attempt] = {}
        self._open_by_key: dict[int, Attempt] = {}
        self._count = 0
        self.expecting = Expecting(policy, tree, self.roster, locations)
        policy.bind(self.roster, self.ledger, tree)

    def __repr__(self) -> str:
        """Show the state in one line."""
        parts = f"{self.roster!r}, {self.ledger!r}, {len(self.attempts)} open"
        return f"<DelegationMachine {self._policy.name}: {parts}>"

    def handle(self, event: Event) -> list[Action]:
        """Take in what happened; return what is to be done."""
        if isinstance(event, SiteArrived):
            return self._site_arrived(event.site, event.now_s)
        if isinstance(event, SampleReturned):
            return self._sample_returned(event)
        if isinstance(event, ProbeLost):
            return self._probe_lost(event)
        if isinstance(event, PlaceFound):
            return self._place_found(event)
        if isinstance(event, CrawlerJoined):
            return self._crawler_joined(event)
        return (
            self._crawler_left(event)
            if isinstance(event, CrawlerLeft)
            else self.holdings.revoke(event.key, HoldStep.DELEGATION_EXPIRED, "it expired")
        )

    # --- sites

    def _site_arrived(self, site: Site, now_s: float) -> list[Action]:
        if self.at_once is not None:
            return self.at_once.arrived(site, now_s)
        key, location = self._whereabouts(site)
        held = self.ledger.get(key)
        has_choice = len(self.roster.usable()) > 1
        if held is not None and has_choice and self._units.is_check(key, held, site.address):
            key, held = self._units.checked(site.address), None
        attempt = self._open_by_key.get(key)
        if attempt is not None:
            attempt.sites.append(site)
            return []
        if held is not None and self.holdings.is_settled(held, now_s):
            return [*self.holdings.renew(held, now_s), self.holdings.assign(site, held, 0)]
        attempt = self._units.attempt(self._count, key, site.address, location)
        return self._open(attempt, site, now_s) if held is None else self._review(attempt, held, site, now_s)

    def _whereabouts(self, site: Site) -> tuple[int, Location | None]:
        """Return the key to delegate for a site, and its place if anybody knows it."""
        location = self._locations.location_of(site, 0) if self._locations else None
        return self._units.of(site.address, location), location

    def _review(self, attempt: Attempt, held: Held, site: Site, now_s: float) -> list[Action]:
        """Decide whether a subnet's holder may keep it without further ado; open an attempt if not."""
        if not self.holdings.is_good(held, now_s):
            return self.holdings.revoke_bad(attempt.key, held, now_s) + self._open(attempt, site, now_s)
        attempt.review = self._reviewing.occasion(held, attempt, now_s)
        if attempt.review is None or not self.roster.usable():
            return [*self.holdings.renew(held, now_s), self.holdings.assign(site, held, 0)]
        return self._open(attempt, site, now_s)

    def _open(self, attempt: Attempt, site: Site, now_s: float) -> list[Action]:
        self._count += 1
        attempt.sites.append(site)
        if not self.roster.usable():
            return [GaveUp(site, NOBODY)]
        self.ledger.contest(attempt.key)
        self.attempts[attempt.number] = self._open_by_key[attempt.key] = attempt
        if self._anycast is not None and str(site.address) in self._anycast:
            return self._settle_anycast(attempt, "it is in the list of anycast prefixes", now_s)
        return self._go_on(attempt, now_s)

    # --- attempts

    def _go_on(self, attempt: Attempt, now_s: float) -> list[Action]:
        """Ask the policy what is next, within the budget."""
        if not self.roster.usable():
            return self._abandon(attempt)
        if attempt.is_unprobeable(self.config.losses_allowed, self.roster.usable()):
            return self._settle_by_fallback(attempt, now_s)
        decision = attempt.first_ask() or self._policy.decide(attempt)
        if attempt.location is None and attempt.against_place:  # the policy found that the place is wrong
            attempt.readmit()
            return self._go_on(attempt, now_s)
        if isinstance(decision, Settle):
            return self._settle(attempt, decision, now_s)
        crawlers = decision.crawlers[: self._budget_left(attempt)]
        if not crawlers:
            return self._settle_without_budget(attempt, now_s)
        return self._ask(attempt, Ask(crawlers, decision.reason))

    def _budget_left(self, attempt: Attempt) -> int:
        budget = self.config.probe_budget
        return len(self.roster) if budget is None else max(0, budget - attempt.probes)

    def _ask(self, attempt: Attempt, ask: Ask) -> list[Action]:
        attempt.follow(StageStep.PROBE_ASKED)
        since_s = 0.0 if attempt.review is None else attempt.review.since_s
        actions: list[Action] = []
        for crawler in ask.crawlers:
            probe = attempt.probe_by(crawler, self.roster.name(crawler), ask.reason)
            actions.append(AskProbe(attempt.number, probe, ask.reason, since_s))
        return actions

    def _sample_returned(self, event: SampleReturned) -> list[Action]:
        sample, crawler = event.sample, self.roster.index_of(event.sample.crawler)
        if crawler is None:
            return []
        if sample.rtt_ms is None:
            loss = sample.loss or Loss.AGENT
            return self._probe_lost(ProbeLost(event.attempt, sample.crawler, loss, event.now_s))
        attempt = self.attempts.get(event.attempt)
        if attempt is None or crawler not in attempt.outstanding:
            return []
        least_ms = self.roster.least_ms(crawler, attempt.location)
        if not least_ms <= sample.rtt_ms < float("inf") or sample.rtt_ms <= 0:
            return self._reject(attempt, crawler, sample.rtt_ms, event.now_s)
        attempt.outstanding.discard(crawler)
        attempt.samples[crawler] = sample.rtt_ms
        return self._after_answer(attempt, event.now_s)

    def _reject(self, attempt: Attempt, crawler: int, rtt_ms: float, now_s: float) -> list[Action]:
        """Set aside a sample that cannot be true; the probe counts as lost.

        Where two crawlers report what the place makes impossible, the place is wrong and not the crawlers.
        """
        attempt.rejected[crawler] = rtt_ms
        if len(attempt.against_place) <= 1:
            lost = ProbeLost(attempt.number, self.roster.name(crawler), Loss.IMPOSSIBLE, now_s)
            return self._probe_lost(lost)
        attempt.outstanding.discard(crawler)
        attempt.location = attempt.scratch = None
        attempt.readmit()
        return self._after_answer(attempt, now_s)

    def _probe_lost(self, event: ProbeLost) -> list[Action]:
        attempt, crawler = self.attempts.get(event.attempt), self.roster.index_of(event.crawler)
        if attempt is None or crawler is None or crawler not in attempt.outstanding:
            return []
        attempt.outstanding.discard(crawler)
        attempt.losses[crawler] = event.loss
        return self._after_answer(attempt, event.now_s)

    def _after_answer(self, attempt: Attempt, now_s: float) -> list[Action]:
        if attempt.outstanding:
            return []
        attempt.follow(StageStep.PROBES_IN)
        if Loss.BUDGET in attempt.losses.values():
            return self._settle_without_budget(attempt, now_s)
        if self.roster.finds_two_places(attempt):
            return self._settle_anycast(attempt, "light cannot be at both ends of two samples", now_s)
        return self._go_on(attempt, now_s)

    def learn(self, samples: Iterable[Sample]) -> None:
        """Learn from samples that no attempt asked for; those of an address as if one had."""
        for address, rtts_ms in by_address(samples, self.roster.index_of).items():
            key, location = self._whereabouts(Site(str(address), address))
            attempt = self._units.attempt(-1, key, address, location)
            self.roster.note_mutual(attempt)
            attempt.samples.update(rtts_ms)
            self._policy.learn(attempt)

    # --- ends of attempts

    def _settle_without_budget(self, attempt: Attempt, now_s: float) -> list[Action]:
        best = attempt.best
        if attempt.review is not None and self._reviewing.keeps(attempt, attempt.review, None):
            return self._keep(attempt, None, now_s)
        if best is None:
            return self._settle_by_fallback(attempt, now_s)
        settle = Settle(best, Evidence.PROBED, attempt.samples[best], "the budget is out: the lowest sample")
        return self._settle(attempt, settle, now_s)

    def _settle_by_fallback(self, attempt: Attempt, now_s: float) -> list[Action]:
        choice = self._fallback.choose(attempt)
        if isinstance(choice, AskPlace):
            attempt.follow(StageStep.PLACE_ASKED)
            return [choice]
        return self._settle(attempt, choice, now_s)

    def _place_found(self, event: PlaceFound) -> list[Action]:
        attempt = self.attempts.get(event.attempt)
        if attempt is None:
            return []
        attempt.follow(StageStep.PLACE_FOUND)
        if not self.roster.usable():
            return self._abandon(attempt)
        attempt.locate(event.found)
        return self._settle_by_fallback(attempt, event.now_s)

    def _settle_anycast(self, attempt: Attempt, reason: str, now_s: float) -> list[Action]:
        crawler = self.roster.least_loaded()
        if crawler is None:
            return self._abandon(attempt)
        best_ms = min(attempt.samples.values(), default=None)
        return self._settle(attempt, Settle(crawler, Evidence.ANYCAST, best_ms, reason), now_s)

    def _settle(self, attempt: Attempt, settle: Settle, now_s: float) -> list[Action]:
        """End an attempt: the subnet is held, the policy learns, the sites get their answer."""
        if attempt.review is not None and self._reviewing.keeps(attempt, attempt.review, settle):
            return self._keep(attempt, now_s, now_s)
        if not settle.steps and attempt.note_if_weak(settle):
            return self._settle_by_fallback(attempt, now_s)
        attempt.follow(StageStep.CRAWLER_CHOSEN)
        self._close(attempt)
        if settle.evidence is not Evidence.ANYCAST:
            self._policy.learn(attempt)
            settle = self._units.widened(attempt, settle, self._policy)
        account = account_of(attempt, settle, self.roster.name, self._policy.explain(attempt))
        # Without the budget the attempt will be made again, with the same samples: count them then.
        is_makeshift = settle.evidence is not Evidence.PROBED and Loss.BUDGET in attempt.losses.values()
        actions: list[Action] = []
        for row in self._policy.spread_since():
            actions += self.holdings.revoke(row, HoldStep.SEEN_SPREAD, SPREAD)
        if not is_makeshift:
            actions += self.roster.check(attempt, now_s)
        held = self.holdings.settle(attempt, settle, now_s)
        actions.append(
            Delegated(attempt.key, held.delegation, account, attempt.address, attempt.location, is_makeshift)
        )
        return actions + self._answers(attempt, now_s)

    def _keep(self, attempt: Attempt, checked_s: float | None, now_s: float) -> list[Action]:
        """End an attempt that found nothing to put in the place of the delegation before."""
        attempt.follow(StageStep.CRAWLER_CHOSEN)
        self._close(attempt)
        self._policy.learn(attempt)
        return self._reviewing.keep(attempt.key, checked_s, now_s) + self._answers(attempt, now_s)

    def _answers(self, attempt: Attempt, now_s: float) -> list[Action]:
        """Answer all sites that waited, after giving the subnet to a crawler of its own that joined."""
        own = [] if attempt.owner is None else self._give_own(attempt.owner, now_s)
        return own + self.holdings.assign_waiting(attempt)

    def _abandon(self, attempt: Attempt) -> list[Action]:
        attempt.follow(StageStep.NOBODY_LEFT)
        self._close(attempt)
        self.ledger.abandon(attempt.key)
        return [GaveUp(site, NOBODY) for site in attempt.sites]

    def _close(self, attempt: Attempt) -> None:
        del self.attempts[attempt.number]
        del self._open_by_key[attempt.key]

    # --- crawlers and delegations

    def _crawler_joined(self, event: CrawlerJoined) -> list[Action]:
        index, is_new = self.roster.join(event.crawler, event.record)
        if is_new:
            self._policy.crawler_added(index)
            for attempt in self.attempts.values():
                attempt.scratch = None  # what the policy noted is as wide as the fleet was
            if self._policy.scope is not Scope.SITE:
                return self._give_own(index, event.now_s)
        return []

    def _give_own(self, crawler: int, now_s: float) -> list[Action]:
        """Delegate to a crawler the subnet that it stands in; if that is being decided, when that ends."""
        key = self._units.own_of(self.roster.crawlers[crawler].address)
        attempt = self._open_by_key.get(key)
        if attempt is None:
            return self.holdings.give_own(crawler, key, now_s)
        attempt.owner = crawler if attempt.owner is None else attempt.owner
        return []

    def _crawler_left(self, event: CrawlerLeft) -> list[Action]:
        """Let a crawler go; what it holds is revoked when it is next needed."""
        index = self.roster.leave(event.name)
        if index is None:
            return []
        actions: list[Action] = []
        for attempt in list(self.attempts.values()):
            if attempt.stage is Stage.WAITING:
                attempt.samples.pop(index, None)
                attempt.rejected.pop(index, None)
                actions += self._probe_lost(ProbeLost(attempt.number, event.name, Loss.AGENT, event.now_s))
        return actions

    # --- questions that a driver may ask; they change nothing

    @property
    def scope(self) -> Scope:
        """What one decision is good for."""
        return self._policy.scope

    @property
    def has_crawlers(self) -> bool:
        """Whether anybody is left to ask."""
        return bool(self.roster.usable())

    def crawler(self, name: str) -> Crawler | None:
        """Return a crawler in its present state, None if it never joined."""
        index = self.roster.index_of(name)
        return None if index is None else self.roster.crawlers[index]

    def hold_of(self, address: Address) -> Hold:
        """Return the state of the subnet that an address lies in."""
        return self.ledger.hold_of(self._units.of(address))

    def is_settled(self, address: Address, now_s: float) -> bool:
        """Return whether the subnet of an address has a crawler and nothing is left to be measured."""
        held = self.ledger.get(self._units.of(address))
        return held is not None and self.holdings.is_settled(held, now_s)
