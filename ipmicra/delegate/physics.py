"""What the speed of light proves: samples that cannot be true, and addresses that are in many places.

How it works
------------
Both checks compare a round trip with the distance that light can cover in it through a vacuum, because only
that bound is a proof (see `ipmicra.model.geo`). They look at the two ends of the same inequality:

- *Too short for the distance.* A crawler reports a round trip to a site whose place is known well. If light
  needs longer, the sample is implausible, and it is the crawler that is in doubt. Hence the place must be
  sure (`sure_radius_km`), and several radii are taken off the distance before anybody is blamed.
- *Too short from two sides.* Two crawlers report round trips that put the address into two circles which do
  not meet. Both may well be honest: the address is announced from many places (anycast). No place of the
  site is needed, only those of the crawlers.

A place that is unknown proves nothing: every check then says that all is well.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from ipmicra.delegate.config import PhysicsConfig
from ipmicra.delegate.roster import Roster
from ipmicra.model.geo import VACUUM_KM_PER_MS, km_between
from ipmicra.model.location import Location


@dataclass(frozen=True, slots=True)
class Physics:
    """Checks by the speed of light, for the crawlers of a roster."""

    config: PhysicsConfig
    roster: Roster

    def least_ms(self, crawler: int, location: Location | None) -> float:
        """Return the shortest round trip that can be true, 0 if a place is not known well enough."""
        config, own = self.config, self.roster.crawlers[crawler].location
        if location is None or own is None or location.radius_km > config.sure_radius_km:
            return 0.0
        doubt_km = config.doubt_radii * (location.radius_km + own.radius_km)
        return max(0.0, km_between(own, location) - doubt_km) / VACUUM_KM_PER_MS

    def is_in_many_places(self, samples: dict[int, float]) -> bool:
        """Return whether two samples put an address into two circles that do not meet."""
        circles = [
            (place, ms * VACUUM_KM_PER_MS)
            for crawler, ms in samples.items()
            if (place := self.roster.crawlers[crawler].location) is not None
        ]
        return any(
            are_apart(here, there, reach_km + other_reach_km)
            for (here, reach_km), (there, other_reach_km) in combinations(circles, 2)
        )


def are_apart(place: Location | None, other: Location | None, allowed_km: float) -> bool:
    """Return whether two places are farther from each other than their radii and a distance explain."""
    if place is other or place is None or other is None:
        return False
    return km_between(place, other) > allowed_km + place.radius_km + other.radius_km
