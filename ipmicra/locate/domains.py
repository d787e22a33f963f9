"""What a registered domain says of its holder: the country it is at home in, and a city in its name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ipmicra.locate import vocabulary as words
from ipmicra.locate.config import NameConfig
from ipmicra.locate.gazetteer import Gazetteer
from ipmicra.locate.hostname import HostName
from ipmicra.locate.operators import HOME_COUNTRIES
from ipmicra.locate.readings import Meaning, Reading
from ipmicra.locate.tokens import TokenReader

_UNITED_STATES = frozenset({"edu", "gov", "mil"})
_ACADEMIC = frozenset({"ac", "edu"})
_SHORTEST_COUNTRY = 4
"""Letters of a country's name inside a registered name: `airtelindia`."""
_SHORTEST_CITY = 4
_MOST_KEPT = 1 << 16
_LONG_WORD = 5
"""Letters of a word that makes its holder a network beyond doubt."""
_NETWORK = re.compile("|".join(word for word in words.NETWORK_WORDS if len(word) >= _LONG_WORD))
_PIECES = re.compile("[-_]")


@dataclass(frozen=True, slots=True)
class Seat:
    """A city in a registered name."""

    token: str
    meaning: Meaning
    needs_role: bool
    """It is a small town, or other letters stand beside it, so that it counts only for networks."""
    is_lone: bool
    """It counts for networks even where nothing indicates the country."""


@dataclass(frozen=True, slots=True)
class Holder:
    """What a registered domain says of its holder."""

    country: str | None
    """Country of the top-level domain."""
    homes: frozenset[str]
    """Countries that the holder is likely at home in."""
    is_network: bool
    """The name says that its holder runs a network: `lafibre`."""
    is_academic: bool
    """It is registered where universities are: `.edu`, `.ac.uk`."""


class DomainReader:
    """Reads registered domains, each once; what most names do not need is read only when asked for."""

    def __init__(self, gazetteer: Gazetteer, tokens: TokenReader, config: NameConfig) -> None:
        """Prepare the names of countries that registered names may hold."""
        self._gazetteer = gazetteer
        self._tokens = tokens
        self._config = config
        self._countries: dict[str, list[tuple[str, str]]] = {}
        for text, code in gazetteer.country_names.items():
            if len(text) >= _SHORTEST_COUNTRY and text not in words.NO_COUNTRY_NAMES:
                self._countries.setdefault(text[:_SHORTEST_COUNTRY], []).append((text, code))
        self._known_seats: dict[str, tuple[Seat, ...]] = {}
        self._known_holders: dict[str, Holder] = {}

    def seats(self, name: HostName) -> tuple[Seat, ...]:
        """Return the cities in the registered domain of a host name."""
        known = self._known_seats.get(name.registered)
        if known is None:
            if len(self._known_seats) >= _MOST_KEPT:
                self._known_seats.clear()
            known = self._known_seats[name.registered] = tuple(self._seats(name))
        return known

    def holder(self, name: HostName) -> Holder:
        """Return what the registered domain of a host name says of its holder."""
        known = self._known_holders.get(name.registered)
        if known is None:
            if len(self._known_holders) >= _MOST_KEPT:
                self._known_holders.clear()
            known = self._known_holders[name.registered] = Holder(
                country=self._country(name),
                homes=self._homes(name),
                is_network=_NETWORK.search(name.domain) is not None,
                is_academic=not _ACADEMIC.isdisjoint(name.suffix),
            )
        return known

    def _country(self, name: HostName) -> str | None:
        """Return the country of the top-level domain, if it indicates one: `.co` does not, `.com.co` does."""
        top = name.suffix[-1] if name.suffix else name.domain
        if top in _UNITED_STATES:
            return "US"
        if len(top) != 2 or (top in words.GENERIC_COUNTRY_DOMAINS and len(name.suffix) == 1):  # noqa: PLR2004
            return None
        country = words.ALIASES.get(top, top.upper())
        return country if country in self._gazetteer.countries else None

    def _homes(self, name: HostName) -> frozenset[str]:
        """Return the countries that a holder is likely at home in.

        They come from the list of operators, from a country's name inside the domain, and from top-level
        domains that the whole world uses, which are still used at home.
        """
        domain, top = name.domain, name.suffix[-1] if name.suffix else ""
        found = {
            code
            for at in range(len(domain) - _SHORTEST_COUNTRY + 1)
            for text, code in self._countries.get(domain[at : at + _SHORTEST_COUNTRY], ())
            if domain.startswith(text, at)
        }
        if domain in HOME_COUNTRIES:
            found.add(HOME_COUNTRIES[domain])
        if top in words.GENERIC_COUNTRY_DOMAINS:
            found.add(top.upper())
        return frozenset(found)

    def _seats(self, name: HostName) -> Iterator[Seat]:
        """Find cities in a registered name: those that are all of it, then those that are a part."""
        config = self._config
        for token in _whole(name):
            for meaning in self._cities(token, config.fewest_for_only_seat):
                people = meaning.place.population
                is_only = meaning.is_unique and meaning.reading is Reading.NAME
                if people < config.fewest_for_seat and not is_only:
                    continue
                is_own = meaning.reading is Reading.NAME and len(token) >= config.shortest_unique
                is_lone = meaning.is_unique and people >= config.fewest_for_lone_seat
                yield Seat(
                    token,
                    meaning,
                    needs_role=people < config.fewest_for_seat,
                    is_lone=is_own and (is_lone or _is_large(meaning)),
                )
        for token, is_sure in self._parts(name.domain):
            for meaning in self._cities(token, config.fewest_for_seat):
                if is_sure or _is_large(meaning):
                    yield Seat(token, meaning, needs_role=True, is_lone=is_sure and _is_large(meaning))

    def _cities(self, token: str, fewest: int) -> list[Meaning]:
        """Return the cities of a name that a holder may have its seat in."""
        return [
            meaning
            for meaning in (self._tokens.cities(token) if len(token) >= _SHORTEST_CITY else ())
            if meaning.points >= self._config.fewest_points_for_seat and meaning.place.population >= fewest
        ]

    def _parts(self, domain: str) -> Iterator[tuple[str, bool]]:
        """Yield what may be a city in a network's name, and whether the rest is a network's beyond doubt.

        It is in `amarillowireless`, less so in `pinheironet`. Any other word makes the name something else:
        `hotel-paris`.
        """
        pieces = _PIECES.split(domain)
        if len(pieces) == 1:
            if domain.startswith(words.NETWORK_WORDS):
                word = next(word for word in words.NETWORK_WORDS if domain.startswith(word))
                yield domain.removeprefix(word), len(word) >= _LONG_WORD
            if domain.endswith(words.NETWORK_WORDS):
                word = next(word for word in words.NETWORK_WORDS if domain.endswith(word))
                yield domain.removesuffix(word), len(word) >= _LONG_WORD
        elif not any(self._gazetteer.is_word(piece) and piece not in words.NETWORK_WORDS for piece in pieces):
            yield from ((piece, True) for piece in pieces)


def _whole(name: HostName) -> Iterator[str]:
    """Yield the city that a registered name would be, all of it or beside a word such as `uni`.

    Some countries have suffixes for cities: `example.lviv.ua`.
    """
    pieces = _PIECES.split(name.domain)
    yield "".join(pieces)
    if words.INSTITUTION_WORDS.intersection(pieces):
        yield from (piece for piece in pieces if piece not in words.INSTITUTION_WORDS)
    yield from name.suffix[:-1]


def _is_large(meaning: Meaning) -> bool:
    return not (meaning.is_ambiguous or meaning.needs_agreement)
