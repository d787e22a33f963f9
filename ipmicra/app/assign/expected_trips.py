"""Estimates of unmeasured round trips, by the delegator's model and what the store knows."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ipmicra.app.locate.sites import LocatedSites
from ipmicra.delegate.config import TAUGHT_SAMPLES, DelegatorConfig
from ipmicra.delegate.policies.predict.expecting import ExpectedTrips
from ipmicra.edge.geodata.countries import CountrySettlements
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.store.ports import Bounds, StorePort
from ipmicra.model.address import Address
from ipmicra.model.crawler import Crawler
from ipmicra.model.location import Location
from ipmicra.model.sample import Loss, Sample
from ipmicra.model.site import Site
from ipmicra.model.types import Floats

ON_THE_PATH = {Loss.TIMEOUT, Loss.UNREACHABLE, Loss.RESET, Loss.TLS, Loss.PROTOCOL}
"""Losses caused by the path to a site; the others are caused by agents, budgets and rules."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredExpectations:
    """Fills in what is missing: learns from the newest samples, each address at its place."""

    store: StorePort
    hierarchy: Hierarchy
    clock: Callable[[], float] = time.time
    taught: int = TAUGHT_SAMPLES

    def filled(self, sites: Sequence[Site], crawlers: Sequence[Crawler], known_ms: Floats) -> Floats:
        """Return known round trips unchanged, and expected ones for the rest.

        NaN stays where a probe was lost that others did not lose, and where neither the site's place nor a
        sample near it is known.
        """
        if not np.isnan(known_ms).any():
            return known_ms  # nothing to estimate, so nothing to learn from thousands of samples
        heard = self._heard()
        places = StoredPlaces(self.store, self.hierarchy)
        trips = ExpectedTrips(self.hierarchy, crawlers, CountrySettlements())
        for address, samples in heard.items():
            trips.learn(address, places.of_address(address), _measured(samples))
        names = [crawler.name for crawler in crawlers]
        filled = known_ms.copy()
        for row, site in enumerate(sites):
            samples = heard.get(site.address, {})
            is_open = np.isnan(known_ms[row])
            if not is_open.all():
                is_open &= [not _is_lost(samples.get(name)) for name in names]
            if not is_open.any():
                continue
            expected = trips.expected_ms(site.address, places.of_site(site), _measured(samples))
            if expected is not None:
                filled[row, is_open] = expected[is_open]
        return filled

    def _heard(self) -> Mapping[Address, dict[str, Sample]]:
        """Return the newest sample of each pair, by address; implausible ones are left out."""
        implausible = {(one.crawler, one.address) for one in self.store.track_records.rejected()}
        since_s = self.clock() - DelegatorConfig().lifetime_s
        heard: dict[Address, dict[str, Sample]] = defaultdict(dict)
        for sample in self.store.samples.newest(self.taught, since_s):
            if (sample.crawler, sample.address) not in implausible:
                heard[sample.address][sample.crawler] = sample
        return heard


def _measured(samples: Mapping[str, Sample]) -> dict[str, float]:
    return {name: one.rtt_ms for name, one in samples.items() if one.rtt_ms is not None}


def _is_lost(sample: Sample | None) -> bool:
    return sample is not None and sample.rtt_ms is None and sample.loss in ON_THE_PATH


class StoredPlaces:
    """Where sites are: as their delegations say, which may be nowhere, else by the heuristics of `locate`.

    A delegation without a location and without a round trip says nothing: policies that ask nobody, such as
    `hash`, do not locate their sites.
    """

    def __init__(self, store: StorePort, hierarchy: Hierarchy | None) -> None:
        """Read the places of all delegations; without a hierarchy host names are the only other clue."""
        self._store, self._hierarchy = store, hierarchy
        self._by_address: dict[Address, Location | None] = {}
        self._by_bounds: dict[Bounds, Location | None] = {}
        for record in store.delegations.all():
            is_known = record.location is not None or record.delegation.rtt_ms is not None
            if record.address is not None and is_known:
                self._by_bounds[record.delegation.first, record.delegation.last] = record.location
                self._by_address[record.address] = record.location

    @cached_property
    def _located(self) -> LocatedSites:
        return LocatedSites(self._hierarchy)

    def of_address(self, address: Address) -> Location | None:
        """Return the place of an address that was probed."""
        if address in self._by_address:
            return self._by_address[address]
        return self._located.location_of(Site(str(address), address), 0)

    def of_site(self, site: Site) -> Location | None:
        """Return the place of a site."""
        if site.address in self._by_address:
            return self._by_address[site.address]
        result = self._store.results.latest(site.host)
        if result is not None and (bounds := (result.first, result.last)) in self._by_bounds:
            return self._by_bounds[bounds]
        return self._located.location_of(site, 0)
