"""Crawlers that stand side by side, known by the round trips between them: load chooses among them.

Two crawlers are *co-located* if a round trip between them took no longer than `NEAR_MS` and their places,
where both are known, do not contradict it. Each is asked for itself, since their networks differ (a probe is
sent where it is worth its price). But where a site is expected to be as near to another one of them, to
within `NEAR_MS`, the one with the fewest sites gets it.
"""

from __future__ import annotations

from dataclasses import replace

from ipmicra.delegate.attempt import Attempt, Settle
from ipmicra.delegate.policies.predict.belief import Belief
from ipmicra.delegate.roster import Roster, are_apart
from ipmicra.model.delegation import Evidence
from ipmicra.model.geo import FIBRE_KM_PER_MS

NEAR_MS = 1.0
"""Round trips that differ by no more are equal."""


class Colocated:
    """Which crawlers stand beside which."""

    def __init__(self, roster: Roster) -> None:
        """Begin with none."""
        self._roster = roster
        self._beside: dict[int, set[int]] = {}

    def __repr__(self) -> str:
        """Say how many there are."""
        return f"<Colocated: {len(self._beside)} crawlers stand beside others>"

    def note(self, attempt: Attempt) -> None:
        """Take in round trips from crawlers to another one's address."""
        there = [i for i, one in enumerate(self._roster) if one.address == attempt.address]
        for crawler, rtt_ms in attempt.samples.items():
            for other in there:
                if other != crawler and self._are_beside(crawler, other, rtt_ms):
                    self._beside.setdefault(crawler, set()).add(other)
                    self._beside.setdefault(other, set()).add(crawler)

    def _are_beside(self, one: int, other: int, rtt_ms: float) -> bool:
        crawlers = self._roster.crawlers
        reach_km = NEAR_MS * FIBRE_KM_PER_MS
        return rtt_ms <= NEAR_MS and not are_apart(crawlers[one].location, crawlers[other].location, reach_km)

    def by_load(self, settle: Settle, attempt: Attempt, belief: Belief) -> Settle:
        """Return an answer, for a crawler beside the chosen one if that has fewer sites and is as near."""
        chosen, load = settle.crawler, self._roster.load
        trip_ms = attempt.samples.get(chosen, settle.rtt_ms)
        if trip_ms is None:
            return settle
        equal = {chosen: trip_ms}
        for other in self._beside.get(chosen, ()):
            other_ms = attempt.samples.get(other, belief.expected_ms(other))
            is_able = self._roster.is_usable(other) and other not in attempt.losses
            if is_able and abs(other_ms - trip_ms) <= NEAR_MS:
                equal[other] = other_ms
        least = min(equal, key=lambda one: (load[one], one != chosen, one))
        if least == chosen:
            return settle
        name, sites = self._roster.name(chosen), f"{load[least]:,} against {load[chosen]:,}"
        why = f"within {NEAR_MS:g} ms of each other, and it has fewer sites than {name} ({sites})"
        is_measured = least in attempt.samples
        evidence = settle.evidence if is_measured or not attempt.samples else Evidence.INHERITED
        return replace(
            settle,
            crawler=least,
            evidence=evidence,
            rtt_ms=equal[least],
            reason=f"{settle.reason}; {why}",
        )
