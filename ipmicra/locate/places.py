"""Coordinates and names of places as users and registries write them."""

from __future__ import annotations

import math

from ipmicra.locate.gazetteer import Area, Gazetteer, Place
from ipmicra.locate.spelling import folded
from ipmicra.model.location import Location

_LARGEST_LATITUDE, _LARGEST_LONGITUDE = 90.0, 180.0
CITY_KM = 30.0
"""Radius of a city that is named as such."""


def read_coordinates(latitude: str, longitude: str) -> tuple[float, float] | None:
    """Read degrees; None for what is no place on Earth."""
    try:
        north, east = float(latitude), float(longitude)
    except ValueError:
        return None
    is_place = math.isfinite(north) and math.isfinite(east)
    return (
        (north, east)
        if is_place and abs(north) <= _LARGEST_LATITUDE and abs(east) <= _LARGEST_LONGITUDE
        else None
    )


def find_place(gazetteer: Gazetteer, country: str, region: str, city: str) -> Location | None:
    """Find the most specific place that is known: city, then region, then country; texts may be empty.

    The region may be that of ISO 3166-2 (`US-CA`) or its letters alone.
    """
    code = country.strip().upper()
    letters = region.strip().upper().split("-")[-1]
    if city.strip() and (place := city_in(gazetteer, folded(city), code, letters)):
        return location_of(place)
    area = gazetteer.regions.get((code, letters)) or gazetteer.countries.get(code)
    return location_of_area(area) if area else None


def city_in(gazetteer: Gazetteer, key: str, country: str, region: str = "") -> Place | None:
    """Find the largest city of a name in a country, in the region if one there has the name."""
    cities = [place for place in gazetteer.cities_named(key) if not country or place.country == country]
    return next(
        (place for place in cities if region and place.region == region), cities[0] if cities else None
    )


def location_of(place: Place, radius_km: float = CITY_KM) -> Location:
    """Return a city as a location."""
    return Location(
        latitude=place.latitude,
        longitude=place.longitude,
        radius_km=radius_km,
        city=place.name,
        country=place.country,
    )


def location_of_area(area: Area) -> Location:
    """Return a country or region as a location: where most people live, and how far around."""
    return Location(
        latitude=round(area.latitude, 4),
        longitude=round(area.longitude, 4),
        radius_km=round(area.radius_km, 1),
        country=area.country,
    )
