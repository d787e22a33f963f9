"""Where crawlers stand in coordinate space, by the round trips between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ipmicra.app.assign.round_trips import RoundTrips
from ipmicra.assign.coordinate.config import GnpConfig
from ipmicra.assign.coordinate.coordinates import Coordinates, CoordinatesConfig
from ipmicra.assign.coordinate.samples import clean_mutual
from ipmicra.errors import InputError
from ipmicra.model.crawler import Crawler
from ipmicra.model.types import Floats, Rows

_SEED = 1
_ENOUGH = 0.5
"""Part of the others that a crawler must have a round trip with, before it has a coordinate."""
MEASURE = "`ipmicra crawler measure` orders the probes"


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetSpace:
    """Coordinates of a fleet; crawlers are numbered as in the fleet, whether they have one or not."""

    coordinates: Coordinates
    part: Rows
    """The crawlers that have a coordinate."""
    mutual_ms: Floats
    """Round trips between all crawlers; NaN where nobody measured."""

    @property
    def dimensions(self) -> int:
        """Number of dimensions: fewer than asked for in a small fleet."""
        return int(self.coordinates.points().shape[1])

    @property
    def needed(self) -> int:
        """Crawlers that must have measured a host to fix its coordinate: one more than dimensions."""
        return self.dimensions + 1

    @property
    def points(self) -> Floats:
        """Where crawlers stand; NaN for those without a coordinate."""
        found = np.full((len(self.mutual_ms), self.dimensions), np.nan)
        found[self.part] = self.coordinates.points()
        return found

    @property
    def is_placed(self) -> NDArray[np.bool_]:
        """Which crawlers have a coordinate."""
        return np.isin(np.arange(len(self.mutual_ms)), self.part)

    def placed(self, rtt_ms: Floats) -> Floats:
        """Return where hosts with these round trips to the fleet are (hosts × crawlers)."""
        if not len(rtt_ms):
            return np.empty((0, self.dimensions))
        return self.coordinates.points(rtt_ms[:, self.part])

    def heard(self, rtt_ms: Floats) -> Rows:
        """Count the crawlers with a coordinate that measured each host."""
        counts: Rows = np.isfinite(rtt_ms[:, self.part]).sum(axis=1)
        return counts


def fit_fleet(trips: RoundTrips, crawlers: Sequence[Crawler], dimensions: int) -> FleetSpace:
    """Fit coordinates to what crawlers measured of each other; those that measured too few are left out."""
    mutual = clean_mutual(trips.expected_ms([crawler.address for crawler in crawlers], crawlers))
    part = _measured_part(mutual)
    if len(part) < 2:  # noqa: PLR2004 - nothing between fewer
        raise InputError(
            f"coordinates need round trips between the crawlers, and there are {_pairs(mutual)}: {MEASURE}"
        )
    config = CoordinatesConfig(gnp=GnpConfig(dimensions=min(dimensions, len(part) - 1)))
    fitted = Coordinates.fit(
        mutual[np.ix_(part, part)],
        rng=np.random.default_rng(_SEED),
        landmarks=list(range(len(part))),
        method="gnp",
        config=config,
    )
    return FleetSpace(coordinates=fitted, part=part, mutual_ms=mutual)


def _measured_part(mutual_ms: Floats) -> Rows:
    """Leave out the crawler with the fewest round trips, again and again, until all have enough."""
    part = list(range(len(mutual_ms)))
    while len(part) > 1:
        counts = np.isfinite(mutual_ms[np.ix_(part, part)]).sum(axis=1)
        worst = int(counts.argmin())
        if counts[worst] >= _ENOUGH * (len(part) - 1):
            break
        del part[worst]
    return np.array(part, dtype=np.int64)


def _pairs(mutual_ms: Floats) -> str:
    known, pairs = np.isfinite(mutual_ms).sum() // 2, len(mutual_ms) * (len(mutual_ms) - 1) // 2
    return f"{known} of {pairs} pairs"
