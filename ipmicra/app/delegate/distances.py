"""Round trips by distance, as the samples of the fleet teach them, for sites that cannot be probed."""

from __future__ import annotations

from ipmicra.app.locate.distances import learn_distances
from ipmicra.delegate.ledger import Ledger
from ipmicra.delegate.machine import DelegationMachine
from ipmicra.delegate.ports import LocationSource
from ipmicra.delegate.subnets import SubnetTree, key_of
from ipmicra.edge.store.ports import StorePort
from ipmicra.locate.distance import DistanceSource
from ipmicra.model.address import Address
from ipmicra.model.location import Location
from ipmicra.model.site import Site

TAUGHT = 2_000
"""Samples that are learnt from, the newest; three numbers are fitted, so more would not help."""


class FleetDistances:
    """Learns when it is first asked, and again after twice as many questions: samples come in meanwhile.

    A batch whose sites can all be probed asks nothing and learns nothing.
    """

    machine: DelegationMachine
    """Set once it is made; it knows the fleet, and where delegated sites are."""

    def __init__(self, store: StorePort, tree: SubnetTree, locations: LocationSource | None) -> None:
        """Remember where to look."""
        self._store, self._tree, self._locations = store, tree, locations
        self._source = DistanceSource()
        self._asked = 0

    def expected_ms(self, km: float) -> float:
        """Return the expected round trip over a distance."""
        self._asked += 1
        if self._asked & (self._asked - 1) == 0:  # 1, 2, 4, 8, …
            roster, ledger = self.machine.roster, self.machine.ledger
            samples = self._store.samples.newest(TAUGHT)
            self._source = learn_distances(samples, roster, lambda address: self._place_of(address, ledger))
        return float(self._source.expected_many(km)[0])

    def _place_of(self, address: Address, ledger: Ledger) -> Location | None:
        """Return where an address was when it was delegated, else what its registration says."""
        key = key_of(self._tree, address)
        held = ledger.get(key)
        if held is not None and held.location is not None:
            return held.location
        return self._locations.location_of(Site(str(address), address), key) if self._locations else None
