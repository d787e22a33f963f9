"""Where on Earth something is, and who says so."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Heuristic(StrEnum):
    """A way to find out where an address is; the order is the one in which the chain asks."""

    LOC = "loc"
    """DNS LOC record of the host or of its reverse name."""
    AIRPORT = "airport"
    """Airport code in the host name."""
    CITY = "city"
    """City name or code in the host name."""
    INSTITUTION = "institution"
    """Domain of an institution whose place is known."""
    KNOWN = "known"
    """Table of known addresses, prefixes and host names, geofeeds and registered positions."""
    REGISTRY = "registry"
    """Postal address or country of the holder."""
    LATENCY = "latency"
    """Where the round trips of three or more crawlers leave room."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """A place with the distance within which the truth is expected."""

    latitude: float
    """Degrees north, -90 to 90."""
    longitude: float
    """Degrees east, -180 to 180."""
    radius_km: float
    """The true place lies within this distance in four cases of five."""
    city: str | None = None
    country: str | None = None
    """Two letters, ISO 3166."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """One heuristic's vote on a location."""

    heuristic: Heuristic
    location: Location
    evidence: str
    """What the vote rests on, for people: `fra` in `ae3.fra-core2.example.net`."""
    weight: float = 1.0
    """How much the vote counts beside others, above 0 and at most 1."""
