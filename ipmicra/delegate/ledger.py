"""Which subnet belongs to whom: the ledger, and the making, use, renewal and end of delegations.

How it works
------------
`Ledger` is the bookkeeping: what each key (a row of the hierarchy, or a slice of addresses outside it) is. A
subnet is FREE until an attempt opens; it is then CONTESTED until the attempt ends, and HELD until its
delegation expires or its crawler leaves. A held subnet is contested again when a crawler joined that may be
nearer. Every change goes through the table `NEXT_HOLD`, so that an impossible step raises instead of
corrupting the state. Held rows are kept sorted, because the policies ask for neighbours in a range of rows,
and by organisation, because they ask for its other subnets.

`Holdings` knows what the numbers stand for. It makes delegations from what attempts settled on, answers
sites from those in force, and renews one when it is used in the second half of its life: a subnet in use
does not expire, one that nobody asks for does. A delegation also remembers how many crawlers had joined when
it was last considered, so that later ones are compared once and not for every site.

Use alone would renew a delegation for ever without measuring it again. So each subnet has its own moment in
a cycle, by a hash of its addresses (`next_check_s`), and is measured again when it is first used after that.
With 3 % per 30 days the cycle is 1000 days. Which subnets are due depends on their addresses, the time and
when they were last compared alone, all of which the store has: a run that is killed and resumed measures the
same ones.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from math import floor, inf
from zlib import crc32

from ipmicra.delegate.actions import Action, Assigned, Delegated, Renewed, Revoked
from ipmicra.delegate.attempt import Attempt, Occasion, Review, Settle
from ipmicra.delegate.config import DelegatorConfig
from ipmicra.delegate.own_subnet import TAKEN, own_delegation
from ipmicra.delegate.roster import Roster
from ipmicra.delegate.subnets import SubnetTree, bounds_of, key_of, slice_of
from ipmicra.errors import LifeCycleError
from ipmicra.model.address import Address
from ipmicra.model.delegation import OWN, Decision, Delegation, Evidence, Origin
from ipmicra.model.location import Location
from ipmicra.model.site import Site


class Hold(Enum):
    """What a subnet can be."""

    FREE = auto()
    CONTESTED = auto()
    HELD = auto()


class HoldStep(Enum):
    """What happens to a subnet."""

    ATTEMPT_OPENED = auto()
    ATTEMPT_SETTLED = auto()
    ATTEMPT_ABANDONED = auto()
    DELEGATION_EXPIRED = auto()
    CRAWLER_LEFT = auto()
    OWN_SUBNET = auto()
    SEEN_SPREAD = auto()


NEXT_HOLD = {
    (Hold.FREE, HoldStep.ATTEMPT_OPENED): Hold.CONTESTED,
    (Hold.FREE, HoldStep.OWN_SUBNET): Hold.HELD,
    (Hold.CONTESTED, HoldStep.ATTEMPT_SETTLED): Hold.HELD,
    (Hold.CONTESTED, HoldStep.ATTEMPT_ABANDONED): Hold.FREE,
    (Hold.CONTESTED, HoldStep.OWN_SUBNET): Hold.CONTESTED,
    (Hold.CONTESTED, HoldStep.DELEGATION_EXPIRED): Hold.CONTESTED,
    (Hold.CONTESTED, HoldStep.SEEN_SPREAD): Hold.CONTESTED,
    (Hold.HELD, HoldStep.ATTEMPT_OPENED): Hold.CONTESTED,
    (Hold.HELD, HoldStep.DELEGATION_EXPIRED): Hold.FREE,
    (Hold.HELD, HoldStep.CRAWLER_LEFT): Hold.FREE,
    (Hold.HELD, HoldStep.OWN_SUBNET): Hold.HELD,
    (Hold.HELD, HoldStep.SEEN_SPREAD): Hold.FREE,
}


def next_hold(hold: Hold, step: HoldStep) -> Hold:
    """Follow the table; a step that is not in it raises."""
    try:
        return NEXT_HOLD[hold, step]
    except KeyError:
        raise LifeCycleError(hold.name, step.name) from None


@dataclass(slots=True)
class Held:
    """A delegation in force, with what only the machine needs to know of it."""

    delegation: Delegation
    """Replaced by a longer one when it is renewed."""
    crawler: int
    """Index of its crawler."""
    fleet_size: int
    """Crawlers that had joined when it was last looked at: later ones may be nearer."""
    location: Location | None = None
    """Where the site was that it was decided for."""
    review_s: float = inf
    """When it is to be measured again, or decided anew, at its next use."""
    doubt: str = ""
    """Why it is to be measured before its time."""


class Ledger:
    """Held subnets by key, in order, and by organisation."""

    def __init__(self) -> None:
        """Begin empty."""
        self._held: dict[int, Held] = {}
        self._contested: set[int] = set()
        self._rows: list[int] = []
        """Keys of held subnets that are rows, sorted."""
        self._by_organisation: dict[int, list[int]] = {}

    def __len__(self) -> int:
        """Count the held subnets."""
        return len(self._held)

    def __repr__(self) -> str:
        """Count."""
        return f"<Ledger: {len(self._held)} held, {len(self._contested)} contested>"

    def __iter__(self) -> Iterator[tuple[int, Held]]:
        """Go through held subnets."""
        return iter(self._held.items())

    def get(self, key: int) -> Held | None:
        """Return a subnet's delegation."""
        return self._held.get(key)

    def hold_of(self, key: int) -> Hold:
        """Return a subnet's state."""
        if key in self._contested:
            return Hold.CONTESTED
        return Hold.HELD if key in self._held else Hold.FREE

    def contest(self, key: int) -> None:
        """Note that an attempt is open."""
        next_hold(self.hold_of(key), HoldStep.ATTEMPT_OPENED)
        self._contested.add(key)

    def settle(self, key: int, held: Held, organisation: int) -> None:
        """Note the end of an attempt."""
        next_hold(self.hold_of(key), HoldStep.ATTEMPT_SETTLED)
        self._contested.discard(key)
        self._put(key, held, organisation)

    def give(self, key: int, held: Held, organisation: int) -> None:
        """Hold a subnet without an attempt: a crawler's own, or one carried over."""
        next_hold(self.hold_of(key), HoldStep.OWN_SUBNET)
        self._put(key, held, organisation)

    def abandon(self, key: int) -> None:
        """Note an attempt that found no crawler; an earlier delegation, if any, stays."""
        next_hold(self.hold_of(key), HoldStep.ATTEMPT_ABANDONED)
        self._contested.discard(key)

    def free(self, key: int, step: HoldStep, organisation: int) -> None:
        """End a delegation."""
        next_hold(self.hold_of(key), step)
        del self._held[key]
        if key >= 0:
            del self._rows[bisect_left(self._rows, key)]
        kept = self._by_organisation.get(organisation)
        if kept is not None and key in kept:
            kept.remove(key)

    def clear(self) -> None:
        """Forget all delegations of single addresses: they are in the store."""
        self._held.clear()

    def rows_between(self, first: int, behind: int) -> Sequence[int]:
        """Return held rows from one number up to another, in order."""
        return self._rows[bisect_left(self._rows, first) : bisect_left(self._rows, behind)]

    def of_organisation(self, organisation: int) -> Sequence[int]:
        """Return held subnets of an organisation, in the order in which they were given."""
        return self._by_organisation.get(organisation, ())

    def _put(self, key: int, held: Held, organisation: int) -> None:
        if key not in self._held:
            if key >= 0:
                insort(self._rows, key)
            if organisation:
                self._by_organisation.setdefault(organisation, []).append(key)
        self._held[key] = held


def is_decided_for(one: Delegation, address: Address) -> bool:
    """Return whether a delegation rests on this very address."""
    return one.origin is not None and one.origin.first == address == one.origin.last


def evidence_for(one: Delegation, address: Address) -> tuple[Evidence, Origin | None]:
    """Return the evidence that a delegation is for one address in it, and what was measured instead of it."""
    origin = one.origin
    if origin is None or is_decided_for(one, address):
        return one.evidence, None
    return Evidence.INHERITED if one.evidence is Evidence.PROBED else one.evidence, origin


def compared_s(one: Delegation) -> float:
    """Return when a delegation's crawler was last compared with others, in seconds since 1970, UTC."""
    return one.created_s if one.checked_s is None else one.checked_s


def next_check_s(first: Address, last: Address, after_s: float, config: DelegatorConfig) -> float:
    """Return when a subnet is next to be measured again, after a time.

    A share of 3 % per 30 days makes a cycle of 1000 days. A subnet whose hash is at a quarter of all hashes
    is due at days 250, 1250, 2250 and so on since 1970.
    """
    if config.recheck_share <= 0:
        return inf
    cycle_s = config.recheck_period_s / config.recheck_share
    phase = crc32(last.packed, crc32(first.packed)) / 2**32
    return (floor(after_s / cycle_s - phase) + 1 + phase) * cycle_s


class Holdings:
    """The ledger with the roster and the hierarchy that its numbers stand for."""

    def __init__(
        self, tree: SubnetTree, roster: Roster, ledger: Ledger, config: DelegatorConfig, policy: str
    ) -> None:
        """Remember where to look; `policy` is the name of who decides."""
        self._tree, self._roster, self._ledger, self._config = tree, roster, ledger, config
        self.doubt_pause_s = config.doubt_pause_s
        self._policy = policy
        self.by_others: Counter[str | None] = Counter()
        """Sites that were answered from delegations of other policies, by policy."""

    def settle(self, attempt: Attempt, settle: Settle, now_s: float) -> Held:
        """Delegate an attempt's subnet to the crawler that was settled on."""
        first, last = bounds_of(self._tree, attempt.key)
        delegation = Delegation(
            first=first,
            last=last,
            crawler=self._roster.name(settle.crawler),
            evidence=settle.evidence,
            rtt_ms=settle.rtt_ms,
            probes=attempt.probes,
            created_s=now_s,
            expires_s=now_s + self._config.lifetime_s,
            origin=_origin(attempt, settle, now_s),
            policy=self._policy,
        )
        if attempt.review is not None:
            delegation = _after_review(delegation, attempt.review)
        held = self._held(delegation, settle.crawler, len(self._roster), attempt.location)
        self._ledger.settle(attempt.key, held, self.organisation(attempt.key))
        return held

    def _held(self, delegation: Delegation, crawler: int, fleet_size: int, location: Location | None) -> Held:
        return Held(delegation, crawler, fleet_size, location, self.review_s(delegation))

    def review_s(self, one: Delegation) -> float:
        """Return when a delegation is to be looked at again; one in many places never is."""
        if self.is_outdated(one):
            return -inf
        if one.evidence is Evidence.ANYCAST:
            return inf
        return next_check_s(one.first, one.last, compared_s(one), self._config)

    def assign(self, site: Site, held: Held, probes: int) -> Assigned:
        """Answer for a site of a held subnet; one in many places goes to the least loaded crawler."""
        one, crawler = held.delegation, held.crawler
        evidence, origin = evidence_for(one, site.address)
        if evidence is Evidence.ANYCAST:
            least = self._roster.least_loaded()
            crawler = crawler if least is None else least
        self._roster.load[crawler] += 1
        if one.policy not in (self._policy, OWN):
            self.by_others[one.policy] += 1
        return Assigned(
            Decision(
                host=site.host,
                address=site.address,
                first=one.first,
                last=one.last,
                crawler=self._roster.name(crawler),
                evidence=evidence,
                rtt_ms=one.rtt_ms,
                probes=probes,
                inherited_from=origin,
            )
        )

    def assign_waiting(self, attempt: Attempt) -> list[Action]:
        """Answer the sites of an attempt that ended; the first, for which the probes were sent, pays."""
        held = self._ledger.get(attempt.key)
        assert held is not None  # noqa: S101 - an attempt that ended well
        return [self.assign(site, held, 0 if i else attempt.probes) for i, site in enumerate(attempt.sites)]

    def is_outdated(self, one: Delegation) -> bool:
        """Return whether the user wants a delegation decided anew."""
        before_s = self._config.again_before_s
        return before_s is not None and compared_s(one) < before_s

    def is_settled(self, held: Held, now_s: float) -> bool:
        """Return whether a delegation answers without a review."""
        is_reviewed = held.fleet_size == len(self._roster) and now_s < held.review_s
        return is_reviewed and self.is_good(held, now_s)

    def is_good(self, held: Held, now_s: float) -> bool:
        """Return whether a delegation still holds."""
        return now_s < held.delegation.expires_s and self._roster.is_present(held.crawler)

    def renew(self, held: Held, now_s: float) -> list[Action]:
        """Renew a delegation that is used when half its life is over."""
        config = self._config
        if held.delegation.expires_s - now_s >= config.lifetime_s * config.renew_below:
            return []
        held.delegation = replace(held.delegation, expires_s=now_s + config.lifetime_s)
        return [Renewed(held.delegation)]

    def give_own(self, crawler: int, key: int, now_s: float) -> list[Action]:
        """Delegate the subnet that a crawler stands in to it, whoever else held it.

        Of several that stand in the same subnet the first keeps it.
        """
        one = self._roster.crawlers[crawler]
        delegation, account = own_delegation(self._tree, one, key, now_s, self._config.lifetime_s)
        before = self._ledger.get(key)
        if not self._roster.is_present(crawler) or (before and self.stands_in(before.crawler, key)):
            return []
        held = self._held(delegation, crawler, len(self._roster), one.location)
        self._ledger.give(key, held, self.organisation(key))
        revoked: list[Action] = [] if before is None else [Revoked(key, before.delegation, TAKEN)]
        return [*revoked, Delegated(key, delegation, account, location=one.location)]

    def stands_in(self, crawler: int, key: int) -> bool:
        """Return whether a crawler is present and a subnet is its own."""
        address = self._roster.crawlers[crawler].address
        return self._roster.is_present(crawler) and key in (key_of(self._tree, address), slice_of(address))

    def restore(
        self,
        key: int,
        delegation: Delegation,
        location: Location | None = None,
        fleet_size: int | None = None,
    ) -> bool:
        """Take over a delegation from the store; return False if its crawler is unknown.

        `fleet_size` is the number of crawlers that it was compared with: later ones may be nearer.
        """
        crawler = self._roster.index_of(delegation.crawler)
        if crawler is None:
            return False
        size = len(self._roster) if fleet_size is None else fleet_size
        self._ledger.give(key, self._held(delegation, crawler, size, location), self.organisation(key))
        return True

    def revoke(self, key: int, step: HoldStep, reason: str) -> list[Action]:
        """End a delegation, if there is one."""
        held = self._ledger.get(key)
        if held is None:
            return []
        self._ledger.free(key, step, self.organisation(key))
        return [Revoked(key, held.delegation, reason)]

    def revoke_bad(self, key: int, held: Held, now_s: float) -> list[Action]:
        """End a delegation that is no longer good, or that the user wants decided anew."""
        if now_s >= held.delegation.expires_s:
            return self.revoke(key, HoldStep.DELEGATION_EXPIRED, "it expired")
        if not self._roster.is_present(held.crawler):
            return self.revoke(key, HoldStep.CRAWLER_LEFT, "its crawler left")
        return self.revoke(key, HoldStep.DELEGATION_EXPIRED, "decided anew, as the user asked")

    def organisation(self, key: int) -> int:
        """Return the number of a subnet's organisation, 0 for none and for slices."""
        return self._tree.organisation_number(key) if key >= 0 else 0


def _origin(attempt: Attempt, settle: Settle, now_s: float) -> Origin | None:
    """Return what an answer rests on: a sample of before, the attempt's address, or what its policy names."""
    if settle.origin is not None or settle.evidence is Evidence.INHERITED:
        return settle.origin
    if attempt.review is not None and settle.crawler in attempt.known:
        return attempt.review.delegation.origin
    return Origin(attempt.address, attempt.address, now_s if attempt.samples else None)


def _after_review(one: Delegation, review: Review) -> Delegation:
    """Return a delegation as the continuation of the one before, if its crawler keeps the subnet."""
    before = review.delegation
    if review.occasion is Occasion.AGAIN or one.crawler != before.crawler:
        return one
    return replace(
        one, created_s=before.created_s, checked_s=one.created_s, probes=before.probes + one.probes
    )
