"""What a token of a host name can mean, whatever stands around it."""

from __future__ import annotations

import re
from dataclasses import replace

from ipmicra.locate import vocabulary as words
from ipmicra.locate.config import NameConfig
from ipmicra.locate.gazetteer import Airport, Gazetteer, Place
from ipmicra.locate.places import location_of
from ipmicra.locate.readings import Meaning, Reading
from ipmicra.locate.spelling import folded, sounded
from ipmicra.model.geo import km_between
from ipmicra.model.location import Heuristic

_BY_RIVER = re.compile(r" (?:am|an|im|upon|sur) ")
"""What follows is left out of names: Frankfurt am Main."""
CODE_LENGTH = 3
LOCODE_LENGTH = 5
CLLI_LENGTH = 6
_MOST_CITIES = 24
"""Cities of one name that are weighed against each other."""
_MOST_KEPT = 1 << 17
"""Tokens whose meanings are remembered."""


class TokenReader:
    """Finds the places that tokens may stand for, by look-ups in tables made once."""

    def __init__(self, gazetteer: Gazetteer, config: NameConfig) -> None:
        """Make the tables of prefixes and abbreviations."""
        self._gazetteer = gazetteer
        self._config = config
        self._known: dict[str, tuple[Meaning, ...]] = {}
        self._prefixes: dict[str, list[Place]] = {}
        self._truncated: dict[str, Place] = {}
        self._last_words: dict[str, list[Place]] = {}
        self._cyrillic: dict[str, Place] = {}
        self._by_region: dict[tuple[str, str, str], list[int]] = {}
        self._beginnings: dict[tuple[str, str], list[tuple[str, int]]] = {}
        self._make_tables()
        self._abbreviations = {
            short: place
            for short, text in words.ABBREVIATIONS.items()
            if (place := self._named(*text.split()))
        }
        self._listed_cities = set(map(_key, self._abbreviations.values()))
        hubs = [airport.place for code in words.HUBS if (airport := gazetteer.airport(code))]
        self._hub_cities = set(map(_key, hubs))

    def meanings(self, token: str) -> tuple[Meaning, ...]:
        """Return what a token may stand for; letters only."""
        known = self._known.get(token)
        if known is None:
            if len(self._known) >= _MOST_KEPT:
                self._known.clear()
            known = self._known[token] = tuple(self._read(token))
        return known

    def is_word(self, token: str) -> bool:
        """Return whether a token is an ordinary word."""
        return self._gazetteer.is_word(token)

    def cities(self, token: str) -> list[Meaning]:
        """Return the cities that have this very name."""
        return self._city(token) if self._gazetteer.has_city(token) else []

    def is_city(self, token: str) -> bool:
        """Return whether a city that is large enough to be looked for has this very name."""
        if not self._gazetteer.has_city(token):
            return sounded(token) in self._cyrillic
        return self._gazetteer.cities_named(token)[0].population >= self._config.fewest_for_name

    def _read(self, token: str) -> list[Meaning]:
        length = len(token)
        if length < CODE_LENGTH:
            return []
        if length == CODE_LENGTH:
            return self._three_letters(token)
        found = [*self.cities(token), *self._abbreviation(token)]
        if token in self._abbreviations:
            # `bali` is rather the island with Denpasar than one of the towns of that name
            return [replace(one, needs_agreement=one.reading is not Reading.ABBREVIATION) for one in found]
        if self._gazetteer.is_word(token):
            return found
        if length == LOCODE_LENGTH:
            found += self._locode(token)
        if length in {CLLI_LENGTH, CLLI_LENGTH + 2}:
            found += self._clli(token[:CLLI_LENGTH])
        if length <= CLLI_LENGTH and token not in self._last_words:
            found += self._prefix(token)
        if length > CLLI_LENGTH and (place := self._abbreviations.get(token[:CLLI_LENGTH])):
            found.append(self._meaning(Reading.ABBREVIATION, place, self._config.long_abbreviation))
        if not self._is_name(token):
            found += self._part_of_name(token)
        return found

    def _meaning(
        self,
        reading: Reading,
        place: Place,
        points: float,
        *,
        needs_agreement: bool = False,
        is_unique: bool = False,
    ) -> Meaning:
        config = self._config
        is_airport = reading in {Reading.HUB, Reading.CODE}
        heuristic = Heuristic.AIRPORT if is_airport else Heuristic.CITY
        radius = config.airport_radius_km if is_airport else config.city_radius_km
        location = location_of(place, radius)
        return Meaning(
            heuristic, reading, place, location, points, needs_agreement=needs_agreement, is_unique=is_unique
        )

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

    def _three_letters(self, token: str) -> list[Meaning]:
        """Read a code; the airport of a small place counts less than a large city that the letters fit."""
        codes, shorts, firsts = self._code(token), self._abbreviation(token), self._prefix(token)
        if not codes:
            return [*shorts, *firsts]
        code = codes[0]
        if code.reading is Reading.HUB or any(self._is_same_place(code, short) for short in shorts):
            return [code, *shorts, *firsts]
        # `ade` is rather Adelaide than Aden, `jhb` rather Johannesburg than Senai
        people = 0 if self._has_hub(code.place) else code.place.population
        rival = max((self._people(short.place) for short in shorts), default=0)
        others = [first.place.population for first in firsts if not self._is_same_place(code, first)]
        if people < max([rival, *others], default=0):
            code = replace(code, needs_agreement=True)
        if people > rival * self._config.rival_share:
            shorts = [replace(short, needs_agreement=True) for short in shorts]
        return [code, *shorts, *firsts]

    def _has_hub(self, place: Place) -> bool:
        """Return whether operators have a code for a city, so that its other airports' codes are rare."""
        return _key(place) in self._hub_cities

    def _people(self, place: Place) -> int:
        """Return how large a city is to operators: where they have abbreviations for it, networks meet."""
        is_listed = _key(place) in self._listed_cities
        return max(place.population, words.LISTED_PEOPLE) if is_listed else place.population

    def _is_same_place(self, one: Meaning, other: Meaning) -> bool:
        return km_between(one.place, other.place) <= self._config.same_place_km

    def _code(self, token: str) -> list[Meaning]:
        airport = self._gazetteer.airport(token)
        if airport is None or (airport.metro < self._config.fewest_for_airport and token not in words.HUBS):
            return []
        points, needs_agreement = self._airport_points(token, airport)
        reading = Reading.HUB if token in words.HUBS else Reading.CODE
        return [self._meaning(reading, airport.place, points, needs_agreement=needs_agreement)]

    def _airport_points(self, token: str, airport: Airport) -> tuple[float, bool]:
        """Weigh a code by how likely operators mean it."""
        config = self._config
        if token in words.HUBS:
            points = config.hub
        elif airport.is_international and airport.metro >= config.large_metro:
            points = config.large_airport
        else:
            points = config.airport
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
        return [self._meaning(Reading.ABBREVIATION, place, points)]

    def _prefix(self, token: str) -> list[Meaning]:
        """Read the first letters of large cities, one per country."""
        points = self._config.prefix
        if token in words.NEVER_CODES or self._gazetteer.is_word(token):
            points += self._config.word
        letters = token[:4] if len(token) == CLLI_LENGTH else token
        return [
            self._meaning(Reading.FIRST_LETTERS, place, points, needs_agreement=True)
            for place in self._prefixes.get(letters, [])
            if not self._has_prefix_rival(token, letters, place)
        ]

    def _has_prefix_rival(self, token: str, letters: str, place: Place) -> bool:
        """Return whether another city of the country begins alike and is not much smaller.

        `mag` is Magnitogorsk, or Magadan, which has a fifth of its people.
        """
        own = folded(place.name)
        alike = token if own.startswith(token) else letters
        fewest = self._config.prefix_rival_share * place.population
        return any(
            name.startswith(alike) and people >= fewest and name != own
            for name, people in self._beginnings.get((place.country, own[:CODE_LENGTH]), ())
        )

    # --- names and longer codes

    def _city(self, token: str) -> list[Meaning]:
        """Weigh the cities of a name that is in the table."""
        config = self._config
        penalty = 0.0
        if token in words.HARD_CITY_WORDS or self._gazetteer.is_word(token):
            penalty = config.word
        elif token in words.SOFT_CITY_WORDS:
            penalty = config.soft_city
        named = self._gazetteer.cities_named(token)[:_MOST_CITIES]
        cities = [place for place in named if self._people(place) >= config.fewest_for_name]
        cities.sort(key=self._people, reverse=True)
        share = self._rival_share(cities[0], cities[1]) if len(cities) > 1 else 0.0
        # Small towns count by themselves if nothing else in the table has their name.
        is_unique = len(named) == 1 and len(token) >= config.shortest_unique and not penalty
        own = max((place.population for place in cities if not place.is_other_name), default=0)
        found = [
            self._meaning(
                Reading.OTHER_NAME if place.is_other_name else Reading.NAME,
                place,
                self._city_points(place) + penalty,
                needs_agreement=self._people(place) < config.fewest_for_airport
                or (place.is_other_name and own > config.namesake_share * place.population),
                is_unique=is_unique,
            )
            for place in cities
        ]
        if share < config.rival_share:
            return found
        return [replace(one, is_ambiguous=True, has_twin=share >= config.twin_share) for one in found]

    def _city_points(self, place: Place) -> float:
        known = self._people(place)
        points = next(points for people, points in self._config.city_by_people if known >= people)
        return points + (self._config.other_name if place.is_other_name else 0.0)

    def _part_of_name(self, token: str) -> list[Meaning]:
        """Read the first letters of a very large city; in the country, a last word or a transliteration."""
        if len(token) >= CLLI_LENGTH and (place := self._truncated.get(token)):
            return [self._meaning(Reading.FIRST_LETTERS, place, self._config.truncated)]
        found = [
            self._meaning(Reading.LAST_WORD, place, self._config.prefix, needs_agreement=True)
            for place in self._last_words.get(token, [])
        ]
        if len(token) >= CLLI_LENGTH and (place := self._cyrillic.get(sounded(token))):
            points = self._city_points(place) + self._config.other_name
            found.append(self._meaning(Reading.OTHER_NAME, place, points, needs_agreement=True))
        return found

    def _locode(self, token: str) -> list[Meaning]:
        """Read country and place: `deber`, `usnyc`."""
        country = words.ALIASES.get(token[:2], token[:2].upper())
        code = token[2:]
        airport, short = self._gazetteer.airport(code), self._abbreviations.get(code)
        config = self._config
        if airport and airport.place.country == country:
            is_large = code in words.HUBS or airport.metro >= config.large_metro
            points = config.locode if is_large else config.locode - 1
            return [self._meaning(Reading.LOCODE, airport.place, points)]
        if short and short.country == country:
            return [self._meaning(Reading.LOCODE, short, config.locode)]
        return self._code_and_state(token[:CODE_LENGTH], token[CODE_LENGTH:].upper())

    def _code_and_state(self, code: str, state: str) -> list[Meaning]:
        """Read a place and its state: `dlstx`, `atlga`."""
        airport = self._gazetteer.airport(code)
        places = [self._abbreviations.get(code), airport.place if airport else None]
        return [
            self._meaning(Reading.CLLI, place, self._config.clli)
            for place in places
            if place and place.country in {"US", "CA"} and place.region == state
        ]

    def _clli(self, token: str) -> list[Meaning]:
        """Read four letters of a city and two of its state or country: `dllstx`, `amstnl`."""
        letters, area = token[:4], token[4:]
        country = words.CLLI_COUNTRIES.get(area, area.upper())
        found = [
            self._meaning(Reading.CLLI, place, self._config.clli)
            for state in ("US", "CA")
            if (state, area.upper()) in self._gazetteer.regions
            and (place := self._abbreviated(letters, state, area.upper()))
        ]
        if country in self._gazetteer.countries and (place := self._abbreviated(letters, country, "")):
            # `franco` is hardly Floridablanca in Colombia
            is_chance = not folded(place.name).startswith(letters[:CODE_LENGTH])
            found.append(self._meaning(Reading.CLLI, place, self._config.clli, needs_agreement=is_chance))
        return found

    def _abbreviated(self, letters: str, country: str, region: str) -> Place | None:
        """Find the city whose name has the letters in this order, beginning with the first.

        The largest is meant, but letters that begin words or are the first three count for people as well:
        `snlo` is San Luis Obispo, not San Leandro; `amst` is Amsterdam, not Almere Stad.
        """
        best, found = 0.0, -1
        for row in self._by_region.get((country, region, letters[0]), []):
            name = _plain(self._gazetteer.outline(row)[0])
            rest = iter(name)
            if all(letter in rest for letter in letters):
                reasons = _initials(letters, name) + name.startswith(letters[:CODE_LENGTH])
                people = self._people(self._gazetteer.city(row)) * self._config.clli_reason**reasons
                best, found = max((best, found), (people, row))
        return self._gazetteer.city(found) if found >= 0 else None

    def _rival_share(self, one: Place, other: Place) -> float:
        """Return the people of a smaller city as a share of its namesake's; 0 if they are one place."""
        is_near = km_between(one, other) <= self._config.same_place_km
        return 0.0 if is_near else self._people(other) / self._people(one)

    # --- tables

    def _named(self, key: str, country: str) -> Place | None:
        return next((place for place in self._gazetteer.cities_named(key) if place.country == country), None)

    def _make_tables(self) -> None:
        """Index cities of some size by region and first letter, and large ones by their first letters."""
        config, gazetteer = self._config, self._gazetteer
        large = len(gazetteer.largest(config.fewest_for_airport))
        for row in gazetteer.largest(config.fewest_for_clli):
            name, country, region = gazetteer.outline(row)
            key = folded(name)
            letter = key[:1]
            beginning = self._beginnings.setdefault((country, key[:CODE_LENGTH]), [])
            beginning.append((key, gazetteer.population(row)))
            if region:
                self._by_region.setdefault((country, region, letter), []).append(row)
            if row < large:
                self._by_region.setdefault((country, "", letter), []).append(row)
        for row in gazetteer.largest(config.fewest_for_prefix):
            self._index(gazetteer.city(row))
        for row in gazetteer.largest(config.fewest_for_name):
            name, country, _region = gazetteer.outline(row)
            if country in words.CYRILLIC_COUNTRIES:
                self._cyrillic.setdefault(sounded(folded(name)), gazetteer.city(row))

    def _index(self, place: Place) -> None:
        """Index a city by its first letters."""
        name = folded(place.name)
        for length in range(CODE_LENGTH, min(CLLI_LENGTH, len(name))):
            _add_one_per_country(self._prefixes.setdefault(name[:length], []), place)
        *firsts, last = re.split("[ -]", place.name)
        if firsts and len(last) >= self._config.shortest_unique:
            _add_one_per_country(self._last_words.setdefault(folded(last), []), place)
        short = _BY_RIVER.split(place.name)[0]
        if place.population >= self._config.fewest_for_truncated and short.isalpha():
            for length in range(CLLI_LENGTH, len(folded(short))):
                self._truncated.setdefault(name[:length], place)


def _key(place: Place) -> tuple[str, float, float]:
    return place.name, place.latitude, place.longitude


def _add_one_per_country(places: list[Place], place: Place) -> None:
    """Add a place unless a larger one of its country is there: the largest come first."""
    if all(other.country != place.country for other in places):
        places.append(place)


def _plain(name: str) -> str:
    """Spell a name in small letters; spaces may stay where only the order of letters counts."""
    return name.lower() if name.isascii() else folded(name)


def _initials(letters: str, name: str) -> int:
    """Count the words of a name behind the first whose initials are among the letters, in order."""
    at, count = 1, 0
    for initial in [word[0] for word in re.split("[^a-z]+", name)[1:] if word]:
        at = letters.find(initial, at) + 1
        if not at:
            break
        count += 1
    return count
