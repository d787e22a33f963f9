"""Delegations in force: their making, use, renewal and end."""

from __future__ import annotations

from ipmicra.delegate.account import Account, Considered, Verdict
from ipmicra.delegate.actions import Action, Assigned, Delegated, Revoked
from ipmicra.delegate.attempt import Settle
from ipmicra.delegate.config import DelegatorConfig
from ipmicra.delegate.ledger import Held, Ledger
from ipmicra.delegate.lifecycle import Hold, Step
from ipmicra.delegate.roster import Roster
from ipmicra.delegate.subnets import SubnetTree, bounds_of, key_of
from ipmicra.model.delegation import Delegation, Evidence
from ipmicra.model.location import Location
from ipmicra.model.site import Site

OWN = "it stands in this subnet"


class Holdings:
    """The ledger with the fleet and the hierarchy that its numbers stand for."""

    def __init__(self, tree: SubnetTree, roster: Roster, ledger: Ledger, config: DelegatorConfig) -> None:
        """Remember where to look."""
        self._tree, self._roster, self._ledger, self._config = tree, roster, ledger, config

    def held(self, settle: Settle, probes: int, location: Location | None, now_s: float) -> Held:
        """Make a delegation of what an attempt settled on."""
        return Held(
            crawler=settle.crawler,
            evidence=settle.evidence,
            rtt_ms=settle.rtt_ms,
            probes=probes,
            created_s=now_s,
            expires_s=now_s + self._config.lifetime_s,
            fleet_size=len(self._roster),
            location=location,
        )

    def assign(self, site: Site, key: int, held: Held, probes: int) -> Assigned:
        """Answer for a site of a held subnet; one in many places goes to the least loaded crawler."""
        crawler = held.crawler
        if held.evidence is Evidence.ANYCAST:
            least = self._roster.least_loaded()
            crawler = crawler if least is None else least
        self._roster.load[crawler] += 1
        return Assigned(site, self._roster.name(crawler), held.evidence, held.rtt_ms, probes, key)

    def is_good(self, held: Held, now_s: float) -> bool:
        """Tell whether a delegation still holds; its use renews it when half its life is over."""
        if now_s >= held.expires_s or not self._roster.is_present(held.crawler):
            return False
        config = self._config
        if held.expires_s - now_s < config.lifetime_s * config.renew_below:
            held.expires_s = now_s + config.lifetime_s
        return True

    def give_own(self, crawler: int, now_s: float) -> list[Action]:
        """Delegate the subnet that a crawler stands in to it, unless somebody has or is about to have it."""
        one = self._roster.crawlers[crawler]
        key = key_of(self._tree, one.address)
        if self._ledger.hold_of(key) is not Hold.FREE:
            return []
        held = self.held(Settle(crawler, Evidence.INHERITED, None, OWN), 0, one.location, now_s)
        self._ledger.give(key, held, self.organisation(key))
        account = Account((Considered(crawler=one.name, verdict=Verdict.CHOSEN, reason=OWN),))
        return [Delegated(key, self.delegation(key, held), account)]

    def restore(
        self, key: int, delegation: Delegation, location: Location | None, fleet_size: int | None
    ) -> bool:
        """Take over a stored delegation; False if its crawler is unknown."""
        crawler = self._roster.index_of(delegation.crawler)
        if crawler is None:
            return False
        held = Held(
            crawler=crawler,
            evidence=delegation.evidence,
            rtt_ms=delegation.rtt_ms,
            probes=delegation.probes,
            created_s=delegation.created_s,
            expires_s=delegation.expires_s,
            fleet_size=len(self._roster) if fleet_size is None else fleet_size,
            location=location,
        )
        self._ledger.give(key, held, self.organisation(key))
        return True

    def revoke(self, key: int, step: Step, reason: str) -> list[Action]:
        """End a delegation, if there is one."""
        held = self._ledger.get(key)
        if held is None:
            return []
        self._ledger.free(key, step, self.organisation(key))
        return [Revoked(key, self.delegation(key, held), reason)]

    def delegation(self, key: int, held: Held) -> Delegation:
        """Spell out a held subnet."""
        first, last = bounds_of(self._tree, key)
        return Delegation(
            first=first,
            last=last,
            crawler=self._roster.name(held.crawler),
            evidence=held.evidence,
            rtt_ms=held.rtt_ms,
            probes=held.probes,
            created_s=held.created_s,
            expires_s=held.expires_s,
        )

    def organisation(self, key: int) -> int:
        """Give the number of a subnet's organisation, 0 for none and for slices."""
        return self._tree.organisation_number(key) if key >= 0 else 0
