"""The crawlers as the machine sees them: by index, with their load and their track record.

Believing a crawler
-------------------
An agent may report round trips that are shorter than light allows. Such a sample is rejected, and it counts
against its crawler. A crawler is flagged, and asked no more, as long as

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

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from ipmicra.delegate.actions import CrawlerChecked
from ipmicra.delegate.attempt import Attempt
from ipmicra.model.crawler import Crawler, CrawlerState, TrackRecord
from ipmicra.model.location import Location
from ipmicra.model.sample import ImplausibleSample


class Roster:
    """Crawlers by index, in the order in which they first joined; an index is never used again."""

    def __init__(self, implausible_allowed: int = 3) -> None:
        """Begin with none."""
        self.crawlers: list[Crawler] = []
        self.records: list[TrackRecord] = []
        self.load: list[int] = []
        """Sites given to each."""
        self._implausible_allowed = implausible_allowed
        self._is_present: list[bool] = []
        self._is_willing: list[bool] = []
        """Whether each is reachable and believed."""
        self._limit: frozenset[int] | None = None
        self.usable_flags: list[bool] = []
        """Whether each may be asked."""
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

    def check(
        self, attempt: Attempt, least_ms_of: Callable[[int, Location | None], float], now_s: float
    ) -> list[CrawlerChecked]:
        """Count an ended attempt's own samples for or against their crawlers."""
        found: list[CrawlerChecked] = []
        for index in attempt.asked:
            least_ms = least_ms_of(index, attempt.location)
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
        record = self.records[index]
        return record.implausible >= self._implausible_allowed and 2 * record.implausible > record.checked

    def limit(self, names: Iterable[str] | None) -> None:
        """Let only these be asked or chosen from now on, None for all; others keep their subnets."""
        known = self._indices
        self._limit = None if names is None else frozenset(known[one] for one in names if one in known)
        self._renew()

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
        return self.usable_flags[index]

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
        self.usable_flags = [
            is_willing and (self._limit is None or index in self._limit)
            for index, is_willing in enumerate(self._is_willing)
        ]
        self._usable = [index for index, is_usable in enumerate(self.usable_flags) if is_usable]

    def least_loaded(self) -> int | None:
        """Return the usable crawler with the fewest sites, the first of several."""
        return min(self.usable(), key=self.load.__getitem__, default=None)

    def __iter__(self) -> Iterator[Crawler]:
        """Go through all that ever joined."""
        return iter(self.crawlers)
