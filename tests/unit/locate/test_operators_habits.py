"""How operators write places: codes with numbers, glued roles, hyphens, states, and their own country."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from publicsuffixlist import PSLFILE, PublicSuffixList

from ipmicra.edge.geodata.places import (
    load_gazetteer,
    load_institutions,
    load_registered_domain,
)
from ipmicra.locate import vocabulary as words
from ipmicra.locate.institution import InstitutionTable
from ipmicra.locate.locator import Clues, Locator, LocatorTables
from ipmicra.locate.readings import WEIGHTS, Reading, weights_of
from ipmicra.locate.spelling import sounded
from ipmicra.model.geo import km_between
from ipmicra.model.location import Hint, Location


@pytest.fixture(scope="module")
def locator() -> Locator:
    return Locator(
        LocatorTables(
            gazetteer=load_gazetteer(),
            registered_domain=load_registered_domain(),
            institutions=load_institutions(),
        )
    )


def place(locator: Locator, name: str) -> tuple[str | None, str | None] | None:
    location = locator.locate(Clues(host_names=(name,))).location
    return (location.city, location.country) if location else None


@pytest.mark.parametrize("shape", ["probe1-{}02.example.org", "{}07s09-in-f3.example.net"])
def test_hub_with_a_number_at_the_edge_of_a_label_is_a_site(locator: Locator, shape: str) -> None:
    missed = []
    for code in sorted(words.HUBS - words.NEVER_CODES):
        airport = load_gazetteer().airport(code)
        location = locator.locate(Clues(host_names=(shape.format(code),))).location
        if airport is None or location is None or km_between(location, airport.place) > 100:
            missed.append((code, location))
    assert missed == []


@pytest.mark.parametrize("word", ["in", "be", "it", "se", "to"])
def test_two_letters_that_mean_anything_are_no_country(locator: Locator, word: str) -> None:
    assert place(locator, f"mad07s09-{word}-f3.example.net") == ("Madrid", "ES")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("us-sea1.example.net", ("Seattle", "US")),
        ("cle-oh-pe1.example.net", ("Cleveland", "US")),
    ],
)
def test_country_and_state_beside_a_code_still_count(
    locator: Locator, name: str, expected: tuple[str, str]
) -> None:
    assert place(locator, name) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("jhb01.example.net", ("Johannesburg", "ZA")),
        ("cr1-nsk2.example.net", ("Novosibirsk", "RU")),
        ("osk1.example.net", ("Osaka", "JP")),
    ],
)
def test_large_city_goes_before_the_airport_of_a_small_place(
    locator: Locator, name: str, expected: tuple[str, str]
) -> None:
    assert place(locator, name) == expected


def test_code_that_fits_two_cities_of_a_size_needs_the_country(locator: Locator) -> None:
    assert place(locator, "cr1.brs2.example.net") is None
    assert place(locator, "cr1.brs2.example.co.uk") == ("Bristol", "GB")
    assert place(locator, "cr1.brs2.example.be") == ("Brussels", "BE")
    assert place(locator, "be-2-brs-dist1.example.se") is None


def test_home_of_the_operator_decides_between_places_and_rules_out_none(locator: Locator) -> None:
    assert place(locator, "xe-0-0.ade1-core.example.net") is None
    assert place(locator, "xe-0-0.ade1-core.telstra.net") == ("Adelaide", "AU")
    assert place(locator, "xe-0-0.lax1-core.telstra.net") == ("Los Angeles", "US")
    assert place(locator, "gw1.salem.tamilindia.com") == ("Salem", "IN")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("stsevilla.example.es", ("Sevilla", "ES")),
        ("speedtestdelhi.example.in", ("Delhi", "IN")),
        ("mumbaispeedtest.example.in", ("Mumbai", "IN")),
        ("st1tuc.example.com.ar", ("San Miguel de Tucumán", "AR")),
        ("lyoncore2.example.fr", ("Lyon", "FR")),
    ],
)
def test_roles_are_glued_to_cities_and_codes(locator: Locator, name: str, expected: tuple[str, str]) -> None:
    assert place(locator, name) == expected


WORDS = sorted(load_gazetteer()._words)  # the table has no other list of them
SHAPES = (
    "{}.example.com {}1.example.net cdn-{}.example.com {}-01.example.de speedtest.{}.net mail.{}.com".split()
)


@given(st.sampled_from(WORDS), st.sampled_from(SHAPES))
def test_ordinary_words_are_no_places(locator: Locator, word: str, shape: str) -> None:
    assert locator.name_hints(shape.format(word)) == []


@pytest.mark.parametrize("word", ["alarmist", "burst", "crank", "solidest", "creation"])
def test_words_are_not_cut_into_a_role_and_a_city(locator: Locator, word: str) -> None:
    assert locator.name_hints(f"{word}1.example.com") == []


@pytest.mark.parametrize("name", ["stable.example.com", "sprome.example.com", "strome.example.com"])
def test_short_letters_behind_a_short_role_are_chance(locator: Locator, name: str) -> None:
    assert place(locator, name) is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("fort-wayne.example.net", ("Fort Wayne", "US")),
        ("speedtest-fort-collins.example.com", ("Fort Collins", "US")),
        ("naryan-mar.speedtest.example.ru", ("Nar'yan-Mar", "RU")),
        ("la-crosse.pop.comcast.net", ("La Crosse", "US")),
    ],
)
def test_words_of_a_city_are_joined_by_hyphens(
    locator: Locator, name: str, expected: tuple[str, str]
) -> None:
    assert place(locator, name) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("spt01snloca.example.com", ("San Luis Obispo", "US")),
        ("static-1-2.bvtn.or.example.net", ("Beaverton", "US")),
        ("r1.dlstx.ip.example.net", ("Dallas", "US")),
        ("r03.amstnl07.nl.bb.example.net", ("Amsterdam", "NL")),
        ("speedtest.chelny.example.ru", ("Naberezhnyye Chelny", "RU")),
    ],
)
def test_parts_of_names_are_read_with_state_and_country(
    locator: Locator, name: str, expected: tuple[str, str]
) -> None:
    assert place(locator, name) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("hanty-mansiisk.example.ru", ("Khanty-Mansiysk", "RU")),
        ("mahachkala.speedtest.example.ru", ("Makhachkala", "RU")),
        ("zhitomir.speedtest.example.ua", ("Zhytomyr", "UA")),
        ("mahachkala.speedtest.example.net", None),
    ],
)
def test_transliterations_of_one_name_are_one_city_where_the_country_agrees(
    locator: Locator, name: str, expected: tuple[str, str] | None
) -> None:
    assert place(locator, name) == expected


@given(st.text(alphabet="abehijkoshtuyz", max_size=12))
def test_sounding_a_name_twice_changes_nothing_more_than_its_length(key: str) -> None:
    once = sounded(key)
    assert len(sounded(once)) <= len(once) <= len(key)
    assert not any(one == other for one, other in pairwise(once))


def test_name_in_another_spelling_yields_to_the_city_that_has_it_as_its_own(locator: Locator) -> None:
    assert place(locator, "edinburg.speedtest.example.net") is None
    assert place(locator, "edinburg.speedtest.example.co.uk") == ("Edinburgh", "GB")
    assert place(locator, "edinburg.speedtest.charter.com") == ("Edinburg", "US")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("test.samara-ttk.ru", ("Samara", "RU")),
        ("speedtest.amarillowireless.net", ("Amarillo", "US")),
        ("speedtest.network.lviv.ua", ("Lviv", "UA")),
        ("speedtest.shadrinsk.net", ("Shadrinsk", "RU")),
        ("tver.speedtest.samara-ttk.ru", ("Tver", "RU")),
        ("www.hotel-samara.ru", None),
        ("speedtest.pinheironet.com.br", None),
        ("www.shadrinsk.net", None),
    ],
)
def test_city_of_the_holder_counts_for_networks_and_behind_the_name_itself(
    locator: Locator, name: str, expected: tuple[str, str] | None
) -> None:
    assert place(locator, name) == expected


@pytest.mark.parametrize(
    ("domain", "city"),
    [
        ("wayne.edu", "Detroit"),
        ("princeton.edu", "Princeton"),
        ("missouri.edu", "Columbia"),
        ("ccis.edu", "Columbia"),
    ],
)
def test_institution_is_in_the_state_that_it_names(locator: Locator, domain: str, city: str) -> None:
    states = {"Detroit": "MI", "Princeton": "NJ", "Columbia": "MO"}
    location = locator.locate(Clues(host_names=(f"www.{domain}",))).location
    assert location is not None
    truth = next(one for one in load_gazetteer().cities_named(city.lower()) if one.region == states[city])
    assert location.city == city
    assert km_between(location, truth) < 1


def test_institution_with_several_places_yields_to_what_the_name_says(locator: Locator) -> None:
    located = locator.locate(Clues(host_names=("speedtest.pop-sc.rnp.br",)))
    assert located.location is not None
    assert (located.location.city, located.location.country) == (None, "BR")
    assert place(locator, "speedtest.recife.rnp.br") == ("Recife", "BR")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("lib.stat.cmu.edu", ("Pittsburgh", "US")),
        ("mirrors.ocf.berkeley.edu", ("Berkeley", "US")),
        ("paris.cs.columbia.edu", ("New York City", "US")),
        ("phoenix.cs.example.edu", None),
        ("rtsw.losa1.net.internet2.edu", ("Los Angeles", "US")),
    ],
)
def test_departments_and_pet_names_of_a_campus_are_no_places(
    locator: Locator, name: str, expected: tuple[str, str] | None
) -> None:
    assert place(locator, name) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mirror.cov.example.com", None),
        ("krr1.speedtest.example.net", ("Krasnodar", "RU")),
        ("mlab1-jai01.example.org", ("Jaipur", "IN")),
        ("jai01.example.org", None),
        ("mirror.cov.example.com.tr", ("Tarsus", "TR")),
    ],
)
def test_code_of_a_small_airport_needs_the_country_or_a_number_and_a_role(
    locator: Locator, name: str, expected: tuple[str, str] | None
) -> None:
    assert place(locator, name) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("core1.saint-denis.example.net", None),
        ("core1.saint-denis.example.fr", ("Saint-Denis", "FR")),
        ("core1.saint-denis.opentransit.net", ("Saint-Denis", "FR")),
        ("core2-hu0-6-0-5.southbank.ukcore.bt.net", None),
        ("speedtest-mag.example.ru", None),
        ("speedtest-irk.example.ru", ("Irkutsk", "RU")),
        ("st1res.example.com.ar", None),
        ("franco31.example.net", None),
        ("sp1.colinanet.com", None),
        ("speedtest.paraisopolis.com.br", ("Paraisópolis", "BR")),
        ("www.paraisopolis.com.br", None),
    ],
)
def test_thin_evidence_is_no_vote(locator: Locator, name: str, expected: tuple[str, str] | None) -> None:
    assert place(locator, name) == expected


@pytest.mark.parametrize(
    "domain", ["unizar.es", "wsu.edu", "maine.edu", "lehigh.edu", "unesp.br", "unnoba.edu.ar"]
)
def test_words_states_and_provinces_in_names_of_institutions_are_no_cities(
    locator: Locator, domain: str
) -> None:
    found = place(locator, f"www.{domain}")
    wrong = {"Universidad", "Washington", "Des Plaines", "Lehigh Acres", "Paulista", "Buenos Aires"}
    assert found is not None
    assert found[0] not in wrong


def test_votes_weigh_as_much_as_their_reading_was_right(locator: Locator) -> None:
    (bare,) = locator.name_hints("cr1.fra2.example.net")
    (agreed,) = locator.name_hints("cr1.fra2.example.de")
    (last,) = locator.name_hints("speedtest.chelny.example.ru")
    (institution,) = locator.name_hints("www.mit.edu")
    assert bare.weight == WEIGHTS[Reading.HUB, False]
    assert agreed.weight == WEIGHTS[Reading.HUB, True] > bare.weight > last.weight
    assert last.weight == WEIGHTS[Reading.LAST_WORD, True] == 0.9  # nobody has measured it
    assert institution.weight == WEIGHTS[Reading.INSTITUTION, True]
    assert locator.locate(Clues(host_names=("cr1.fra2.example.net",))).weight == bare.weight
    assert locator.locate(Clues(host_names=("www.example.net",))).weight == 0


@given(st.integers(0, 500), st.integers(0, 500))
def test_right_votes_raise_a_weight_and_wrong_ones_lower_it(right: int, wrong: int) -> None:
    kind = (Reading.HUB, True)
    before, better, worse = (
        weights_of({kind: counts})[kind]
        for counts in ((right, wrong), (right + 1, wrong), (right, wrong + 1))
    )
    assert 0 < worse < before < better < 1


def test_own_row_for_an_institution_weighs_in_full() -> None:
    own = Location(latitude=1.0, longitude=2.0, radius_km=5.0)
    table = InstitutionTable({"example.edu": own})
    locator = Locator(
        LocatorTables(
            gazetteer=load_gazetteer(), registered_domain=load_registered_domain(), institutions=table
        )
    )
    (hint,) = locator.name_hints("www.example.edu")
    assert isinstance(hint, Hint)
    assert (hint.location, hint.weight) == (own, 1.0)


def _list_of_registries() -> PublicSuffixList:
    text = Path(PSLFILE).read_text(encoding="utf-8").partition("// ===BEGIN PRIVATE DOMAINS===")[0]
    return PublicSuffixList(re.findall(r"(?m)^[^/\s].*$", text), only_icann=False)


LISTED = _list_of_registries()
ENDS = sorted(LISTED._publicsuffix)


@given(
    st.lists(st.sampled_from(["a", "co", "com", "city", "kawasaki", "k12", "ma", "www"]), max_size=3),
    st.sampled_from(ENDS),
)
def test_registered_domain_is_that_of_the_list(front: list[str], end: str) -> None:
    name = ".".join([*front, end])
    assert load_registered_domain()(name) == LISTED.privatesuffix(name)
