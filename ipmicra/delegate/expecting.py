"""Round trips that a policy expects, for those who assign sites after it has delegated their subnets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

import numpy as np

from ipmicra.delegate.attempt import Attempt
from ipmicra.delegate.ports import LocationSource, Policy
from ipmicra.delegate.roster import Roster
from ipmicra.delegate.subnets import SubnetTree, key_of, row_of_key
from ipmicra.model.site import Site
from ipmicra.model.types import Floats


@runtime_checkable
class ExpectingPolicy(Policy, Protocol):
    """A policy with a model of round trips."""

    def expected_ms(self, attempt: Attempt) -> Floats | None:
        """Return the round trip to each crawler of the roster; None if nothing is known."""


class Expecting:
    """Asks a policy what it expects; changes nothing."""

    def __init__(
        self, policy: Policy, tree: SubnetTree, roster: Roster, locations: LocationSource | None
    ) -> None:
        """Share what the machine has."""
        self._policy, self._tree, self._roster, self._locations = policy, tree, roster, locations

    def expected_ms(self, site: Site, samples_ms: Mapping[str, float]) -> dict[str, float]:
        """Return the expected round trip by crawler, for those of which the policy expects anything."""
        if not isinstance(self._policy, ExpectingPolicy):
            return {}
        location = self._locations.location_of(site, 0) if self._locations else None
        key = key_of(self._tree, site.address)
        attempt = Attempt(-1, key, row_of_key(self._tree, key), site.address, location)
        for name, rtt_ms in samples_ms.items():
            index = self._roster.index_of(name)
            if index is not None:
                attempt.samples[index] = rtt_ms
        expected = self._policy.expected_ms(attempt)
        if expected is None:
            return {}
        names = [crawler.name for crawler in self._roster.crawlers]
        return {name: float(ms) for name, ms in zip(names, expected.tolist(), strict=True) if np.isfinite(ms)}
