"""Round trips that assigners work from: measured ones from the store, estimated ones by coordinates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from statistics import mean, median
from typing import Protocol

import numpy as np

from ipmicra.assign.coordinate.config import UpdateConfig
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
        """Return the newest sample of each crawler to an address."""


class RoundTrips(Protocol):
    """The round trips that an assigner works from."""

    def expected_ms(self, addresses: Sequence[Address], crawlers: Sequence[Crawler]) -> Floats:
        """Return the round trips from addresses (rows) to crawlers (columns); NaN where nothing is known."""


class Expectations(Protocol):
    """Estimates round trips where nothing was measured."""

    def filled(self, sites: Sequence[Site], crawlers: Sequence[Crawler], known_ms: Floats) -> Floats:
        """Return known round trips (sites × crawlers), with NaN replaced by estimates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownRoundTrips:
    """Round trips as measured; where a site was not probed itself, the one its delegation rests on."""

    samples: LatestSamples
    delegated: Mapping[Address, tuple[str, float]] = field(default_factory=dict)
    """Crawler and round trip of each address's delegation."""

    def expected_ms(self, addresses: Sequence[Address], crawlers: Sequence[Crawler]) -> Floats:
        """Return the newest sample of each pair; a lost probe is as if there was none."""
        return _table(addresses, crawlers, self._row)

    def _row(self, address: Address, column: Mapping[str, int]) -> Floats:
        row = np.full(len(column), np.nan)
        for name, sample in self.samples.latest(address).items():
            if name in column and sample.rtt_ms is not None:
                row[column[name]] = sample.rtt_ms
        name, rtt_ms = self.delegated.get(address, ("", 0.0))
        if name in column and np.isnan(row[column[name]]):
            row[column[name]] = rtt_ms
        return row


class AllSamples(Protocol):
    """The part of a store that knows every sample of an address."""

    def of(self, address: Address) -> list[Sample]:
        """Return the samples of an address, oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MedianRoundTrips:
    """Medians of repeated measurements, from which coordinates are made [Xu et al. 2010, section 3]."""

    samples: AllSamples
    rejected: frozenset[tuple[str, Address]] = frozenset()
    """Crawlers and addresses whose samples cannot be true."""
    remembered: int = UpdateConfig().remembered
    has_downloads: bool = False
    """Whether the mean download time of main pages is added: L = RTT + DLT in Xu et al."""

    def expected_ms(self, addresses: Sequence[Address], crawlers: Sequence[Crawler]) -> Floats:
        """Return the median round trip of the last probes of each pair; lost ones do not count."""
        return _table(addresses, crawlers, self._row)

    def _row(self, address: Address, column: Mapping[str, int]) -> Floats:
        row = np.full(len(column), np.nan)
        probes: dict[str, list[Sample]] = {}
        for sample in self.samples.of(address):
            if sample.crawler in column and sample.rtt_ms is not None:
                probes.setdefault(sample.crawler, []).append(sample)
        for name, taken in probes.items():
            if (name, address) not in self.rejected:
                row[column[name]] = median_ms(taken[-self.remembered :]) or np.nan
                if self.has_downloads:
                    row[column[name]] += _download_ms(taken[-self.remembered :])
        return row


def _table(
    addresses: Sequence[Address],
    crawlers: Sequence[Crawler],
    row_of: Callable[[Address, Mapping[str, int]], Floats],
) -> Floats:
    """Return the rows of addresses, each made once; `row_of` is told the columns of the crawlers by name."""
    column = {crawler.name: number for number, crawler in enumerate(crawlers)}
    found = np.full((len(addresses), len(crawlers)), np.nan)
    rows: dict[Address, Floats] = {}
    for number, address in enumerate(addresses):
        if address not in rows:
            rows[address] = row_of(address, column)
        found[number] = rows[address]
    return found


def _download_ms(probes: Sequence[Sample]) -> float:
    """Return the mean download time of some probes; 0 where none was timed."""
    timed = [one.timings.download_ms for one in probes if one.timings is not None]
    known = [ms for ms in timed if ms is not None]
    return mean(known) if known else 0.0


def median_ms(probes: Sequence[Sample]) -> float | None:
    """Return the median of all round trips of some probes; None if there is none that can be."""
    trips = [ms for one in probes if one.rtt_ms is not None for ms in one.all_ms or (one.rtt_ms,)]
    usable = [ms for ms in trips if 0 < ms < inf]
    return median(usable) if usable else None


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
        """Return what was measured, and estimates for the rest; NaN in rows of sites without a sample."""
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
