"""Estimates of unmeasured round trips, by the model of `predict`. It decides nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ipmicra.delegate.attempt import Attempt
from ipmicra.delegate.ledger import Ledger
from ipmicra.delegate.policies.predict.policy import Predict
from ipmicra.delegate.ports import Settlements
from ipmicra.delegate.roster import Roster
from ipmicra.delegate.subnets import SubnetTree, key_of, row_of_key
from ipmicra.model.address import Address
from ipmicra.model.crawler import Crawler
from ipmicra.model.location import Location
from ipmicra.model.types import Floats


class ExpectedTrips:
    """Learns from samples of any sites; gives what is expected between any site and each crawler."""

    def __init__(
        self, tree: SubnetTree, crawlers: Iterable[Crawler], settlements: Settlements | None = None
    ) -> None:
        """Begin with a fleet and nothing learnt; `settlements` say where in a country sites are likely."""
        self._tree, self._roster, self._policy = tree, Roster(), Predict(settlements=settlements)
        self._policy.bind(self._roster, Ledger(), tree)
        for crawler in crawlers:
            index, is_new = self._roster.join(crawler)
            if is_new:
                self._policy.crawler_added(index)

    def __repr__(self) -> str:
        """Show fleet and model."""
        return f"<ExpectedTrips: {self._roster!r}, {self._policy!r}>"

    def learn(self, address: Address, location: Location | None, samples_ms: Mapping[str, float]) -> None:
        """Take in what crawlers, by name, measured of one address; strangers to the fleet do not count."""
        attempt = self._attempt(address, location, samples_ms)
        if attempt.samples:
            self._policy.examined(attempt)
            self._policy.learn(attempt)

    def expected_ms(
        self, address: Address, location: Location | None, samples_ms: Mapping[str, float]
    ) -> Floats | None:
        """Return the round trip to each crawler of the fleet, in its order; None where nothing is known.

        `samples_ms` are those of the address itself: they stand as they are, and bear on the others.
        """
        return self._policy.expected_ms(self._attempt(address, location, samples_ms))

    def _attempt(
        self, address: Address, location: Location | None, samples_ms: Mapping[str, float]
    ) -> Attempt:
        key = key_of(self._tree, address)
        attempt = Attempt(-1, key, row_of_key(self._tree, key), address, location)
        for name, rtt_ms in samples_ms.items():
            index = self._roster.index_of(name)
            if index is not None:
                attempt.samples[index] = rtt_ms
        return attempt
