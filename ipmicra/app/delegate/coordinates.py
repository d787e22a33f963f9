"""Round trips by network coordinates, for sites that cannot be probed.

How it works
------------
The fleet is placed by the round trips between its crawlers, once, when a site first needs it. The site stands
where `assign` would put it (`app/assign/standing.py`, the one rule for that): by its own earlier samples,
else by those of its subnet, if enough crawlers took them to fix a coordinate. The weaker ways to stand
somewhere, at the holder of the subnet or by a place on the map, are left to the steps that follow.

Only the samples of the site's own subnet are read, at most `MOST_SAMPLES`: a store may have millions, and
everything else waits meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ipmicra.delegate.machine import DelegationMachine
from ipmicra.delegate.ports import CoordinateTrips
from ipmicra.delegate.subnets import SubnetTree, bounds_of, key_of
from ipmicra.edge.store.ports import StorePort
from ipmicra.errors import InputError
from ipmicra.model.address import Address
from ipmicra.model.crawler import Crawler
from ipmicra.model.site import Site
from ipmicra.model.types import Floats

if TYPE_CHECKING:
    from ipmicra.app.assign.fleet_space import FleetSpace
    from ipmicra.app.assign.round_trips import MedianRoundTrips
    from ipmicra.app.assign.whereabouts import Holder

MOST_SAMPLES = 2_000
"""Samples of one subnet that are read."""
UNMEASURED = "nobody has measured it or its subnet"
NOBODY_PLACED = "no crawler that can be asked has a coordinate"


class FleetCoordinates:
    """A `CoordinateSource` by the samples of a store."""

    machine: DelegationMachine
    """Set once it is made; it knows the fleet."""

    def __init__(self, store: StorePort, tree: SubnetTree) -> None:
        """Remember where to look; nothing is read before a site needs it."""
        self._store, self._tree = store, tree
        self._crawlers: list[Crawler] = []
        self._fitted: FleetSpace | str = ""
        self._trips: MedianRoundTrips | None = None

    def expected_ms_many(self, address: Address, crawlers: Sequence[str]) -> CoordinateTrips | str:
        """Return the expected round trip from each crawler, or why there is none."""
        fleet = self._fleet()
        if isinstance(fleet, str) or self._trips is None:
            return str(fleet)
        own_ms = self._trips.expected_ms([address], self._crawlers)
        nearby = _Nearby(self._store, self._tree, self._trips.rejected)
        if not np.isfinite(own_ms).any() and not nearby.subnet_ms([_site(address)], self._crawlers)[0]:
            return UNMEASURED
        return self._placed(address, crawlers, fleet, nearby, own_ms)

    def _placed(
        self, address: Address, crawlers: Sequence[str], fleet: FleetSpace, nearby: _Nearby, own_ms: Floats
    ) -> CoordinateTrips | str:
        from ipmicra.app.assign.standing import FIRM, Locating

        # what an earlier site's subnet taught must not count for this one
        fresh = replace(fleet, coordinates=fleet.coordinates.without_subnets())
        stand = Locating([_site(address)], self._crawlers, own_ms, fresh, nearby).located()
        if stand.sources[0] not in FIRM:
            return f"too few crawlers measured it or its subnet: {fleet.needed} fix a coordinate"
        column = {one.name: number for number, one in enumerate(self._crawlers)}
        expected = [float(stand.expected_ms[0, column[name]]) for name in crawlers]
        if np.isnan(expected).all():
            return NOBODY_PLACED
        return CoordinateTrips([np.inf if np.isnan(ms) else ms for ms in expected], stand.labels[0])

    def _fleet(self) -> FleetSpace | str:
        """Place the crawlers, again when one has joined."""
        from ipmicra.app.assign.fleet_space import fit_fleet
        from ipmicra.app.assign.round_trips import MedianRoundTrips
        from ipmicra.assign.overlay.config import ZoneConfig

        if self._trips is None or len(self._crawlers) != len(self.machine.roster):
            rejected = {(one.crawler, one.address) for one in self._store.track_records.rejected()}
            self._trips = MedianRoundTrips(samples=self._store.samples, rejected=frozenset(rejected))
            self._crawlers = list(self.machine.roster)
            try:
                self._fitted = fit_fleet(self._trips, self._crawlers, ZoneConfig().dimensions)
            except InputError as error:
                self._fitted = str(error)
        return self._fitted


class _Nearby:
    """What is known about where a site is, as `Locating` asks for it: the samples of its subnet, no more."""

    def __init__(self, store: StorePort, tree: SubnetTree, rejected: frozenset[tuple[str, Address]]) -> None:
        self._store, self._tree, self._rejected = store, tree, rejected

    def subnet_ms(self, sites: Sequence[Site], crawlers: Sequence[Crawler]) -> list[dict[int, list[float]]]:
        column = {crawler.name: number for number, crawler in enumerate(crawlers)}
        return [self._last_ms(site.address, column) for site in sites]

    def _last_ms(self, address: Address, column: dict[str, int]) -> dict[int, list[float]]:
        from ipmicra.app.assign.round_trips import median_ms
        from ipmicra.assign.coordinate.config import UpdateConfig

        key = key_of(self._tree, address)
        found: dict[int, list[float]] = {}
        samples = self._store.samples.in_range(bounds_of(self._tree, key), MOST_SAMPLES)
        for sample in sorted(samples, key=lambda one: one.taken_s):
            ms = median_ms([sample])
            is_known = sample.crawler in column and (sample.crawler, sample.address) not in self._rejected
            if ms is not None and is_known and key_of(self._tree, sample.address) == key:
                found.setdefault(column[sample.crawler], []).append(ms)
        return {number: kept[-UpdateConfig().remembered :] for number, kept in found.items()}

    def holders(self, sites: Sequence[Site]) -> list[Holder | None]:
        return [None] * len(sites)

    def place_ms(self, sites: Sequence[Site], crawlers: Sequence[Crawler], mutual_ms: Floats) -> Floats:  # noqa: ARG002 - the interface
        return np.full((len(sites), len(crawlers)), np.nan)

    def history_ms(self, crawlers: Sequence[Crawler]) -> Floats:
        return np.empty((0, len(crawlers)))


def _site(address: Address) -> Site:
    return Site(str(address), address)
