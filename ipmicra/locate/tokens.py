"""What a token of a host name can mean, whatever stands around it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ipmicra.locate import vocabulary as words
from ipmicra.locate.config import NameConfig
from ipmicra.locate.gazetteer import Airport, Gazetteer, Place
from ipmicra.locate.places import location_of
from ipmicra.locate.spelling import folded
from ipmicra.model.geo import km_between
from ipmicra.model.location import Heuristic, Location

_BY_RIVER = re.compile(r" (?:am|an|im|upon|sur) ")
"""What follows is left out of names: Frankfurt am Main."""
CODE_LENGTH = 3
LOCODE_LENGTH = 5
CLLI_LENGTH = 6
_MOST_CITIES = 24
"""Cities of one name that are weighed against each other."""
_MOST_KEPT = 1 << 17
"""Tokens whose meanings are remembered."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """A place that a token may stand for."""

    heuristic: Heuristic
    place: Place
    location: Location
    points: float
    needs_agreement: bool = False
    """Counts only where the name indicates the country as well."""
    is_ambiguous: bool = False
    """There is another city of the name, far away and not much smaller."""


class TokenReader:
    """Finds the places that tokens may stand for, by look-ups in tables made once."""

    def __init__(self, gazetteer: Gazetteer, config: NameConfig) -> None:
        """Make the tables of prefixes and abbreviations."""
        self._gazetteer = gazetteer
        self._config = config
        self._known: dict[str, tuple[Meaning, ...]] = {}
        self._prefixes: dict[str, list[Place]] = {}
        self._truncated: dict[str, Place] = {}
        self._by_region: dict[tuple[str, str, str], list[int]] = {}
        self._make_tables()
        self._abbreviations = {
            short: place
            for short, text in words.ABBREVIATIONS.items()
            if (place := self._named(*text.split()))
        }

    def meanings(self, token: str) -> tuple[Meaning, ...]:
        """Return what a token may stand for; letters only."""
        known = self._known.get(token)
        if known is None:
            if len(self._known) >= _MOST_KEPT:
                self._known.clear()
            known = self._known[token] = tuple(self._read(token))
        return known

    def is_large_city(self, token: str) -> bool:
        """Return whether a city of some size has this very name."""
        cities = self._gazetteer.cities_named(token) if self._gazetteer.has_city(token) else []
        return bool(cities) and cities[0].population >= self._config.fewest_for_airport

    def _read(self, token: str) -> list[Meaning]:
        length = len(token)
        if length < CODE_LENGTH:
            return []
        if length == CODE_LENGTH:
            return [*self._code(token), *self._abbreviation(token), *self._prefix(token)]
        found = [*self._city(token), *self._abbreviation(token)]
        if self._gazetteer.is_word(token):
            return found
        if length == LOCODE_LENGTH:
            found += self._locode(token)
        if length in {CLLI_LENGTH, CLLI_LENGTH + 2}:
            found += self._clli(token[:CLLI_LENGTH])
        if length <= CLLI_LENGTH:
            found += self._prefix(token)
        if length > CLLI_LENGTH and (place := self._abbreviations.get(token[:CLLI_LENGTH])):
            found.append(self._meaning(Heuristic.CITY, place, self._config.long_abbreviation))
        if length >= CLLI_LENGTH and not self._is_name(token) and (place := self._truncated.get(token)):
            found.append(self._meaning(Heuristic.CITY, place, self._config.truncated))
        return found

    def _meaning(
        self,
        heuristic: Heuristic,
        place: Place,
        points: float,
        *,
        needs_agreement: bool = False,
        is_ambiguous: bool = False,
    ) -> Meaning:
        config = self._config
        radius = config.airport_radius_km if heuristic is Heuristic.AIRPORT else config.city_radius_km
        return Meaning(heuristic, place, location_of(place, radius), points, needs_agreement, is_ambiguous)

    def _is_name(self, token: str) -> bool:
        """Return whether a token means something whole, so that it is no city's first letters."""
        gazetteer = self._gazetteer
        return (
            gazetteer.has_city(token)
            or token in gazetteer.region_names
            or token in gazetteer.country_names
            or token in words.SOFT_CITY_WORDS
        )

    # --- codes of three letters

    def _code(self, token: str) -> list[Meaning]:
        airport = self._gazetteer.airport(token)
        if airport is None:
            return []
        points, needs_agreement = self._airport_points(token, airport)
        return [self._meaning(Heuristic.AIRPORT, airport.place, points, needs_agreement=needs_agreement)]

    def _airport_points(self, token: str, airport: Airport) -> tuple[float, bool]:
        """Weigh a code by how likely operators mean it."""
        config = self._config
        if token in words.HUBS:
            points = config.hub
        elif airport.is_international and airport.metro >= config.large_metro:
            points = config.large_airport
        else:
            points = config.airport if airport.metro >= config.fewest_for_airport else 0.0
        needs_agreement = points < config.large_airport
        if token in words.NEVER_CODES:
            return points + config.word, True
        if token in words.SOFT_CODES or (airport.is_word and points == config.hub):
            return points + config.soft, needs_agreement
        return (points + config.word, True) if airport.is_word else (points, needs_agreement)

    def _abbreviation(self, token: str) -> list[Meaning]:
        place = self._abbreviations.get(token)
        if place is None:
            return []
        config = self._config
        points = config.long_abbreviation if len(token) >= LOCODE_LENGTH else config.abbreviation
        if self._gazetteer.is_word(token) or token in words.NEVER_CODES:
            points += config.word
        elif token in words.SOFT_CODES:
            points += config.soft
        return [self._meaning(Heuristic.CITY, place, points)]

    def _prefix(self, token: str) -> list[Meaning]:
        """Read the first letters of large cities, one per country."""
        places = self._prefixes.get(token[:4] if len(token) == CLLI_LENGTH else token, [])
        points = self._config.prefix
        if token in words.NEVER_CODES or self._gazetteer.is_word(token):
            points += self._config.word
        return [self._meaning(Heuristic.CITY, place, points, needs_agreement=True) for place in places]

    # --- names and longer codes

    def _city(self, token: str) -> list[Meaning]:
        config = self._config
        penalty = 0.0
        if token in words.HARD_CITY_WORDS or self._gazetteer.is_word(token):
            penalty = config.word
        elif token in words.SOFT_CITY_WORDS:
            penalty = config.soft_city
        if not self._gazetteer.has_city(token):
            return []
        named = self._gazetteer.cities_named(token)[:_MOST_CITIES]
        cities = [place for place in named if place.population >= config.fewest_for_name]
        is_ambiguous = len(cities) > 1 and _are_rivals(cities[0], cities[1], config)
        return [
            self._meaning(
                Heuristic.CITY,
                place,
                self._city_points(place) + penalty,
                needs_agreement=place.population < config.fewest_for_airport,
                is_ambiguous=is_ambiguous,
            )
            for place in cities
        ]

    def _city_points(self, place: Place) -> float:
        points = next(points for people, points in self._config.city_by_people if place.population >= people)
        return points + (self._config.other_name if place.is_other_name else 0.0)

    def _locode(self, token: str) -> list[Meaning]:
        """Read country and place: `deber`, `usnyc`."""
        country = words.ALIASES.get(token[:2], token[:2].upper())
        code = token[2:]
        airport, short = self._gazetteer.airport(code), self._abbreviations.get(code)
        config = self._config
        if airport and airport.place.country == country:
            is_large = code in words.HUBS or airport.metro >= config.large_metro
            points = config.locode if is_large else config.locode - 1
            return [self._meaning(Heuristic.CITY, airport.place, points)]
        if short and short.country == country:
            return [self._meaning(Heuristic.CITY, short, config.locode)]
        return []

    def _clli(self, token: str) -> list[Meaning]:
        """Read four letters of a city and two of its state or country: `dllstx`, `amstnl`."""
        letters, area = token[:4], token[4:]
        country = words.CLLI_COUNTRIES.get(area, area.upper())
        found = [
            self._meaning(Heuristic.CITY, place, self._config.clli)
            for state in ("US", "CA")
            if (state, area.upper()) in self._gazetteer.regions
            and (place := self._abbreviated(letters, state, area.upper()))
        ]
        if country in self._gazetteer.countries and (place := self._abbreviated(letters, country, "")):
            found.append(self._meaning(Heuristic.CITY, place, self._config.clli))
        return found

    def _abbreviated(self, letters: str, country: str, region: str) -> Place | None:
        """Find the largest city whose name has the letters in this order, beginning with the first."""
        for row in self._by_region.get((country, region, letters[0]), []):
            rest = iter(_plain(self._gazetteer.outline(row)[0]))
            if all(letter in rest for letter in letters):
                return self._gazetteer.city(row)
        return None

    # --- tables

    def _named(self, key: str, country: str) -> Place | None:
        return next((place for place in self._gazetteer.cities_named(key) if place.country == country), None)

    def _make_tables(self) -> None:
        """Index cities of some size by region and first letter, and large ones by their first letters."""
        config, gazetteer = self._config, self._gazetteer
        large = len(gazetteer.largest(config.fewest_for_airport))
        for row in gazetteer.largest(config.fewest_for_clli):
            name, country, region = gazetteer.outline(row)
            letter = _plain(name[0])
            if region:
                self._by_region.setdefault((country, region, letter), []).append(row)
            if row < large:
                self._by_region.setdefault((country, "", letter), []).append(row)
        for row in gazetteer.largest(config.fewest_for_prefix):
            self._index(gazetteer.city(row))

    def _index(self, place: Place) -> None:
        """Index a city by its first letters."""
        name = folded(place.name)
        for length in range(CODE_LENGTH, min(CLLI_LENGTH, len(name))):
            others = self._prefixes.setdefault(name[:length], [])
            if all(other.country != place.country for other in others):
                others.append(place)
        short = _BY_RIVER.split(place.name)[0]
        if place.population >= self._config.fewest_for_truncated and short.isalpha():
            for length in range(CLLI_LENGTH, len(folded(short))):
                self._truncated.setdefault(name[:length], place)


def _plain(name: str) -> str:
    """Spell a name in small letters; spaces may stay where only the order of letters counts."""
    return name.lower() if name.isascii() else folded(name)


def _are_rivals(one: Place, other: Place, config: NameConfig) -> bool:
    """Return whether two cities of one name can be confused; the first is the larger."""
    if other.population < config.rival_share * one.population:
        return False
    return km_between(one, other) > config.same_place_km
