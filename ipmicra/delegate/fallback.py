"""Who gets a site that cannot be probed: by coordinates, else location, else the subnet's neighbours."""

from __future__ import annotations

from collections import Counter

from ipmicra.delegate.attempt import Attempt, Settle
from ipmicra.delegate.ledger import Ledger
from ipmicra.delegate.ports import CoordinateSource
from ipmicra.delegate.roster import Roster
from ipmicra.delegate.subnets import SubnetTree
from ipmicra.model.delegation import Evidence
from ipmicra.model.geo import km_between


class Fallback:
    """Answers without a sample; the evidence says by what."""

    def __init__(
        self, tree: SubnetTree, roster: Roster, ledger: Ledger, coordinates: CoordinateSource | None
    ) -> None:
        """Remember where to look."""
        self._tree, self._roster, self._ledger, self._coordinates = tree, roster, ledger, coordinates

    def settle(self, attempt: Attempt) -> Settle:
        """Choose among the usable crawlers, of which there is at least one."""
        return (
            self._by_coordinates(attempt)
            or self._by_location(attempt)
            or self._by_neighbours(attempt)
            or self._by_load()
        )

    def _by_coordinates(self, attempt: Attempt) -> Settle | None:
        usable = self._roster.usable()
        if self._coordinates is None:
            return None
        expected = self._coordinates.expected_ms_many(attempt.address, [self._roster.name(i) for i in usable])
        if expected is None:
            return None
        rtt_ms, crawler = min(zip(expected, usable, strict=True))
        return Settle(crawler, Evidence.COORDINATE, rtt_ms, "cannot be probed: the nearest by coordinates")

    def _by_location(self, attempt: Attempt) -> Settle | None:
        location = attempt.location
        crawlers = self._roster.crawlers
        placed = {i: place for i in self._roster.usable() if (place := crawlers[i].location) is not None}
        if location is None or not placed:
            return None
        nearest = min(placed, key=lambda crawler: km_between(location, placed[crawler]))
        return Settle(nearest, Evidence.GEOLOCATED, None, "cannot be probed: the nearest on the map")

    def _by_neighbours(self, attempt: Attempt) -> Settle | None:
        """Take the crawler that holds most subnets inside the nearest ancestor that has any."""
        above = self._tree.parent(attempt.row) if attempt.key >= 0 else attempt.row
        while above is not None:
            inside = self._tree.descendants(above)
            behind = inside[-1] + 1 if len(inside) else above + 1
            votes = Counter(
                held.crawler
                for row in self._ledger.rows_between(above, behind)
                if (held := self._ledger.get(row)) is not None and self._roster.is_usable(held.crawler)
            )
            if votes:
                most = max(votes.values())
                winner = min(crawler for crawler, count in votes.items() if count == most)
                return Settle(winner, Evidence.INHERITED, None, "cannot be probed: holds most neighbours")
            above = self._tree.parent(above)
        return None

    def _by_load(self) -> Settle:
        crawler = self._roster.least_loaded()
        assert crawler is not None  # noqa: S101 - the caller has seen a usable one
        return Settle(
            crawler, Evidence.INHERITED, None, "cannot be probed, nothing is known: the least loaded"
        )
