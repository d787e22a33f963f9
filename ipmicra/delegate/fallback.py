"""Who gets a site that cannot be probed.

How it works
------------
Four steps are tried in order, from the best evidence to the weakest; the first that can answer does:

    coordinate   the crawler with the shortest round trip by network coordinates
    location     the crawler nearest to the site's place on the Earth
    neighbours   the crawler that holds most subnets around it
    load         the least loaded crawler, when nothing is known

The first two carry an expected round trip. A step that cannot answer says why, and what each said is kept in
the account (`Verdict.STEP`), so that `ipmicra explain` can tell why a site has a weak answer.

A policy that settles by the place alone after a lost probe, as `predict` does where it trusts the place,
takes part in this: the steps before are tried, and its answer counts for the place that it knew.

A place at hand was found without asking anybody. If whoever drives the machine can do better, the site is
located again before its place decides (`AskPlace`): the attempt waits, everybody else goes on. Sites that
can be probed never come here, so that effort is spent on those that need it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from ipmicra.delegate.actions import AskPlace
from ipmicra.delegate.attempt import Attempt, Considered, Settle, Verdict
from ipmicra.delegate.ledger import Ledger
from ipmicra.delegate.ports import FallbackSources
from ipmicra.delegate.roster import Roster
from ipmicra.delegate.subnets import SubnetTree, bounds_of
from ipmicra.model.address import range_text
from ipmicra.model.delegation import Evidence, Origin
from ipmicra.model.foreign_text import printable
from ipmicra.model.geo import km_between
from ipmicra.model.location import Hint, Location
from ipmicra.model.sample import Loss

COORDINATE, LOCATION, NEIGHBOURS = "coordinate", "location", "neighbours"
"""Names of the steps, in their order."""
NO_SOURCE = "not used here"
NO_PLACE = "its place is unknown"
NO_CRAWLER_PLACED = "no crawler that can be asked has a place (`crawler add` takes --latitude, --longitude)"
NO_NEIGHBOURS = "no subnet around it is delegated"


class Fallback:
    """Answers without a sample; the evidence says by what."""

    def __init__(self, tree: SubnetTree, roster: Roster, ledger: Ledger, sources: FallbackSources) -> None:
        """Remember where to look."""
        self._tree, self._roster, self._ledger, self._sources = tree, roster, ledger, sources

    def choose(self, attempt: Attempt) -> Settle | AskPlace:
        """Choose among the usable crawlers, of which there is at least one, or ask where the site is."""
        passed: list[Considered] = []
        settle = self._by_coordinates(attempt, passed)
        if settle is None and attempt.found is None and self._sources.asks_places:
            return AskPlace(attempt.number, attempt.sites[0])
        return (
            settle
            or self._by_location(attempt, passed)
            or self._by_neighbours(attempt, passed)
            or self._by_load(attempt, passed)
        )

    def _by_coordinates(self, attempt: Attempt, passed: list[Considered]) -> Settle | None:
        usable, source = self._roster.usable(), self._sources.coordinates
        expected = (
            source.expected_ms_many(attempt.address, [self._roster.name(i) for i in usable])
            if source is not None
            else NO_SOURCE
        )
        if isinstance(expected, str):
            passed.append(_step(COORDINATE, expected))
            return None
        rtt_ms, crawler = min(zip(expected.expected_ms, usable, strict=True))
        said = f"{expected.basis}; {self._roster.name(crawler)} is the nearest"
        passed.append(_step(COORDINATE, said, rtt_ms))
        reason = f"{_why(attempt)}: the nearest by coordinates"
        return Settle(crawler, Evidence.COORDINATE, rtt_ms, reason, steps=tuple(passed))

    def _by_location(self, attempt: Attempt, passed: list[Considered]) -> Settle | None:
        crawlers, place, found = self._roster.crawlers, attempt.location, attempt.found
        if place is None:
            passed.append(_step(LOCATION, found if isinstance(found, str) else NO_PLACE))
            return None
        placed = {i: stands for i in self._roster.usable() if (stands := crawlers[i].location) is not None}
        said, by_policy = _place_text(place, found), attempt.by_place
        if by_policy is not None:
            said = f"{said}; {self._roster.name(by_policy.crawler)} is the nearest by what was learnt so far"
            passed.append(_step(LOCATION, said, by_policy.rtt_ms))
            return replace(by_policy, steps=tuple(passed))
        if not placed:
            passed.append(_step(LOCATION, f"{said}, but {NO_CRAWLER_PLACED}"))
            return None
        away_km = {crawler: km_between(place, stands) for crawler, stands in placed.items()}
        nearest = min(away_km, key=away_km.__getitem__)
        km, distances = away_km[nearest], self._sources.distances
        rtt_ms = None if distances is None else distances.expected_ms(km)
        passed.append(_step(LOCATION, f"{said}; {self._roster.name(nearest)} is {km:.0f} km away", rtt_ms))
        reason = f"{_why(attempt)}: the nearest on the map, {km:.0f} km away"
        return Settle(nearest, Evidence.GEOLOCATED, rtt_ms, reason, steps=tuple(passed))

    def _by_neighbours(self, attempt: Attempt, passed: list[Considered]) -> Settle | None:
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
                said = f"{self._roster.name(winner)} holds {most} of {votes.total()} delegated subnets"
                passed.append(_step(NEIGHBOURS, f"{said} {self._within(above)}"))
                reason = f"{_why(attempt)}: holds most neighbours"
                origin = Origin(*bounds_of(self._tree, above))
                return Settle(winner, Evidence.INHERITED, None, reason, tuple(passed), origin)
            above = self._tree.parent(above)
        passed.append(_step(NEIGHBOURS, NO_NEIGHBOURS))
        return None

    def _within(self, row: int) -> str:
        is_root = self._tree.parent(row) is None
        return "in all" if is_root else f"in {range_text(*bounds_of(self._tree, row))}"

    def _by_load(self, attempt: Attempt, passed: list[Considered]) -> Settle:
        crawler = self._roster.least_loaded()
        assert crawler is not None  # noqa: S101 - the caller has seen a usable one
        reason = f"{_why(attempt)}, nothing is known: the least loaded"
        return Settle(crawler, Evidence.INHERITED, None, reason, steps=tuple(passed))


def _why(attempt: Attempt) -> str:
    """Say why there is no sample."""
    is_spent = not attempt.losses or Loss.BUDGET in attempt.losses.values()
    return "not probed, the budget is out" if is_spent else "cannot be probed"


def _step(name: str, said: str, expected_ms: float | None = None) -> Considered:
    """Write down what a step said; names and registry text in it come from outside, and go on one line."""
    text = printable(" ".join(said.split()))
    return Considered(crawler=name, verdict=Verdict.STEP, reason=text, expected_ms=expected_ms)


def _place_text(place: Location, found: Hint | str | None) -> str:
    """Write where a site is thought to be, and who says so."""
    names = ", ".join(name for name in (place.city, place.country) if name)
    text = names or f"{place.latitude:.2f}, {place.longitude:.2f}"
    by = f" by {found.heuristic} ({found.evidence})" if isinstance(found, Hint) else ""
    return f"{text}, within {place.radius_km:.0f} km{by}"
