"""Estimates of unmeasured round trips, by the delegator's model and what the store knows."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ipmicra.app.locate.sites import LocatedSites
from ipmicra.delegate.config import TAUGHT_SAMPLES, DelegatorConfig
from ipmicra.delegate.policies.predict.expecting import ExpectedTrips
from ipmicra.edge.geodata.countries import CountrySettlements
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.store.ports import Bounds, DelegationRecord, StorePort
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
        places.read([*heard, *(site.address for site in sites)])
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
        """Read nothing yet; without a hierarchy host names are the only other clue."""
        self._store, self._hierarchy = store, hierarchy
        self._by_address: dict[Address, Location | None] = {}
        self._by_bounds: dict[Bounds, DelegationRecord | None] = {}
        self._asked: set[Address] = set()

    @cached_property
    def _located(self) -> LocatedSites:
        return LocatedSites(self._hierarchy)

    def read(self, addresses: Iterable[Address]) -> None:
        """Read the delegations that were decided for addresses, all at once."""
        new = set(addresses) - self._asked
        self._asked |= new
        for record in self._store.delegations.decided_for(list(new)):
            if record.address is not None and _is_placed(record):
                self._by_address[record.address] = record.location

    def of_address(self, address: Address) -> Location | None:
        """Return the place of an address that was probed."""
        self.read([address])
        if address in self._by_address:
            return self._by_address[address]
        return self._located.location_of(Site(str(address), address), 0)

    def of_site(self, site: Site) -> Location | None:
        """Return the place of a site."""
        self.read([site.address])
        if site.address in self._by_address:
            return self._by_address[site.address]
        result = self._store.results.latest(site.host)
        if result is not None:
            record = self._decided(result.first, result.last)
            if record is not None and record.address is not None and _is_placed(record):
                return record.location
        return self._located.location_of(site, 0)

    def _decided(self, first: Address, last: Address) -> DelegationRecord | None:
        bounds = first, last
        if bounds not in self._by_bounds:
            self._by_bounds[bounds] = self._store.delegations.get(first, last)
        return self._by_bounds[bounds]


def _is_placed(record: DelegationRecord) -> bool:
    """Return whether a delegation says where its site is, which may be nowhere."""
    return record.location is not None or record.delegation.rtt_ms is not None
