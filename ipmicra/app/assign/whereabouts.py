"""Where sites are besides their own samples: their subnet's round trips, who holds it, their place.

`SubnetLedger` follows the samples: each call reads those that came since the last one, adds them to the last
round trips of their subnets, and keeps these in the store. A new edition of the hierarchy has other subnets,
so all is learnt again from the samples, of which none is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from ipmicra.app.assign.expected_trips import StoredPlaces
from ipmicra.app.assign.round_trips import median_ms
from ipmicra.app.delegate.missing_registrations import grafted
from ipmicra.assign.coordinate.config import UpdateConfig
from ipmicra.delegate.subnets import SubnetTree, bounds_of, key_of, single, slice_bounds, slice_of
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.store.ports import Bounds, DelegationRecord, StorePort, SubnetTrips
from ipmicra.locate.distance import DistanceSource
from ipmicra.model.address import Address, range_text
from ipmicra.model.crawler import Crawler
from ipmicra.model.delegation import Evidence
from ipmicra.model.geo import distances_km
from ipmicra.model.site import Site
from ipmicra.model.types import Floats

_MARK, _EDITION = "subnet trips: last sample", "subnet trips: edition"
_AT_ONCE = 10_000
"""Samples that are read in one go."""
_HISTORY = 20_000
"""Round trips of subnets, the newest, from which bounds are learnt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """Who holds the subnet of a site, and the round trip that this rests on."""

    crawler: str
    rtt_ms: float | None
    subnet: str


class Whereabouts(Protocol):
    """What is known about where sites are, besides samples of their own."""

    def subnet_ms(self, sites: Sequence[Site], crawlers: Sequence[Crawler]) -> list[dict[int, list[float]]]:
        """Return for each site the last round trips of its subnet, by crawler's number."""

    def holders(self, sites: Sequence[Site]) -> list[Holder | None]:
        """Return who holds the narrowest delegated subnet around each site."""

    def place_ms(self, sites: Sequence[Site], crawlers: Sequence[Crawler], mutual_ms: Floats) -> Floats:
        """Return round trips expected by the places of sites and crawlers; NaN where one is unknown."""

    def history_ms(self, crawlers: Sequence[Crawler]) -> Floats:
        """Return the medians of all subnets that were measured (subnets × crawlers)."""


class SubnetLedger:
    """The last round trips of subnets, brought up to date with the samples."""

    def __init__(self, store: StorePort, hierarchy: Hierarchy | None, tree: SubnetTree | None) -> None:
        """Read the samples that came since the last call; nothing is written before `save`."""
        self._store, self._tree = store, tree
        self._edition = "" if hierarchy is None else hierarchy.content_hash
        self._is_new = store.meta.get(_EDITION) != self._edition
        self._mark = 0 if self._is_new else int(store.meta.get(_MARK) or 0)
        self._changed: dict[Bounds, dict[str, SubnetTrips]] = {}
        self._catch_up()

    def bounds(self, address: Address) -> Bounds:
        """Return the subnet whose samples count for an address: the narrowest, or the slice around it."""
        if self._tree is None:
            return slice_bounds(slice_of(address))
        return bounds_of(self._tree, key_of(self._tree, address))

    def of(self, bounds: Bounds) -> dict[str, SubnetTrips]:
        """Return the last round trips of a subnet, by crawler."""
        if bounds in self._changed:
            return self._changed[bounds]
        return {} if self._is_new else {one.crawler: one for one in self._store.subnet_trips.of([bounds])}

    def newest(self, count: int) -> dict[Bounds, dict[str, SubnetTrips]]:
        """Return the subnets that were measured last."""
        found: dict[Bounds, dict[str, SubnetTrips]] = {}
        for one in [] if self._is_new else self._store.subnet_trips.newest(count):
            found.setdefault((one.first, one.last), {})[one.crawler] = one
        return found | self._changed

    def save(self) -> None:
        """Keep what came since the last call."""
        if self._is_new:
            self._store.subnet_trips.clear()
            self._store.meta.set(_EDITION, self._edition)
        self._store.subnet_trips.put_many(one for each in self._changed.values() for one in each.values())
        self._store.meta.set(_MARK, str(self._mark))

    def _catch_up(self) -> None:
        rejected = {(one.crawler, one.address) for one in self._store.track_records.rejected()}
        remembered = UpdateConfig().remembered
        while True:
            self._mark, samples = self._store.samples.after(self._mark, _AT_ONCE)
            for sample in samples:
                ms = median_ms([sample])
                if ms is None or not int(sample.address) or (sample.crawler, sample.address) in rejected:
                    continue
                bounds = self.bounds(sample.address)
                known = self._changed.get(bounds)
                if known is None:
                    known = self._changed[bounds] = self.of(bounds)
                before = known[sample.crawler].last_ms if sample.crawler in known else ()
                known[sample.crawler] = SubnetTrips(
                    first=bounds[0],
                    last=bounds[1],
                    crawler=sample.crawler,
                    last_ms=(*before, ms)[-remembered:],
                    taken_s=sample.taken_s,
                )
            if len(samples) < _AT_ONCE:
                return


class StoredWhereabouts:
    """Whereabouts by what the store and the hierarchy know."""

    def __init__(self, store: StorePort, hierarchy: Hierarchy | None, clock: Callable[[], float]) -> None:
        """Bring the round trips of subnets up to date."""
        self._store, self._hierarchy, self._now_s = store, hierarchy, clock()
        self._tree = None if hierarchy is None else grafted(hierarchy, store, self._now_s)
        self.ledger = SubnetLedger(store, hierarchy, self._tree)

    @cached_property
    def _places(self) -> StoredPlaces:
        return StoredPlaces(self._store, self._hierarchy)

    def subnet_ms(self, sites: Sequence[Site], crawlers: Sequence[Crawler]) -> list[dict[int, list[float]]]:
        """Return for each site the last round trips of its subnet, by crawler's number."""
        column = {crawler.name: number for number, crawler in enumerate(crawlers)}
        found = []
        for site in sites:
            known = self.ledger.of(self.ledger.bounds(site.address))
            found.append({column[name]: list(one.last_ms) for name, one in known.items() if name in column})
        return found

    def holders(self, sites: Sequence[Site]) -> list[Holder | None]:
        """Return who holds the narrowest delegated subnet around each site."""
        return [self._holder(site.address) for site in sites]

    def _holder(self, address: Address) -> Holder | None:
        for bounds in self._around(address):
            record = self._store.delegations.get(*bounds)
            if record is not None and _tells(record) and record.delegation.expires_s > self._now_s:
                one = record.delegation
                return Holder(crawler=one.crawler, rtt_ms=one.rtt_ms, subnet=range_text(one.first, one.last))
        return None

    def _around(self, address: Address) -> list[Bounds]:
        """Return the subnets that hold an address, narrowest first, without the root."""
        around = [slice_bounds(key) for key in (single(address), slice_of(address))]
        if self._tree is not None:
            row: int | None = self._tree.row_of(str(address))
            while row is not None and (above := self._tree.parent(row)) is not None:
                around.append(self._tree.bounds(row))
                row = above
        return sorted(around, key=lambda bounds: int(bounds[1]) - int(bounds[0]))

    def place_ms(self, sites: Sequence[Site], crawlers: Sequence[Crawler], mutual_ms: Floats) -> Floats:
        """Return round trips expected by places; what a kilometre takes is learnt between the crawlers."""
        found = np.full((len(sites), len(crawlers)), np.nan)
        stations = [(i, one.location) for i, one in enumerate(crawlers) if one.location is not None]
        located = [(i, self._places.of_site(site)) for i, site in enumerate(sites)] if stations else []
        known = [(i, place) for i, place in located if place is not None]
        if not known:
            return found
        columns = np.array([i for i, _ in stations])
        at = np.array([(place.latitude, place.longitude) for _, place in stations])
        source = DistanceSource()
        pairs = np.triu_indices(len(columns), 1)
        km = distances_km(at[:, None, 0], at[:, None, 1], at[None, :, 0], at[None, :, 1])
        source.learn(km[pairs], mutual_ms[np.ix_(columns, columns)][pairs])
        there = np.array([(place.latitude, place.longitude) for _, place in known])
        expected, _ = source.expected_between(at, there)
        found[np.ix_(np.array([i for i, _ in known]), columns)] = expected.T
        return found

    def history_ms(self, crawlers: Sequence[Crawler]) -> Floats:
        """Return the medians of the subnets that were measured last (subnets × crawlers)."""
        column = {crawler.name: number for number, crawler in enumerate(crawlers)}
        subnets = self.ledger.newest(_HISTORY)
        found = np.full((len(subnets), len(crawlers)), np.nan)
        for row, known in enumerate(subnets.values()):
            for name, one in known.items():
                if name in column and one.last_ms:
                    found[row, column[name]] = float(np.median(one.last_ms))
        return found


def _tells(record: DelegationRecord) -> bool:
    """Return whether a delegation says where its subnet is: somebody located or measured a site of it."""
    if record.delegation.evidence is Evidence.ANYCAST:
        return False
    return record.address is None or record.delegation.rtt_ms is not None or record.location is not None


def forget_trips(store: StorePort) -> None:
    """Forget the round trips of subnets: they are learnt again from the samples that there are."""
    store.subnet_trips.clear()
    store.meta.set(_EDITION, "forgotten")
