"""Places in host names: what counts, what does not, and why."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.edge.geodata.places import load_gazetteer, load_institutions, load_registered_domain
from ipmicra.locate.hostname import HostName, read_host_name
from ipmicra.locate.locator import Clues, Locator, LocatorTables
from ipmicra.model.location import Heuristic, Hint


@pytest.fixture(scope="module")
def locator() -> Locator:
    return Locator(
        LocatorTables(
            gazetteer=load_gazetteer(),
            registered_domain=load_registered_domain(),
            institutions=load_institutions(),
        )
    )


def vote(locator: Locator, name: str, heuristic: Heuristic, registered: str | None = None) -> Hint | None:
    return next((hint for hint in locator.name_hints(name, registered) if hint.heuristic is heuristic), None)


@pytest.mark.parametrize(
    ("name", "city", "country"),
    [
        ("ams1.example.net", "Amsterdam", "NL"),
        ("ae3.fra-core2.example.net", "Frankfurt am Main", "DE"),
        ("lhr05.example.com", "London", "GB"),
        ("xe-1-0.cr1.nyc2.us.example.net", "New York City", "US"),
        ("XE-1-0.CR1.NYC2.US.EXAMPLE.NET.", "New York City", "US"),
    ],
)
def test_airport_codes_are_read_as_operators_write_them(
    locator: Locator, name: str, city: str, country: str
) -> None:
    hint = vote(locator, name, Heuristic.AIRPORT)
    assert hint is not None
    assert (hint.location.city, hint.location.country) == (city, country)


@pytest.mark.parametrize(
    ("name", "city", "country"),
    [
        ("r1.londen.example.net", "London", "GB"),
        ("r1.frankf.example.net", "Frankfurt am Main", "DE"),
        ("r1.nycmny.example.net", "New York City", "US"),
        ("paris12.example.net", "Paris", "FR"),
        ("deber.example.net", "Berlin", "DE"),
        ("usnyc1.example.net", "New York City", "US"),
        ("nlams.example.net", "Amsterdam", "NL"),
        ("gw-sao-paulo1.example.com.br", "São Paulo", "BR"),
        ("xn--mnchen-3ya.example.de", "Munich", "DE"),
        ("münchen.example.de", "Munich", "DE"),
    ],
)
def test_cities_are_read_by_name_and_by_code(locator: Locator, name: str, city: str, country: str) -> None:
    hint = vote(locator, name, Heuristic.CITY)
    assert hint is not None
    assert (hint.location.city, hint.location.country) == (city, country)


@pytest.mark.parametrize("word", "cdn www net api dev img mail dns vpn web".split())
@pytest.mark.parametrize(
    "shape", ["{}.example.com", "{}1.example.net", "{}-02.example.org", "gw1.{}3.example.de"]
)
def test_words_of_host_names_are_no_airports(locator: Locator, word: str, shape: str) -> None:
    assert locator.name_hints(shape.format(word)) == []


@pytest.mark.parametrize(
    "name", ["parisian.example.com", "romeo.example.com", "www.mobile.de", "reading.example.org"]
)
def test_words_that_hold_a_city_are_none(locator: Locator, name: str) -> None:
    assert locator.name_hints(name) == []


@pytest.mark.parametrize(
    ("name", "country", "region_latitude"),
    [
        ("cr1.cambridge1.ma.us.example.net", "US", 42.4),
        ("cr1.cambridge1.example.co.uk", "GB", 52.2),
        ("paris.us.example.net", "US", 33.7),
        ("edge2.portland1.me.us.example.net", "US", 43.7),
        ("edge2.portland1.or.us.example.net", "US", 45.5),
        ("gw1.sanjose.example.co.cr", "CR", 9.9),
        ("gw1.sanjose2.example.net", "US", 37.3),
    ],
)
def test_ambiguous_names_go_by_country_and_region_then_by_people(
    locator: Locator, name: str, country: str, region_latitude: float
) -> None:
    hint = vote(locator, name, Heuristic.CITY)
    assert hint is not None
    assert hint.location.country == country
    assert hint.location.latitude == pytest.approx(region_latitude, abs=0.3)


@pytest.mark.parametrize(
    "name",
    ["gw1.fra2.example.fr", "cr1.london3.example.de", "fra1.us.example.net", "core1.ams.jp.example.net"],
)
def test_country_in_the_name_must_not_contradict(locator: Locator, name: str) -> None:
    assert locator.name_hints(name) == []


def test_registration_must_not_contradict_but_letters_in_the_name_go_before_it(locator: Locator) -> None:
    assert vote(locator, "cr1.fra2.example.net", Heuristic.AIRPORT, registered="DE")
    assert vote(locator, "cr1.fra2.example.net", Heuristic.AIRPORT, registered="BR") is None
    assert vote(locator, "cr1.fra2.de.example.net", Heuristic.AIRPORT, registered="BR")


def test_two_places_of_equal_strength_cancel_out(locator: Locator) -> None:
    assert locator.name_hints("ae1.fra2-ams3.example.net") == []


def test_evidence_quotes_token_and_name(locator: Locator) -> None:
    hint = vote(locator, "ae3.fra-core2.example.net", Heuristic.AIRPORT)
    assert hint is not None
    assert hint.evidence == "`fra` in `ae3.fra-core2.example.net`"


@pytest.mark.parametrize(
    ("name", "city"),
    [
        ("ftp.cs.mit.edu", "Cambridge"),
        ("mit.edu", "Cambridge"),
        ("www.bath.ac.uk", "Bath"),
        ("a.b.ethz.ch", "Zürich"),
    ],
)
def test_institutions_are_found_by_the_longest_suffix(locator: Locator, name: str, city: str) -> None:
    hint = vote(locator, name, Heuristic.INSTITUTION)
    assert hint is not None
    assert hint.location.city == city


@pytest.mark.parametrize("name", ["ac.uk", "edu", "notmit.edu", "mit.edu.example.com", "com"])
def test_public_suffixes_and_look_alike_domains_are_no_institutions(locator: Locator, name: str) -> None:
    assert vote(locator, name, Heuristic.INSTITUTION) is None


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "empty"),
        (".", "empty"),
        ("a..b", "empty label"),
        ("x" * 64 + ".example.com", "63"),
        ("a." * 127 + "b", "253"),
        ("fr\u0430.example.com", "mixes scripts"),  # the last letter is Cyrillic
        ("xn--fr-7lc.example.com", "mixes scripts"),
        ("xn--\u00e9.example.com", "no valid IDN"),
    ],
)
def test_odd_names_are_findings_and_give_no_vote(locator: Locator, name: str, reason: str) -> None:
    located = locator.locate(Clues(host_names=(name, "cr1.ams2.example.net")))
    assert any(reason in finding for finding in located.findings)
    assert located.location is not None
    assert located.location.city == "Amsterdam"


@given(st.text(max_size=300) | st.text(alphabet="abcfrxn0129-._é\u0430", max_size=80))
def test_any_text_gives_votes_or_none(locator: Locator, name: str) -> None:
    for hint in locator.name_hints(name):
        assert -90 <= hint.location.latitude <= 90
        assert hint.location.radius_km > 0
    read = read_host_name(name, load_registered_domain())
    assert isinstance(read, HostName | str)
