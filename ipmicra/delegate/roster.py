"""The crawlers as the machine sees them: by index, with their load, their track record and what light proves.

What light proves
-----------------
Two checks compare a round trip with the distance that light can cover in it through a vacuum, because only
that bound is a proof (see `ipmicra.model.geo`). They look at the two ends of the same inequality:

- *Too short for the distance* (`least_ms`). A crawler reports a round trip to a site whose place is known
  well. If light needs longer, the sample is implausible, and it is the crawler that is in doubt. Hence the
  place must be sure (`sure_radius_km`), and several radii are taken off the distance before blaming anybody.
- *Too short from two sides* (`is_in_many_places`). Two crawlers report round trips that put the address into
  two circles which do not meet. Both may well be honest: the address is announced from many places (anycast).
  No place of the site is needed, only those of the crawlers.

A place that is unknown proves nothing: every check then says that all is well.

Believing a crawler
-------------------
An implausible sample is rejected, and it counts against its crawler. A crawler is flagged, and asked no more,
as long as

1. at least `implausible_allowed` of its samples were implausible, and
2. they are more than half of its samples that could be checked at all.

The second condition protects honest crawlers: every table of places has wrong entries, so among thousands of
checks a few fail for any crawler.

This is the only place that applies the rule. It is a function of the counters alone (`TrackRecord`), which
`join` takes over from the store and `check` changes. Nothing that happens to the connection touches them,
so a crawler's fate does not depend on when its agent reconnects or the program restarts. A flagged crawler is
believed again when plausible samples that were still under way tip the balance, or when the user removes it
and adds it anew: a later `joined_s` starts a new record.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ipmicra.delegate.actions import CrawlerChecked
from ipmicra.delegate.attempt import Attempt
from ipmicra.delegate.config import DelegatorConfig
from ipmicra.model.crawler import Crawler, CrawlerState, TrackRecord
from ipmicra.model.geo import VACUUM_KM_PER_MS, km_between, point_of
from ipmicra.model.location import Location
from ipmicra.model.sample import ImplausibleSample
from ipmicra.model.types import Floats

MOST_PAIRS = 1 << 16
"""Pairs of crawlers whose distance is remembered; some 0.2 kB each."""


class Roster:
    """Crawlers by index, in the order in which they first joined; an index is never used again."""

    def __init__(self, config: DelegatorConfig | None = None) -> None:
        """Begin with none."""
        self.crawlers: list[Crawler] = []
        self.records: list[TrackRecord] = []
        self.load: list[int] = []
        """Sites given to each."""
        self._config = config or DelegatorConfig()
        self._is_present: list[bool] = []
        self._is_willing: list[bool] = []
        """Whether each is reachable and believed."""
        self._limit: frozenset[int] | None = None
        self.usable_flags: NDArray[np.bool_] = np.zeros(0, np.bool_)
        """Whether each may be asked; not to be changed."""
        self.points: Floats = np.empty((0, 3))
        """Where each is, as a unit vector; NaN if unknown. Not to be changed."""
        self._apart_km: dict[tuple[int, int], float] = {}
        """How far places of crawlers are from each other at least, as far as it was asked for."""
        self._indices: dict[str, int] = {}
        self._usable: list[int] = []

    def __len__(self) -> int:
        """Count all that ever joined."""
        return len(self.crawlers)

    def __repr__(self) -> str:
        """Count those present."""
        return f"<Roster: {sum(self._is_present)} of {len(self.crawlers)} crawlers present>"

    def join(self, crawler: Crawler, record: TrackRecord | None = None) -> tuple[int, bool]:
        """Add a crawler, or let it come back; return its index and whether it is new.

        `record` is what the store has of a new one. One that came back keeps the record it has here.
        """
        index = self._indices.get(crawler.name)
        is_new = index is None
        if index is None:
            index = self._indices[crawler.name] = len(self.crawlers)
            self.crawlers.append(crawler)
            self.records.append(record or TrackRecord(since_s=crawler.joined_s))
            self.load.append(0)
            self._is_present.append(False)
            self._is_willing.append(False)
            self.points = np.append(self.points, [point_of(crawler.location)], axis=0)
        if crawler.location != self.crawlers[index].location:
            self._apart_km.clear()
            self.points[index] = point_of(crawler.location)
        self.crawlers[index] = crawler
        if crawler.joined_s > self.records[index].since_s:
            self.records[index] = TrackRecord(since_s=crawler.joined_s)
        self._is_present[index] = crawler.state is not CrawlerState.LEFT
        self._weigh(index)
        return index, is_new

    def leave(self, name: str) -> int | None:
        """Let a crawler go; return its index, None if it was not there."""
        index = self._indices.get(name)
        if index is None or not self._is_present[index]:
            return None
        self._is_present[index] = False
        self._weigh(index)
        return index

    # --- what light proves

    def least_ms(self, crawler: int, location: Location | None) -> float:
        """Return the shortest round trip that can be true, 0 if a place is not known well enough."""
        config, own = self._config.physics, self.crawlers[crawler].location
        if location is None or own is None or location.radius_km > config.sure_radius_km:
            return 0.0
        doubt_km = config.doubt_radii * (location.radius_km + own.radius_km)
        return max(0.0, km_between(own, location) - doubt_km) / VACUUM_KM_PER_MS

    def is_in_many_places(
        self, samples: Mapping[int, float], compared: Mapping[int, float] | None = None
    ) -> bool:
        """Return whether two samples put an address into two circles that do not meet.

        Those that were `compared` before are not compared with each other again.
        """
        placed = [(one, ms) for one, ms in samples.items() if self.crawlers[one].location is not None]
        new = [(one, ms) for one, ms in placed if compared is None or compared.get(one) != ms]
        return any(
            self._apart(one, other) > (ms + other_ms) * VACUUM_KM_PER_MS
            for one, ms in new
            for other, other_ms in placed
            if one != other
        )

    def finds_two_places(self, attempt: Attempt) -> bool:
        """Return whether the samples that came since it was last asked put an attempt into two places."""
        compared, attempt.compared = attempt.compared, dict(attempt.samples)
        return self.is_in_many_places(attempt.samples, compared)

    def _apart(self, one: int, other: int) -> float:
        """Return how far two crawlers are from each other at least, 0 if a place is unknown."""
        pair = (one, other) if one < other else (other, one)
        found = self._apart_km.get(pair)
        if found is None:
            if len(self._apart_km) >= MOST_PAIRS:  # a thousand crawlers have half a million
                self._apart_km.clear()
            here, there = self.crawlers[one].location, self.crawlers[other].location
            found = 0.0
            if here is not None and there is not None:
                found = km_between(here, there) - here.radius_km - there.radius_km
            self._apart_km[pair] = found
        return found

    # --- who is believed

    def check(self, attempt: Attempt, now_s: float) -> list[CrawlerChecked]:
        """Count an ended attempt's own samples for or against their crawlers."""
        found: list[CrawlerChecked] = []
        for index in attempt.asked:
            least_ms = self.least_ms(index, attempt.location)
            rejected_ms, name = attempt.rejected.get(index), self.name(index)
            implausible = None
            if rejected_ms is not None:
                implausible = ImplausibleSample(
                    crawler=name,
                    address=attempt.address,
                    rtt_ms=rejected_ms,
                    least_ms=least_ms,
                    at_s=now_s,
                )
            elif least_ms <= 0 or index not in attempt.samples:
                continue  # light could not have disproved it, or nothing came back
            record = self._count(index, is_plausible=implausible is None)
            found.append(CrawlerChecked(name, record, implausible, self.is_flagged(index)))
        return found

    def _count(self, index: int, *, is_plausible: bool) -> TrackRecord:
        before = self.records[index]
        self.records[index] = after = replace(
            before, checked=before.checked + 1, implausible=before.implausible + (not is_plausible)
        )
        self._weigh(index)
        return after

    def is_flagged(self, index: int) -> bool:
        """Return whether a crawler is not believed any more (see the top of this file)."""
        record, allowed = self.records[index], self._config.implausible_allowed
        return record.implausible >= allowed and 2 * record.implausible > record.checked

    def flagged(self) -> list[str]:
        """Return the crawlers that are not believed any more."""
        return [one.name for i, one in enumerate(self) if self.is_flagged(i)]

    # --- who may be asked

    def limit(self, names: Iterable[str] | None) -> None:
        """Let only these be asked or chosen from now on, None for all; others keep their subnets."""
        known = self._indices
        self._limit = None if names is None else frozenset(known[one] for one in names if one in known)
        self._renew()

    def note_mutual(self, attempt: Attempt) -> None:
        """Note where an attempt's address is if a crawler has it: crawlers measured each other."""
        for one in self.crawlers:
            if one.address == attempt.address:
                attempt.is_mutual, attempt.location = True, one.location

    def index_of(self, name: str) -> int | None:
        """Return a crawler's index, None if it never joined."""
        return self._indices.get(name)

    def name(self, index: int) -> str:
        """Return a crawler's name."""
        return self.crawlers[index].name

    def is_present(self, index: int) -> bool:
        """Return whether a crawler may hold subnets."""
        return self._is_present[index]

    def is_usable(self, index: int) -> bool:
        """Return whether a crawler may be asked."""
        return bool(self.usable_flags[index])

    def free(self, attempt: Attempt) -> NDArray[np.bool_]:
        """Return whether each crawler may still be asked in an attempt."""
        is_free = self.usable_flags.copy()
        is_free[[*attempt.reasons, *attempt.samples]] = False
        return is_free

    def usable(self) -> list[int]:
        """Return the crawlers that may be asked; not to be changed."""
        return self._usable

    def _weigh(self, index: int) -> None:
        """Decide whether a crawler may be asked, by its state and its record."""
        has_joined = self.crawlers[index].state is CrawlerState.JOINED
        is_willing = self._is_present[index] and has_joined and not self.is_flagged(index)
        if is_willing is not self._is_willing[index] or len(self.usable_flags) < len(self.crawlers):
            self._is_willing[index] = is_willing
            self._renew()

    def _renew(self) -> None:
        """List who may be asked: every site that arrives reads it, few events change it."""
        self._usable = [
            index
            for index, is_willing in enumerate(self._is_willing)
            if is_willing and (self._limit is None or index in self._limit)
        ]
        self.usable_flags = np.zeros(len(self._is_willing), np.bool_)
        self.usable_flags[self._usable] = True

    def least_loaded(self) -> int | None:
        """Return the usable crawler with the fewest sites, the first of several."""
        return min(self.usable(), key=self.load.__getitem__, default=None)

    def __iter__(self) -> Iterator[Crawler]:
        """Go through all that ever joined."""
        return iter(self.crawlers)


def are_apart(place: Location | None, other: Location | None, allowed_km: float) -> bool:
    """Return whether two places are farther from each other than their radii and a distance explain."""
    if place is other or place is None or other is None:
        return False
    return km_between(place, other) > allowed_km + place.radius_km + other.radius_km
