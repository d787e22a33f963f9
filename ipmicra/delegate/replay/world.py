"""A world: crawlers, sites and the round trips between them.

Worlds are where delegation is tried without a network: measured ones (a folder, a user's own file: see
`edge.files`) and synthetic ones (`lab.worlds`). The product replays them too, for `ipmicra report WORLD` and
the partitioner `delegated`; that is why they live beside the machine and not in the laboratory.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from ipmicra.model.address import Address
from ipmicra.model.crawler import Crawler
from ipmicra.model.location import Location
from ipmicra.model.site import Site
from ipmicra.model.types import Floats, Rows

POINT_RADIUS_KM = 5.0
"""How well a world's own coordinates are known."""


class LocationKind(StrEnum):
    """What a replay may know of the sites' places."""

    WORLD = "world"
    """The world's own coordinates."""
    COUNTRY = "country"
    """The middle of each site's country."""
    LOCATE = "locate"
    """What host names and registrations say: see `ipmicra locate`."""
    NONE = "none"


@dataclass(frozen=True, slots=True)
class World:
    """True round trips. Site i is `sites[i]`; crawler j is `crawlers[j]`."""

    name: str
    crawlers: tuple[Crawler, ...]
    sites: tuple[Site, ...]
    rtt_ms: NDArray[np.floating]
    """(crawler, site); NaN where a probe is lost."""
    places: tuple[Location | None, ...]
    """Of the sites; None where unknown."""
    countries: tuple[str | None, ...]
    """Of the sites, two letters."""
    measured: NDArray[np.bool_] | None = None
    """(crawler, site): pairs that were measured, lost probes included; None if all were. A replay leaves each
    site to those that measured it."""
    today: Rows | None = None
    """Crawler that each site has today, -1 if unknown; None if not given."""
    mutual_ms: NDArray[np.floating] | None = None
    """(crawler, crawler): round trips to the crawlers' addresses, NaN where unknown; None if not given."""

    def __repr__(self) -> str:
        """Say how large it is."""
        return f"<World {self.name}: {len(self.crawlers)} crawlers, {len(self.sites)} sites>"

    def nearest_ms(self) -> Floats:
        """Return the shortest round trip of each site, NaN if no crawler reaches it."""
        filled = np.where(np.isnan(self.rtt_ms), np.inf, self.rtt_ms)
        least: Floats = filled.min(axis=0, initial=np.inf)
        return np.where(np.isinf(least), np.nan, least)

    def is_measured(self, crawler: int, site: int) -> bool:
        """Return whether a pair's round trip, or its loss, is known."""
        return self.measured is None or bool(self.measured[crawler, site])

    def measured_from(self, site: int) -> list[int]:
        """Return the crawlers that measured a site."""
        if self.measured is None:
            return list(range(len(self.crawlers)))
        found: list[int] = np.flatnonzero(self.measured[:, site]).tolist()
        return found

    def pairs_per_site(self) -> Floats:
        """Count the crawlers that each site was measured from."""
        if self.measured is None:
            return np.full(len(self.sites), float(len(self.crawlers)))
        return np.asarray(self.measured.sum(axis=0), np.float64)

    def given_ms(self, crawlers: Rows) -> Floats:
        """Return each site's round trip from the crawler it is given (NOBODY: none); NaN where unknown."""
        found = self.rtt_ms[crawlers, np.arange(len(self.sites))]
        return np.asarray(np.where(crawlers < 0, np.nan, found), np.float64)


class WorldLocations:
    """Places of a world's sites, by address: a `LocationSource`."""

    def __init__(self, places: dict[Address, Location]) -> None:
        """Take places by address."""
        self._places = places

    def location_of(self, site: Site, key: int) -> Location | None:  # noqa: ARG002 - the interface
        """Return a site's place."""
        return self._places.get(site.address)


def locations_of(world: World, kind: LocationKind, middles: dict[str, Location]) -> WorldLocations | None:
    """Return what a replay may know; `middles` are the countries' places."""
    if kind is LocationKind.NONE:
        return None
    if kind is LocationKind.WORLD:
        found = zip(world.sites, world.places, strict=True)
        return WorldLocations({site.address: place for site, place in found if place is not None})
    named = zip(world.sites, world.countries, strict=True)
    return WorldLocations({site.address: middles[land] for site, land in named if land in middles})
