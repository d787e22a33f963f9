"""A world: crawlers, sites and the round trips between them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from ipmicra.delegate.subnets import Address
from ipmicra.model.crawler import Crawler
from ipmicra.model.location import Location
from ipmicra.model.site import Site

Floats = NDArray[np.float64]
POINT_RADIUS_KM = 5.0
"""How well a world's own coordinates are known."""


class LocationKind(StrEnum):
    """What a replay may know of the sites' places."""

    WORLD = "world"
    """The world's own coordinates."""
    COUNTRY = "country"
    """The middle of each site's country."""
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

    def __repr__(self) -> str:
        """Say how large it is."""
        return f"<World {self.name}: {len(self.crawlers)} crawlers, {len(self.sites)} sites>"

    def nearest_ms(self) -> Floats:
        """Give the shortest round trip of each site, NaN if nobody reaches it."""
        filled = np.where(np.isnan(self.rtt_ms), np.inf, self.rtt_ms)
        least: Floats = filled.min(axis=0, initial=np.inf)
        return np.where(np.isinf(least), np.nan, least)


class WorldLocations:
    """Places of a world's sites, by address: a `LocationSource`."""

    def __init__(self, places: dict[Address, Location]) -> None:
        """Take places by address."""
        self._places = places

    def location_of(self, site: Site, key: int) -> Location | None:  # noqa: ARG002 - the interface
        """Give a site's place."""
        return self._places.get(site.address)


def locations_of(world: World, kind: LocationKind, middles: dict[str, Location]) -> WorldLocations | None:
    """Give what a replay may know; `middles` are the countries' places."""
    if kind is LocationKind.NONE:
        return None
    if kind is LocationKind.WORLD:
        found = zip(world.sites, world.places, strict=True)
        return WorldLocations({site.address: place for site, place in found if place is not None})
    named = zip(world.sites, world.countries, strict=True)
    return WorldLocations({site.address: middles[land] for site, land in named if land in middles})
