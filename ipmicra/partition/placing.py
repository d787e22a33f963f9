"""Places for sites whose location is unknown: near those that share a subnet with them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ipmicra.partition.centres import centres
from ipmicra.partition.sites import SiteTable


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacingTally:
    """How sites came by their locations."""

    known: int
    by_subnet: int
    """At the centre of the sites of the narrowest subnet that has any."""
    by_country: int
    """At the centre of the country's sites."""
    by_all: int
    """At the centre of all sites."""
    nowhere: int
    """No site has a location at all."""

    @property
    def missing(self) -> int:
        """Sites that came without a location."""
        return self.by_subnet + self.by_country + self.by_all + self.nowhere


def place_by_subnet(sites: SiteTable) -> tuple[SiteTable, PlacingTally]:
    """Put sites without a location where their neighbours are; none is left out."""
    known = sites.has_location
    latitude = np.where(known, sites.latitude, np.nan)
    longitude = np.where(known, sites.longitude, np.nan)
    steps: dict[str, int] = {"by_subnet": 0, "by_country": 0, "by_all": 0}
    keys = [("by_subnet", level) for level in sites.subnets]
    keys.append(("by_country", np.where(sites.country > 0, sites.country, -1)))
    keys.append(("by_all", np.zeros(len(sites), np.int64)))
    for step, key in keys:
        steps[step] += _fill(key, (latitude, longitude), (sites, known))
    tally = PlacingTally(known=int(known.sum()), nowhere=int(np.isnan(latitude).sum()), **steps)
    return sites.placed_at(latitude, longitude), tally


def _fill(
    key: NDArray[np.int64],
    places: tuple[NDArray[np.float64], NDArray[np.float64]],
    located: tuple[SiteTable, NDArray[np.bool_]],
) -> int:
    """Fill gaps from the centres of groups, by sites that came with a location; count what was filled."""
    sites, known = located
    latitude, longitude = places
    gaps = np.flatnonzero(np.isnan(latitude) & (key >= 0))
    givers = np.flatnonzero(known & (key >= 0))
    if not len(gaps) or not len(givers):
        return 0
    groups, of_giver = np.unique(key[givers], return_inverse=True)
    centre = centres(
        of_giver.astype(np.int64),
        len(groups),
        (sites.latitude[givers], sites.longitude[givers]),
        np.maximum(sites.pages[givers], 1.0),
    )
    at = np.minimum(np.searchsorted(groups, key[gaps]), len(groups) - 1)
    is_found = (groups[at] == key[gaps]) & np.isfinite(centre[0][at])
    latitude[gaps[is_found]] = centre[0][at[is_found]]
    longitude[gaps[is_found]] = centre[1][at[is_found]]
    return int(is_found.sum())
