"""What light proves: samples that cannot be true, and addresses that are in many places."""

from __future__ import annotations

from dataclasses import dataclass
from math import asin, cos, radians, sin, sqrt

from ipmicra.delegate.config import PhysicsConfig
from ipmicra.delegate.geometry import EARTH_KM
from ipmicra.delegate.roster import Roster
from ipmicra.model.location import Location


@dataclass(frozen=True, slots=True)
class Physics:
    """Checks by the speed of light. Places that are unknown prove nothing."""

    config: PhysicsConfig
    roster: Roster

    def least_ms(self, crawler: int, location: Location | None) -> float:
        """Give the shortest round trip that can be true, 0 if the place is not known well enough."""
        config, own = self.config, self.roster.crawlers[crawler].location
        if location is None or own is None or location.radius_km > config.sure_radius_km:
            return 0.0
        doubt = config.doubt_radii * (location.radius_km + own.radius_km)
        return max(0.0, apart_km(own, location) - doubt) / config.vacuum_km_per_ms

    @staticmethod
    def are_apart(place: Location | None, other: Location | None, allowed_km: float) -> bool:
        """Tell whether two places are farther from each other than their radii and some distance explain."""
        if place is other or place is None or other is None:
            return False
        return apart_km(place, other) > allowed_km + place.radius_km + other.radius_km

    def is_in_many_places(self, samples: dict[int, float]) -> bool:
        """Tell whether two samples put an address into two circles that do not meet."""
        placed = [(crawler, ms) for crawler, ms in samples.items() if self.roster.crawlers[crawler].location]
        for i, (crawler, ms) in enumerate(placed):
            for other, other_ms in placed[:i]:
                here, there = self.roster.crawlers[crawler].location, self.roster.crawlers[other].location
                if here is None or there is None:
                    continue
                reach = (ms + other_ms) * self.config.vacuum_km_per_ms
                if apart_km(here, there) - here.radius_km - there.radius_km > reach:
                    return True
        return False


def apart_km(place: Location, other: Location) -> float:
    """Give the great-circle distance between two places."""
    south, north = radians(place.latitude), radians(other.latitude)
    east = radians(other.longitude - place.longitude)
    half = sin((north - south) / 2) ** 2 + cos(south) * cos(north) * sin(east / 2) ** 2
    return 2 * EARTH_KM * asin(min(1.0, sqrt(half)))
