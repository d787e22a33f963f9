"""Geographic locations, and the heuristics that vote for them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Heuristic(StrEnum):
    """A way to locate an address, in the order in which the chain uses them."""

    LOC = "loc"
    """DNS LOC record of the host or of its reverse name."""
    AIRPORT = "airport"
    """Airport code in the host name."""
    CITY = "city"
    """City name or code in the host name."""
    INSTITUTION = "institution"
    """Domain of an institution with a known location."""
    KNOWN = "known"
    """Tables of known addresses, prefixes and host names; geofeeds; registered positions."""
    REGISTRY = "registry"
    """Postal address or country of the holder."""
    LATENCY = "latency"
    """The area that the round trips of three or more crawlers allow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """A place with the radius within which the true place is expected."""

    latitude: float
    """Degrees north, -90 to 90."""
    longitude: float
    """Degrees east, -180 to 180."""
    radius_km: float
    """The true place lies within this distance in four cases out of five."""
    city: str | None = None
    country: str | None = None
    """Two letters, ISO 3166."""
    source: str | None = field(default=None, compare=False)
    """Where the place is from, a `Heuristic` or a file: `predict` learns how often each source is wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """One heuristic's vote on a location."""

    heuristic: Heuristic
    location: Location
    evidence: str
    """Basis of the vote, for people: `fra` in `ae3.fra-core2.example.net`."""
    weight: float = 1.0
    """Weight of the vote, above 0 and at most 1: how often such votes were right, where that was measured."""
