"""Delegations in force: their making, use, renewal and end."""

from __future__ import annotations

from dataclasses import replace

from ipmicra.delegate.account import Account, Considered, Verdict
from ipmicra.delegate.actions import Action, Assigned, Delegated, Renewed, Revoked
from ipmicra.delegate.attempt import Attempt, Settle
from ipmicra.delegate.config import DelegatorConfig
from ipmicra.delegate.ledger import Held, Ledger
from ipmicra.delegate.lifecycle import Hold, Step
from ipmicra.delegate.roster import Roster
from ipmicra.delegate.subnets import SubnetTree, bounds_of, key_of
from ipmicra.model.delegation import Decision, Delegation, Evidence
from ipmicra.model.location import Location
from ipmicra.model.site import Site

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
        first, last = bounds_of(self._tree, key)
        delegation = Delegation(
            first=first,
            last=last,
            crawler=self._roster.name(settle.crawler),
            evidence=settle.evidence,
            rtt_ms=settle.rtt_ms,
            probes=probes,
            created_s=now_s,
            expires_s=now_s + self._config.lifetime_s,
        )
        return Held(delegation, settle.crawler, len(self._roster), location)

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
        """Delegate the subnet that a crawler stands in to it, unless somebody has or is about to have it."""
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

    def revoke(self, key: int, step: Step, reason: str) -> list[Action]:
        """End a delegation, if there is one."""
        held = self._ledger.get(key)
        if held is None:
            return []
        self._ledger.free(key, step, self._organisation(key))
        return [Revoked(key, held.delegation, reason)]

    def _organisation(self, key: int) -> int:
        """Return the number of a subnet's organisation, 0 for none and for slices."""
        return self._tree.organisation_number(key) if key >= 0 else 0
