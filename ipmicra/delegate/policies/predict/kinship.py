"""How far apart the slices of one subnet are: learnt, not assumed.

How it works
------------
The forest takes the slices of a subnet to differ by a spread (a variance of logarithms, for each crawler). A
subnet of an access provider is one place: the spread is small and what one slice taught is true of the next.
A hosting company's spans continents: then it is large, and says of the next slice hardly more than nothing
at all. Which of the two a subnet is, samples tell. Whenever a slice of a subnet is sampled for the first time
and others were before, the squared deviation from what those foretold, less the noise that any two sites
show, is one observation of the spread.

Observations are few for most subnets, so each estimate leans on a wider one (`trust` observations' worth):

    as configured ─▶ subnets as wide, of the same registry status ─▶ the same holder's ─▶ the subnet's own

The hierarchy is the prior and samples overrule it. Some pairs of samples need no statistics: if light in
fibre cannot have been at both ends, two sites of the subnet are in two places (`compare`). The subnet is
*spread* then, and so are all of its holder.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ipmicra.delegate.config import PredictConfig
from ipmicra.delegate.policies.predict.trips import Trips
from ipmicra.delegate.subnets import SubnetTree
from ipmicra.model.geo import FIBRE_KM_PER_MS, vector_distances_km
from ipmicra.model.types import Floats

Key = tuple[object, ...]
LARGEST = 4.0
"""Squared deviation above which an observation says no more: a factor of seven in the round trip."""


class Kinship:
    """Estimates of spreads, by subnet."""

    def __init__(self, config: PredictConfig, tree: SubnetTree) -> None:
        """Begin without observations."""
        self._config, self._tree = config, tree
        self._seen: dict[Key, tuple[float, int]] = {}
        """Sum and number of observations of a group of subnets."""
        self._reaches = Trips()
        """Shortest round trip of each crawler to any site, by subnet."""
        self.spread_rows: set[int] = set()
        self.spread_holders: set[int] = set()

    def __repr__(self) -> str:
        """Say how much was learnt."""
        spread = f"{len(self.spread_rows)} subnets and {len(self.spread_holders)} holders in several places"
        return f"<Kinship: {len(self._seen)} groups, {spread}>"

    def square(self, row: int, *, is_placed: bool) -> float:
        """Return the variance between two slices of a subnet."""
        config = self._config
        found = (config.placed if is_placed else config.unplaced).slice ** 2
        for key in self._groups(row, is_placed=is_placed):
            seen = self._seen.get(key)
            if seen is not None:
                trust = config.kin_trust
                found = (trust * found + seen[0]) / (trust + seen[1])
        return max(found, config.spread_apart**2) if self.is_spread(row) else found

    def is_spread(self, row: int) -> bool:
        """Return whether a subnet, or another one of its holder, is known to be in several places."""
        return row in self.spread_rows or self._tree.organisation_number(row) in self.spread_holders

    def learn(self, row: int, excess: float, *, is_placed: bool) -> None:
        """Take in one observation of a subnet's spread."""
        one = min(max(excess, 0.0), LARGEST)
        for key in self._groups(row, is_placed=is_placed):
            total, count = self._seen.get(key, (0.0, 0))
            self._seen[key] = total + one, count + 1

    def _groups(self, row: int, *, is_placed: bool) -> tuple[Key, ...]:
        """Return the groups that a subnet is in, wide to narrow."""
        first, last = self._tree.bounds(row)
        width = (int(last) - int(first)).bit_length()
        holder = self._tree.organisation_number(row)
        kind = is_placed, first.version
        alike = (*kind, "width", width, self._tree.status_number(row))
        if not holder:
            return alike, (is_placed, "row", row)
        return alike, (is_placed, "holder", holder), (is_placed, "row", row)

    def compare(self, row: int, samples: Mapping[int, float], points: Floats) -> bool:
        """Compare a site's samples with those of other sites; return whether they cannot be one place.

        `points` are the crawlers' places as unit vectors, NaN where unknown.
        """
        known = self._reaches.of(row)
        is_new = not self.is_spread(row) and _are_two_places(known, samples, points)
        for crawler, rtt_ms in samples.items():
            known[crawler] = min(rtt_ms, known.get(crawler, rtt_ms))
        self._reaches.put(row, known)
        if is_new:
            self.spread_rows.add(row)
            holder = self._tree.organisation_number(row)
            if holder:
                self.spread_holders.add(holder)
        return is_new


def _are_two_places(known: Mapping[int, float], new: Mapping[int, float], points: Floats) -> bool:
    """Return whether light in fibre rules out that the sites behind two sets of samples are one place."""
    if not known or not new:
        return False
    here, there = list(known), list(new)
    apart_km = vector_distances_km(points[here], points[there])
    reach_km = np.array(list(known.values()))[:, None] + np.array(list(new.values()))
    return bool((apart_km > reach_km * FIBRE_KM_PER_MS).any())  # NaN, of unknown places, is never greater
