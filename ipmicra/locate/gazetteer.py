"""Tables of places: cities, airports, countries and regions, read from columns that the edge loads.

How it works
------------
The tables are shipped compiled (decision 0010) and are large in comparison with what one command needs of
them, so nothing is unpacked before it is asked for: texts are one block of lines, numbers are arrays, and
each `cached_property` turns one of them into Python lists or a dictionary. A `Place` is made only for the
rows that are wanted.

Cities are numbered by population, the largest first: the largest cities are a range of rows. A name leads
to its cities in two steps. `_keys` numbers the names; `key_start[n]` to `key_start[n + 1]` are its entries,
each with a city and whether the city's own name is another. All keys are in the spelling of `folded`;
callers fold what they look for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ipmicra.errors import InputError
from ipmicra.locate.spelling import folded

Columns = Mapping[str, NDArray[Any]]
_OTHER_COUNTRY_NAMES = {
    "britain": "GB", "czechrepublic": "CZ", "deutschland": "DE", "england": "GB", "greatbritain": "GB",
    "holland": "NL", "iran": "IR", "italia": "IT", "korea": "KR", "macedonia": "MK", "netherlands":
    "NL", "republicofkorea": "KR", "russianfederation": "RU", "scotland": "GB", "southkorea": "KR",
    "turkey": "TR", "unitedstatesofamerica": "US", "usa": "US", "vietnam": "VN", "wales": "GB",
}  # fmt: skip
"""Names of countries that GeoNames spells otherwise, as `folded` spells them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A city, or an airport with the city it serves."""

    name: str
    country: str
    region: str
    """Letters of the state or province in the United States, Canada and Australia; else empty."""
    latitude: float
    longitude: float
    population: int
    is_other_name: bool = False
    """Found under a name other than its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Airport:
    """An airport's code with the facts that decide how likely it is meant."""

    place: Place
    """Where machines stand that are named for it: the city it serves, else the airport."""
    name: str
    metro: int
    """People in the largest city around."""
    is_international: bool
    is_word: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """A country or region: where its people live."""

    code: str
    name: str
    country: str
    latitude: float
    longitude: float
    radius_km: float
    """Four of five people live within it."""


class Gazetteer:
    """Places by name and code; each table is unpacked when it is first needed."""

    def __init__(self, columns: Columns) -> None:
        """Keep the columns; those of texts, such as `key_text`, hold one text per line."""
        if "key_text" not in columns:
            raise InputError("the tables of places are incomplete: make them with bin/make-location-tables")
        self._columns = columns

    def _texts(self, name: str) -> list[str]:
        return bytes(self._columns[name]).decode().split("\n")

    @cached_property
    def _keys(self) -> dict[str, int]:
        texts = self._texts("key_text")
        return dict(zip(texts, range(len(texts)), strict=True))

    @cached_property
    def _cities(self) -> tuple[list[str], list[str], list[str], list[int], list[float], list[float]]:
        columns = self._columns
        return (
            self._texts("city_name"),
            self._texts("city_country"),
            self._texts("city_region"),
            columns["city_population"].tolist(),
            columns["city_latitude"].astype(float).round(4).tolist(),
            columns["city_longitude"].astype(float).round(4).tolist(),
        )

    @cached_property
    def _entries(self) -> tuple[list[int], list[int], list[int]]:
        columns = self._columns
        return columns["key_start"].tolist(), columns["key_city"].tolist(), columns["key_is_other"].tolist()

    def city_count(self) -> int:
        """Count the cities."""
        return len(self._columns["city_population"])

    def city(self, row: int, *, is_other_name: bool = False) -> Place:
        """Spell out a city; they are numbered by population, the largest first."""
        names, countries, regions, population, latitude, longitude = self._cities
        return Place(
            name=names[row],
            country=countries[row],
            region=regions[row],
            latitude=latitude[row],
            longitude=longitude[row],
            population=population[row],
            is_other_name=is_other_name,
        )

    def outline(self, row: int) -> tuple[str, str, str]:
        """Return name, country and region of a city, without spelling it out."""
        names, countries, regions, *_rest = self._cities
        return names[row], countries[row], regions[row]

    def population(self, row: int) -> int:
        """Return the people of a city."""
        return self._cities[3][row]

    def cities_named(self, key: str) -> list[Place]:
        """Return the cities of a name, spelled as `folded` does, the largest first."""
        at = self._keys.get(key)
        if at is None:
            return []
        start, city, is_other = self._entries
        return [self.city(city[i], is_other_name=bool(is_other[i])) for i in range(start[at], start[at + 1])]

    def has_city(self, key: str) -> bool:
        """Return whether any city has a name."""
        return key in self._keys

    def is_word(self, text: str) -> bool:
        """Return whether a text is an ordinary English word."""
        return text in self._words

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(self._texts("word"))

    @cached_property
    def _airport_rows(self) -> dict[str, int]:
        codes = self._texts("airport_code")
        return dict(zip(codes, range(len(codes)), strict=True))

    @cached_property
    def _airport_texts(self) -> tuple[list[str], list[str]]:
        return self._texts("airport_name"), self._texts("airport_country")

    @cached_property
    def _airport_facts(self) -> tuple[list[int], list[float], list[float], list[int], list[int], list[int]]:
        """Return the columns that `airport` needs, as lists: single numbers of arrays are slow."""
        columns = self._columns
        return (
            columns["airport_city"].tolist(),
            columns["airport_latitude"].astype(float).round(4).tolist(),
            columns["airport_longitude"].astype(float).round(4).tolist(),
            columns["airport_metro"].tolist(),
            columns["airport_is_international"].tolist(),
            columns["airport_is_word"].tolist(),
        )

    def airport(self, code: str) -> Airport | None:
        """Return the airport, or the city with a code of its own, of an IATA code in small letters."""
        row = self._airport_rows.get(code)
        if row is None:
            return None
        names, countries = self._airport_texts
        city, latitude, longitude, metro, is_international, is_word = self._airport_facts
        if city[row] >= 0:
            place = self.city(city[row])
        else:
            place = Place(
                name=names[row],
                country=countries[row],
                region="",
                latitude=latitude[row],
                longitude=longitude[row],
                population=0,
            )
        return Airport(
            place=place,
            name=names[row],
            metro=metro[row],
            is_international=bool(is_international[row]),
            is_word=bool(is_word[row]),
        )

    @cached_property
    def countries(self) -> dict[str, Area]:
        """Countries by their two letters."""
        return {
            code: self._area("country", i, code, code) for i, code in enumerate(self._texts("country_code"))
        }

    @cached_property
    def country_names(self) -> dict[str, str]:
        """Two letters of a country by its name or three letters, spelled as `folded` does."""
        codes = self._texts("country_code")
        named = dict(zip(map(folded, self._texts("country_name")), codes, strict=True))
        three = dict(zip(map(folded, self._texts("country_code3")), codes, strict=True))
        return {**three, **named, **_OTHER_COUNTRY_NAMES}

    @cached_property
    def regions(self) -> dict[tuple[str, str], Area]:
        """Regions by country and letters: ("US", "NY")."""
        pairs = zip(self._texts("region_country"), self._texts("region_code"), strict=True)
        return {
            (country, code): self._area("region", i, code, country) for i, (country, code) in enumerate(pairs)
        }

    @cached_property
    def region_names(self) -> dict[str, tuple[str, str]]:
        """Country and letters of a region by its name, spelled as `folded` does."""
        return {folded(area.name): key for key, area in self.regions.items()}

    def _area(self, table: str, i: int, code: str, country: str) -> Area:
        columns = self._columns
        return Area(
            code=code,
            name=self._texts(f"{table}_name")[i],
            country=country,
            latitude=float(columns[f"{table}_latitude"][i]),
            longitude=float(columns[f"{table}_longitude"][i]),
            radius_km=float(columns[f"{table}_radius"][i]),
        )

    def largest(self, fewest: int) -> range:
        """Return the rows of the cities with at least `fewest` people."""
        return range(
            int(np.searchsorted(-self._columns["city_population"].astype(np.int64), -fewest, "right"))
        )
