"""Held subnets that are looked at again: whether their holders may keep them, and who is asked about it.

A subnet that somebody holds is contested again on three occasions (`Occasion`): the user wants it decided
anew, it is time to measure it again (or there is a doubt), or a crawler joined that may be nearer.
The delegation before stays in force until the attempt ends, and beyond that if nobody could measure anything:
an outage moves no subnet.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf

from ipmicra.delegate.actions import Action, Renewed
from ipmicra.delegate.attempt import Attempt, Occasion, Review, Settle
from ipmicra.delegate.ledger import Held, Holdings, Ledger, compared_s
from ipmicra.delegate.ports import Policy
from ipmicra.delegate.roster import Roster
from ipmicra.delegate.units import Units
from ipmicra.model.address import Address
from ipmicra.model.delegation import Evidence

MEASURED = (Evidence.PROBED, Evidence.ANYCAST)


class Reviewing:
    """Decides whether a held subnet is contested, and whether its holder keeps it."""

    def __init__(
        self, units: Units, roster: Roster, ledger: Ledger, holdings: Holdings, policy: Policy
    ) -> None:
        """Remember where to look."""
        self._units, self._roster, self._ledger = units, roster, ledger
        self._holdings, self._policy = holdings, policy

    def doubt(self, address: Address, reason: str, now_s: float) -> bool:
        """Have the subnet of an address measured again at its next use; return whether it will be.

        One that nobody holds, or that is in many places, or was compared a moment ago, is not.
        """
        held = self._ledger.get(self._units.of(address))
        if held is None or held.delegation.evidence is Evidence.ANYCAST or held.doubt:
            return False
        if now_s - compared_s(held.delegation) < self._holdings.doubt_pause_s:
            return False
        held.review_s, held.doubt = min(held.review_s, now_s), reason
        return True

    def occasion(self, held: Held, attempt: Attempt, now_s: float) -> Review | None:
        """Return why an attempt is to be made for a subnet that is well held; None if there is no reason.

        The attempt is filled with the sample of the holder, where that counts.
        """
        one = held.delegation
        newcomers = self._newcomers(held)
        held.fleet_size = len(self._roster)
        if self._holdings.is_outdated(one):
            return Review(Occasion.AGAIN, held.crawler, one)
        if one.evidence is Evidence.ANYCAST:
            return None
        if now_s >= held.review_s and self._roster.is_usable(held.crawler):
            return Review(Occasion.RECHECK, held.crawler, one, since_s=held.review_s, doubt=held.doubt)
        if one.rtt_ms is not None and one.evidence is Evidence.PROBED:
            attempt.samples[held.crawler] = one.rtt_ms
            attempt.known = (held.crawler,)
        able = tuple(crawler for crawler in newcomers if self._policy.can_win(crawler, attempt))
        attempt.scratch = None
        return Review(Occasion.JOINED, held.crawler, one, able) if able else None

    def _newcomers(self, held: Held) -> list[int]:
        joined = range(held.fleet_size, len(self._roster))
        return [one for one in joined if one != held.crawler and self._roster.is_usable(one)]

    def keeps(self, attempt: Attempt, review: Review, settle: Settle | None) -> bool:
        """Return whether a holder keeps its subnet although its policy settled on something else.

        None stands for an attempt that was cut off because the budget is out.
        """
        if self._ledger.get(attempt.key) is None or not self._roster.is_present(review.holder):
            return False
        if settle is None:
            best, before_ms = attempt.best, review.delegation.rtt_ms
            return best is None or (before_ms is not None and before_ms <= attempt.samples[best])
        if settle.evidence in MEASURED or review.occasion is Occasion.AGAIN:
            return False
        return review.occasion is Occasion.RECHECK or review.delegation.evidence in MEASURED

    def keep(self, key: int, checked_s: float | None, now_s: float) -> list[Action]:
        """End a review that found nobody better; `checked_s` is None if a later run is to repeat it."""
        held = self._ledger.get(key)
        assert held is not None  # noqa: S101 - a review contests what is held
        held.review_s, held.doubt = inf, ""
        if checked_s is not None:
            held.delegation = replace(held.delegation, checked_s=checked_s)
            held.review_s = self._holdings.review_s(held.delegation)
        self._ledger.settle(key, held, self._holdings.organisation(key))
        renewed = self._holdings.renew(held, now_s)
        return renewed or ([] if checked_s is None else [Renewed(held.delegation)])
