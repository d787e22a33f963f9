"""Real host names with the places that their operators state: who develops, who judges, who was right.

The names are those of public speed-test servers (`names/speed-test-servers.csv` in the folder of
IPMICRA_DATA). They are split by registered domain, never by name: names of one operator resemble each other,
so that a rule that was made for one of them would be judged by its siblings. The hash of a domain puts it
among the three quarters that the rules were developed on, or among the quarter that is only counted.
"""

from __future__ import annotations

import csv
import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from benchmarks.data import data_folder
from ipmicra.edge.geodata.places import load_gazetteer, load_registered_domain
from ipmicra.locate.hostname import HostName, read_host_name
from ipmicra.locate.locator import LocatorTables
from ipmicra.locate.names import NameReader
from ipmicra.locate.readings import Reading, weights_of
from ipmicra.locate.spelling import folded
from ipmicra.model.geo import km_between
from ipmicra.model.location import Location

NAMES = "names/speed-test-servers.csv"
NO_NAMES = f"name the folder that holds {NAMES} with IPMICRA_DATA"
RIGHT_KM = 100.0
"""A vote this near to the stated place is right."""
FEWEST_PEOPLE = 100_000
"""People around an airport from which its code is one that a name can tell."""
SHORTEST_CITY = 4
FOLDS = 5
"""Parts of the domains for cross-validation."""

Kind = tuple[Reading, bool]
"""A reading, and whether something else in the name indicates the country."""


@dataclass(frozen=True, slots=True)
class RealName:
    """A host name and where its operator says it is."""

    text: str
    truth: Location | None
    """None where the name tells no place and any vote would be chance."""
    domain: str = ""
    """The registered domain."""
    is_developed_on: bool = True
    is_telling: bool = False
    """The stated city or an airport code of the place stands in front of the registered domain."""
    is_told_anywhere: bool = False
    """The same, or the city stands in the registered domain."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How votes fared, and how many of the names that tell their place were found."""

    right: int
    wrong: int
    telling: int
    found: int
    told_anywhere: int
    found_anywhere: int

    @property
    def precision(self) -> float:
        """Percentage of right ones among the votes."""
        return 100 * self.right / max(1, self.right + self.wrong)

    @property
    def recall(self) -> float:
        """Percentage of right ones among the names that tell their place before the registered domain."""
        return 100 * self.found / max(1, self.telling)

    @property
    def recall_anywhere(self) -> float:
        """Percentage of right ones among the names that tell their place, be it in the registered domain."""
        return 100 * self.found_anywhere / max(1, self.told_anywhere)


def read_names() -> list[RealName]:
    """Read the list; empty if it is not there."""
    folder = data_folder()
    path = folder / NAMES if folder else None
    if path is None or not path.is_file():
        return []
    with path.open(encoding="utf-8") as file:
        return list(_names(csv.DictReader(file)))


def _names(rows: Iterable[dict[str, str]]) -> Iterator[RealName]:
    registered = load_registered_domain()
    for row in rows:
        text = row["hostname"].lower()
        read = read_host_name(text, registered)
        if not isinstance(read, HostName):
            continue
        truth = Location(latitude=float(row["latitude"]), longitude=float(row["longitude"]), radius_km=0.0)
        city = folded(row["place"].rsplit("/", 1)[0].split(",")[0])
        is_code = any(_is_near_airport(token, truth) for label in read.host for token in _tokens(label))
        yield RealName(
            text=text,
            truth=truth,
            domain=read.registered,
            is_developed_on=is_developed_on(read.registered),
            is_telling=is_code or _is_spelled(city, read.host),
            is_told_anywhere=is_code or _is_spelled(city, text.split(".")),
        )


def _is_spelled(city: str, labels: Iterable[str]) -> bool:
    """Return whether a label holds a city's name, whatever stands around or between its words."""
    return len(city) >= SHORTEST_CITY and any(city in re.sub("[^a-z]", "", label) for label in labels)


def is_developed_on(domain: str) -> bool:
    """Return whether the rules were developed on a domain's names: three quarters of all domains."""
    digest = hashlib.sha256(domain.encode()).digest()
    return digest[0] % 2 == 0 or digest[1] % 2 == 0


def _tokens(label: str) -> list[str]:
    return [token for token in re.findall("[a-z]+", label) if len(token) == 3]


def _is_near_airport(code: str, truth: Location) -> bool:
    airport = load_gazetteer().airport(code)
    if airport is None or airport.metro < FEWEST_PEOPLE:
        return False
    return km_between(airport.place, truth) <= RIGHT_KM


class Judge:
    """Reads names as the chain does, and compares with the truth."""

    def __init__(self, tables: LocatorTables) -> None:
        """Take the tables of a locator."""
        self._tables = tables
        self._names = NameReader(tables.gazetteer)

    def votes(self, text: str) -> list[tuple[Kind, Location]]:
        """Return the votes for a city that a name alone allows, the one that counts first."""
        name = read_host_name(text, self._tables.registered_domain)
        if not isinstance(name, HostName):
            return []
        institution = self._tables.institutions.hint(name)
        seat = institution.location if institution else None
        read = self._names.read(name, institution=seat)
        found = [((one.reading, one.has_country), one.meaning.location) for one in read]
        return [*found, ((Reading.INSTITUTION, True), seat)] if seat and seat.city else found

    def count(self, names: Iterable[RealName]) -> Counts:
        """Judge the vote that counts on each name."""
        judged = [(name, next(iter(self._fates(name).values()), None)) for name in names]
        right = [name for name, is_right in judged if is_right]
        return Counts(
            right=len(right),
            wrong=sum(is_right is False for _name, is_right in judged),
            telling=sum(name.is_telling for name, _is_right in judged),
            found=sum(name.is_telling for name in right),
            told_anywhere=sum(name.is_told_anywhere for name, _is_right in judged),
            found_anywhere=sum(name.is_told_anywhere for name in right),
        )

    def count_kinds(self, names: Iterable[RealName]) -> dict[Kind, tuple[int, int]]:
        """Count the right and wrong votes of each kind of reading, whether or not they count."""
        found: dict[Kind, tuple[int, int]] = {}
        for name in names:
            for kind, is_right in self._fates(name).items():
                right, wrong = found.get(kind, (0, 0))
                found[kind] = (right + is_right, wrong + (not is_right))
        return found

    def expected_and_right(self, names: Sequence[RealName]) -> tuple[float, float]:
        """Return the percentage of right votes that the weights expect, and what it is.

        The weights for a fold of the domains are counted on the other folds.
        """
        expected, right, votes = 0.0, 0, 0
        for fold in range(FOLDS):
            others = [name for name in names if fold_of(name) != fold]
            weights = weights_of(self.count_kinds(others))
            for name in (name for name in names if fold_of(name) == fold):
                for kind, is_right in self._fates(name).items():
                    expected, right, votes = expected + weights[kind], right + is_right, votes + 1
        return 100 * expected / max(1, votes), 100 * right / max(1, votes)

    def _fates(self, name: RealName) -> dict[Kind, bool]:
        return {
            kind: name.truth is not None and km_between(place, name.truth) <= RIGHT_KM
            for kind, place in self.votes(name.text)
        }


def fold_of(name: RealName) -> int:
    """Return the fold of a name's registered domain."""
    return hashlib.sha256(name.domain.encode()).digest()[2] % FOLDS
