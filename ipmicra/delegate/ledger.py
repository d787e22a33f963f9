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
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto

from ipmicra.delegate.actions import Action, Assigned, Delegated, Renewed, Revoked
from ipmicra.delegate.attempt import Account, Attempt, Considered, Settle, Verdict
from ipmicra.delegate.config import DelegatorConfig
from ipmicra.delegate.roster import Roster
from ipmicra.delegate.subnets import SubnetTree, bounds_of, key_of
from ipmicra.errors import LifeCycleError
from ipmicra.model.address import Address
from ipmicra.model.delegation import Decision, Delegation, Evidence
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


NEXT_HOLD = {
    (Hold.FREE, HoldStep.ATTEMPT_OPENED): Hold.CONTESTED,
    (Hold.FREE, HoldStep.OWN_SUBNET): Hold.HELD,
    (Hold.CONTESTED, HoldStep.ATTEMPT_SETTLED): Hold.HELD,
    (Hold.CONTESTED, HoldStep.ATTEMPT_ABANDONED): Hold.FREE,
    (Hold.CONTESTED, HoldStep.OWN_SUBNET): Hold.CONTESTED,
    (Hold.CONTESTED, HoldStep.DELEGATION_EXPIRED): Hold.CONTESTED,
    (Hold.HELD, HoldStep.ATTEMPT_OPENED): Hold.CONTESTED,
    (Hold.HELD, HoldStep.DELEGATION_EXPIRED): Hold.FREE,
    (Hold.HELD, HoldStep.CRAWLER_LEFT): Hold.FREE,
    (Hold.HELD, HoldStep.OWN_SUBNET): Hold.HELD,
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
        """Return a subnet without an attempt: a crawler's own, or one carried over."""
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


OWN = "it stands in this subnet"


class Holdings:
    """The ledger with the roster and the hierarchy that its numbers stand for."""

    def __init__(self, tree: SubnetTree, roster: Roster, ledger: Ledger, config: DelegatorConfig) -> None:
        """Remember where to look."""
        self._tree, self._roster, self._ledger, self._config = tree, roster, ledger, config

    def settle(self, attempt: Attempt, settle: Settle, now_s: float) -> Held:
        """Delegate an attempt's subnet to the crawler that was settled on."""
        held = self._held(attempt.key, settle, attempt.probes, now_s, attempt.location)
        self._ledger.settle(attempt.key, held, self._organisation(attempt.key))
        return held

    def _held(self, key: int, settle: Settle, probes: int, now_s: float, location: Location | None) -> Held:
        delegation = self._delegation(bounds_of(self._tree, key), settle, probes, now_s)
        return Held(delegation, settle.crawler, len(self._roster), location)

    def _delegation(
        self, bounds: tuple[Address, Address], settle: Settle, probes: int, now_s: float
    ) -> Delegation:
        return Delegation(
            first=bounds[0],
            last=bounds[1],
            crawler=self._roster.name(settle.crawler),
            evidence=settle.evidence,
            rtt_ms=settle.rtt_ms,
            probes=probes,
            created_s=now_s,
            expires_s=now_s + self._config.lifetime_s,
        )

    def assign(self, site: Site, held: Held, probes: int) -> Assigned:
        """Answer for a site of a held subnet; one in many places goes to the least loaded crawler."""
        one, crawler = held.delegation, held.crawler
        if one.evidence is Evidence.ANYCAST:
            least = self._roster.least_loaded()
            crawler = crawler if least is None else least
        self._roster.load[crawler] += 1
        return Assigned(
            Decision(
                host=site.host,
                address=site.address,
                first=one.first,
                last=one.last,
                crawler=self._roster.name(crawler),
                evidence=one.evidence,
                rtt_ms=one.rtt_ms,
                probes=probes,
            )
        )

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

    def give_own(self, crawler: int, now_s: float) -> list[Action]:
        """Delegate the subnet that a crawler stands in to it, unless it is delegated or about to be."""
        one = self._roster.crawlers[crawler]
        key = key_of(self._tree, one.address)
        if self._ledger.hold_of(key) is not Hold.FREE:
            return []
        held = self._held(key, Settle(crawler, Evidence.INHERITED, None, OWN), 0, now_s, one.location)
        self._ledger.give(key, held, self._organisation(key))
        account = Account((Considered(crawler=one.name, verdict=Verdict.CHOSEN, reason=OWN),))
        return [Delegated(key, held.delegation, account, location=one.location)]

    def restore(
        self, key: int, delegation: Delegation, location: Location | None, fleet_size: int | None
    ) -> bool:
        """Take over a stored delegation; return False if its crawler is unknown."""
        crawler = self._roster.index_of(delegation.crawler)
        if crawler is None:
            return False
        size = len(self._roster) if fleet_size is None else fleet_size
        self._ledger.give(key, Held(delegation, crawler, size, location), self._organisation(key))
        return True

    def revoke(self, key: int, step: HoldStep, reason: str) -> list[Action]:
        """End a delegation, if there is one."""
        held = self._ledger.get(key)
        if held is None:
            return []
        self._ledger.free(key, step, self._organisation(key))
        return [Revoked(key, held.delegation, reason)]

    def _organisation(self, key: int) -> int:
        """Return the number of a subnet's organisation, 0 for none and for slices."""
        return self._tree.organisation_number(key) if key >= 0 else 0
