"""What assigners know of round trips: measured ones from the store, estimated ones by coordinates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ipmicra.assign.coordinate.coordinates import Coordinates
from ipmicra.model.address import Address
from ipmicra.model.crawler import Crawler
from ipmicra.model.sample import Sample
from ipmicra.model.site import Site
from ipmicra.model.types import Floats

_FEWEST = 4
"""Crawlers that must have measured each other before coordinates are worth anything."""
_SEED = 1


class LatestSamples(Protocol):
    """The part of a store that knows samples."""

    def latest(self, address: Address) -> dict[str, Sample]:
        """Give the newest sample of each crawler to an address."""


class RoundTrips(Protocol):
    """What an assigner asks: how far each site is from each crawler. Delegations can answer it as well."""

    def expected_ms(self, addresses: Sequence[Address], crawlers: Sequence[Crawler]) -> Floats:
        """Give the round trips from addresses (rows) to crawlers (columns); NaN where nothing is known."""


class Expectations(Protocol):
    """Whoever can say what to expect where nothing was measured."""

    def filled(self, sites: Sequence[Site], crawlers: Sequence[Crawler], known_ms: Floats) -> Floats:
        """Give round trips as they are known, (site, crawler), and expected ones where they are NaN."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledRoundTrips:
    """Round trips as measured, the newest sample of each pair."""

    samples: LatestSamples

    def expected_ms(self, addresses: Sequence[Address], crawlers: Sequence[Crawler]) -> Floats:
        """Give what was measured; a lost probe is as if there was none."""
        column = {crawler.name: number for number, crawler in enumerate(crawlers)}
        found = np.full((len(addresses), len(crawlers)), np.nan)
        rows: dict[Address, Floats] = {}
        for number, address in enumerate(addresses):
            if address not in rows:
                for name, sample in self.samples.latest(address).items():
                    if name in column and sample.rtt_ms is not None:
                        found[number, column[name]] = sample.rtt_ms
                rows[address] = found[number]
            found[number] = rows[address]
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class DelegatedRoundTrips:
    """Round trips as measured, and where a site was not probed itself, those its delegation rests on."""

    measured: RoundTrips
    delegated: Mapping[Address, tuple[str, float]]
    """Crawler and round trip of each address's delegation."""

    def expected_ms(self, addresses: Sequence[Address], crawlers: Sequence[Crawler]) -> Floats:
        """Give what was measured, and what was expected where nothing was."""
        found = self.measured.expected_ms(addresses, crawlers)
        column = {crawler.name: number for number, crawler in enumerate(crawlers)}
        for row, address in enumerate(addresses):
            name, rtt_ms = self.delegated.get(address, ("", 0.0))
            if name in column and np.isnan(found[row, column[name]]):
                found[row, column[name]] = rtt_ms
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetCoordinates:
    """Coordinates of a fleet, by the round trips between its crawlers, and of sites, by their samples."""

    coordinates: Coordinates
    samples_ms: Floats
    """Of the sites, as measured."""

    @property
    def crawler_points(self) -> Floats:
        """Where crawlers stand."""
        return self.coordinates.points()

    def site_points(self) -> Floats:
        """Where sites stand; those without a sample stand in the middle."""
        return self.coordinates.points(self.samples_ms)

    def expected_ms(self) -> Floats:
        """Give what was measured, and estimates for the rest; NaN in rows of sites without a sample."""
        is_known = np.isfinite(self.samples_ms).any(axis=1, keepdims=True)
        return np.where(is_known, self.coordinates.predict(self.samples_ms), np.nan)


def fleet_coordinates(
    trips: RoundTrips, crawlers: Sequence[Crawler], samples_ms: Floats, method: str = "gnp"
) -> FleetCoordinates | None:
    """Fit coordinates to what crawlers measured of each other's addresses; None if that is too little."""
    if len(crawlers) < _FEWEST:
        return None
    mutual = trips.expected_ms([crawler.address for crawler in crawlers], crawlers)
    both = np.where(np.isnan(mutual), mutual.T, mutual)
    np.fill_diagonal(both, 0.0)
    if np.isfinite(both).mean() < 0.5:  # noqa: PLR2004 - half of the pairs
        return None
    rng = np.random.default_rng(_SEED)
    fitted = Coordinates.fit(both, rng=rng, landmarks=list(range(len(crawlers))), method=method)
    return FleetCoordinates(coordinates=fitted, samples_ms=samples_ms)
