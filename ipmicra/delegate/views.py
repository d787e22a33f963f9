"""What crawlers see of one host, and which of them gets it where they see different things.

Theory of operation
-------------------
Content networks and GeoDNS give other addresses in other places. `compare` puts what crawlers see side by
side:

- *The same.* All see an address in common, or all that they see lies in one slice (256 addresses of IPv4, a
  /48 of IPv6: nothing narrower is routed, so it is one place). Then the site has one address and goes the
  plain way, through its subnet.
- *Different.* There is no subnet that could stand for the site, because there is no address that could. A
  `SiteAttempt` finds the nearest crawler for this site alone: each is measured to the address that it sees.
- *Nothing.* Nobody sees an address.

A crawler that is sure to see nothing counts as seeing something different: a site must not be given to a
crawler that cannot find it. One whose resolver failed does not count: nothing is known.

What agents say is believed about themselves. An agent can lie about what it sees, and then it is sent there
itself; but an address that one crawler alone names is never probed by another, so that no agent can point the
others at a victim. Hence a single view among several crawlers is not "the same".

Where all that see a site are within a margin of each other, it is near everywhere: any of them will do, and
the least loaded gets it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ipmicra.delegate.attempt import Considered, Verdict
from ipmicra.delegate.subnets import slice_of
from ipmicra.model.address import Address
from ipmicra.model.delegation import Evidence, Origin
from ipmicra.model.name import FAILURES, NameAnswer, NameStatus
from ipmicra.model.sample import Loss, Sample

Seen = Mapping[str, tuple[Address, ...]]
"""Addresses that crawlers see, by name."""


@dataclass(frozen=True, slots=True)
class Same:
    """All see the same: the site goes the plain way."""

    address: Address


@dataclass(frozen=True, slots=True)
class Different:
    """Crawlers see different things."""

    seen: Seen
    """Without those that see nothing."""


@dataclass(frozen=True, slots=True)
class Nothing:
    """Nobody sees an address."""

    status: NameStatus
    """Why not, as most say."""


def compare(
    answers: Mapping[str, NameAnswer], fleet: int, pin: Address | None = None
) -> Same | Different | Nothing:
    """Put side by side what crawlers see, of so many that take part; a pinned address stays if it can."""
    sure = {name: one for name, one in answers.items() if one.status not in FAILURES}
    seen = {name: one.addresses for name, one in sure.items() if one.addresses}
    if not seen:
        said = Counter(one.status for one in (sure or answers).values())
        return Nothing(said.most_common(1)[0][0] if said else NameStatus.TIMEOUT)
    is_lone = len(seen) == 1 and fleet > 1
    if is_lone or len(seen) < len(sure):
        return Different(seen)
    common = set.intersection(*map(set, seen.values()))
    if not common:
        together = {address for addresses in seen.values() for address in addresses}
        common = together if len({slice_of(address) for address in together}) == 1 else common
    if not common:
        return Different(seen)
    return Same(pin if pin in common else min(common, key=_order))


def _order(address: Address) -> tuple[int, int]:
    return address.version, int(address)


@dataclass(frozen=True, slots=True)
class KnownTrip:
    """A round trip that was measured before."""

    address: Address
    rtt_ms: float
    taken_s: float
    """Seconds since 1970, UTC."""


@dataclass(frozen=True, slots=True)
class SiteChoice:
    """The crawler of a site, and why."""

    crawler: str
    address: Address
    """The one that it sees."""
    evidence: Evidence
    rtt_ms: float | None
    reason: str
    origin: Origin | None
    """Where the round trip was measured; None if nothing was."""


@dataclass(slots=True)
class SiteAttempt:
    """One try to find the crawler of a site that crawlers see at different addresses."""

    seen: dict[str, Address]
    """Where each that sees the site would be measured."""
    known: dict[str, KnownTrip] = field(default_factory=dict)
    """Round trips to there, or to the slice around, that need not be measured."""
    losses: dict[str, Loss] = field(default_factory=dict)
    measured: dict[str, KnownTrip] = field(default_factory=dict)
    """What came back."""
    shared: set[str] = field(default_factory=set)
    """Crawlers whose probe was lost that another attempt asked for, and pays for."""

    @property
    def waiting(self) -> list[str]:
        """The crawlers whose round trips are neither known nor back."""
        there = (self.known, self.measured, self.losses)
        return [name for name in self.seen if not any(name in some for some in there)]

    @property
    def probes(self) -> int:
        """Count the probes, without those that the budget did not allow."""
        lost = {name for name, loss in self.losses.items() if loss is not Loss.BUDGET}
        return len(self.measured) + len(lost - self.shared)

    @property
    def is_makeshift(self) -> bool:
        """Whether only an empty budget kept the site from being measured."""
        return not self.trips() and Loss.BUDGET in self.losses.values()

    def take(self, sample: Sample) -> None:
        """Take in the answer to a probe; one that nobody waits for changes nothing."""
        if sample.crawler not in self.waiting:
            return
        if sample.rtt_ms is None:
            self.losses[sample.crawler] = sample.loss or Loss.AGENT
        else:
            self.measured[sample.crawler] = trip_of(sample, sample.rtt_ms)

    def share(self, sample: Sample) -> None:
        """Take in a sample that another attempt asked for: to the same address, or to one beside it."""
        if sample.rtt_ms is not None:
            self.known[sample.crawler] = trip_of(sample, sample.rtt_ms)
        else:
            self.take(sample)
            self.shared.add(sample.crawler)

    def trips(self) -> dict[str, float]:
        """Return the round trips that are there, known and measured."""
        return {name: one.rtt_ms for name, one in (self.known | self.measured).items()}

    def choose(self, load: Mapping[str, int], margin_ms: float) -> SiteChoice:
        """Choose the nearest; the least loaded if all are near, or if nothing could be measured."""
        trips = self.trips()
        if not trips:
            reason = "cannot be probed: the least loaded of those that see it"
            return self._chosen(_least(self.seen, load), Evidence.INHERITED, reason)
        spread_ms = max(trips.values()) - min(trips.values())
        if 1 < len(trips) == len(self.seen) and spread_ms <= margin_ms:
            reason = (
                f"all {len(trips)} that see it are within {margin_ms:g} ms of each other: the least loaded"
            )
            return self._chosen(_least(trips, load), Evidence.ANYCAST, reason)
        nearest = min(trips, key=trips.__getitem__)
        out = " (the budget is out)" if Loss.BUDGET in self.losses.values() else ""
        is_neighbour = (self.known | self.measured)[nearest].address != self.seen[nearest]
        evidence = Evidence.INHERITED if is_neighbour else Evidence.PROBED
        return self._chosen(nearest, evidence, f"the nearest of those that see it{out}")

    def _chosen(self, crawler: str, evidence: Evidence, reason: str) -> SiteChoice:
        trip = (self.known | self.measured).get(crawler)
        return SiteChoice(
            crawler=crawler,
            address=self.seen[crawler],
            evidence=evidence,
            rtt_ms=None if trip is None else trip.rtt_ms,
            reason=reason,
            origin=None if trip is None else Origin(trip.address, trip.address, trip.taken_s),
        )

    def account(self, choice: SiteChoice, others: Mapping[str, str]) -> tuple[Considered, ...]:
        """Write down what each crawler sees and how far that is; `others` see nothing, for a reason."""
        chosen = Considered(
            crawler=choice.crawler, verdict=Verdict.CHOSEN, reason=choice.reason, rtt_ms=choice.rtt_ms
        )
        known = [
            Considered(
                crawler=name, verdict=Verdict.KNOWN, reason=self._known_reason(name), rtt_ms=one.rtt_ms
            )
            for name, one in self.known.items()
        ]
        asked = [
            Considered(
                crawler=name,
                verdict=Verdict.ASKED,
                reason=f"it sees {address}",
                rtt_ms=self.measured[name].rtt_ms if name in self.measured else None,
                loss=self.losses.get(name),
            )
            for name, address in self.seen.items()
            if name not in self.known
        ]
        rest = [
            Considered(crawler=name, verdict=Verdict.NOT_ASKED, reason=reason)
            for name, reason in others.items()
        ]
        return (chosen, *known, *asked, *rest)

    def _known_reason(self, crawler: str) -> str:
        address, measured = self.seen[crawler], self.known[crawler].address
        if address == measured:
            return f"it sees {address}, and had measured it"
        return f"it sees {address}, beside {measured}, which it had measured"


def trip_of(sample: Sample, rtt_ms: float) -> KnownTrip:
    """Return the round trip of a sample."""
    return KnownTrip(sample.address, rtt_ms, sample.taken_s)


def _least(crawlers: Iterable[str], load: Mapping[str, int]) -> str:
    """Return the least loaded, the first of several."""
    return min(crawlers, key=lambda name: load.get(name, 0))
