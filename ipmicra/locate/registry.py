"""Places of registrations: their own postal address lines, those of their holders, or their country."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from ipmicra.locate.config import LocateConfig
from ipmicra.locate.gazetteer import Gazetteer, Place
from ipmicra.locate.places import city_in, location_of, location_of_area
from ipmicra.locate.spelling import folded
from ipmicra.model.geo import km_between
from ipmicra.model.location import Heuristic, Hint, Location
from ipmicra.model.subnet import Subnet

_NUMBERED = re.compile(r"\S*\d\S*")
_MOST_WORDS = 4
_LONGEST_PARTS = 12
_SHORTEST_CITY = 3
_REGION_LETTERS = 2
_FEWEST_PEOPLE_OF_A_WORD = 100_000


def read_postal(gazetteer: Gazetteer, address: str, country: str | None) -> Location | None:
    """Find the most specific place that an address names: city, region, country.

    The address is one line, parts separated by commas, the widest usually last. A country in it goes before
    the one given beside it.
    """
    parts = [part.strip() for part in address.split(",") if part.strip()][-_LONGEST_PARTS:]
    named = next((code for part in reversed(parts[-2:]) if (code := _country(gazetteer, part))), None)
    code = named or (country or "").upper()
    if code not in gazetteer.countries:
        return None
    region = _region(gazetteer, parts, code)
    for part in reversed(parts):
        if folded(part) not in gazetteer.country_names and (place := _city(gazetteer, part, code, region)):
            return location_of(place)
    area = gazetteer.regions.get((code, region)) or gazetteer.countries[code]
    return location_of_area(area)


def _country(gazetteer: Gazetteer, part: str) -> str | None:
    letters = part.strip(" .").upper()
    if letters in gazetteer.countries:
        return letters
    return {"UK": "GB", "USA": "US"}.get(letters) or gazetteer.country_names.get(folded(part))


def _region(gazetteer: Gazetteer, parts: list[str], country: str) -> str:
    """Find the letters of a region: `NY`, `NY 10001`, `New South Wales`."""
    for part in reversed(parts):
        plain = _NUMBERED.sub(" ", part).strip()
        named = gazetteer.region_names.get(folded(plain))
        if named and named[0] == country:
            return named[1]
        for word in plain.split()[-2:]:
            if word.isupper() and (country, word) in gazetteer.regions:
                return word
    return ""


def _city(gazetteer: Gazetteer, part: str, country: str, region: str) -> Place | None:
    """Find a city in a part, which may hold a postal code and a region as well: the longest name wins."""
    words = [
        word
        for word in _NUMBERED.sub(" ", part.replace("-", " ")).split()
        if not (word.isupper() and len(word) <= _REGION_LETTERS)
    ]
    for count in range(min(_MOST_WORDS, len(words)), 0, -1):
        for start in range(len(words) - count, -1, -1):
            key = folded("".join(words[start : start + count]))
            if len(key) < _SHORTEST_CITY:
                continue
            place = city_in(gazetteer, key, country, region)
            is_whole = count == len(words)
            is_doubtful = gazetteer.is_word(key) and not is_whole
            if place and not (is_doubtful and place.population < _FEWEST_PEOPLE_OF_A_WORD):
                return place
    return None


def registry_hint(
    lineage: Sequence[Subnet], neighbours: Sequence[str | None], gazetteer: Gazetteer, config: LocateConfig
) -> Hint | None:
    """Return the vote of the narrowest registration that names a place.

    `lineage` is widest first; `neighbours` are the countries of subnets inside and beside the narrowest one.
    Where they disagree with the address, it is a headquarters: the radius grows. Where the subnet's own
    country does, that country counts instead.
    """
    for subnet in reversed(lineage):
        used_in = gazetteer.countries.get(subnet.country or "")
        named = [
            (place, evidence)
            for place, evidence in _addresses(subnet, gazetteer)
            if used_in is None or place.country == used_in.country
        ]
        if named:
            located, evidence = next((one for one in named if one[0].city), named[0])
            return _weighed(located, evidence, neighbours, gazetteer, config)
        if used_in:
            evidence = f"country {used_in.code} of {subnet.label}"
            return _weighed(location_of_area(used_in), evidence, neighbours, gazetteer, config)
    return None


def _addresses(subnet: Subnet, gazetteer: Gazetteer) -> Iterator[tuple[Location, str]]:
    """Yield the places that a subnet's own address and its holder's name, and where they stand."""
    own, holder = subnet.postal_address, subnet.organisation
    if own and (place := read_postal(gazetteer, own, subnet.country)):
        yield place, f"address of {subnet.label}: {own}"
    if holder and holder.address and (place := read_postal(gazetteer, holder.address, holder.country)):
        yield place, f"address of {holder.label}: {holder.address}"


def _weighed(
    location: Location,
    evidence: str,
    neighbours: Sequence[str | None],
    gazetteer: Gazetteer,
    config: LocateConfig,
) -> Hint:
    """Widen a place by the share of neighbours that are elsewhere, and by how far away those are."""
    radius = max(location.radius_km, config.registry_city_km) if location.city else location.radius_km
    countries = [country for country in neighbours if country in gazetteer.countries]
    away = Counter(country for country in countries if country != location.country)
    share = away.total() / len(countries) if countries else 0.0
    if away:
        other = gazetteer.countries[str(away.most_common(1)[0][0])]
        radius += share * (km_between(location, other) + other.radius_km)
        evidence += f"; {away.total()} of {len(countries)} subnets around are elsewhere"
    return Hint(
        heuristic=Heuristic.REGISTRY,
        location=Location(
            latitude=location.latitude,
            longitude=location.longitude,
            radius_km=round(radius, 1),
            city=location.city,
            country=location.country,
        ),
        evidence=evidence,
        weight=max(config.registry_least_weight, 1.0 - share),
    )
