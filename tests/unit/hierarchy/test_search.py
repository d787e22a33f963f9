"""Finding organisations by part of a name, whatever its case or script."""

from __future__ import annotations

import pytest

from ipmicra.errors import IpmicraError
from tests.patience import loops_broken
from tests.reference.fast_building import built

NAMES = [
    "Stadtwerke MÜNCHEN GmbH",
    "Straße AG",
    "ΟΔΟΣ Α.Ε.",
    "Οδός",
    "株式会社 例",
    "İstanbul",
    "plain",
    "a.b*c",
]


def named(*names: str) -> str:
    return "\n".join(f"inetnum: {i + 1}.0.0.0/8\ndescr: {name}\n" for i, name in enumerate(names))


HIERARCHY = built(named(*NAMES))


def found(query: str) -> list[str | None]:
    return [each.name for each in HIERARCHY.search(query)]


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("münchen", "Stadtwerke MÜNCHEN GmbH"),
        ("MÜNCHEN", "Stadtwerke MÜNCHEN GmbH"),
        ("gmbh", "Stadtwerke MÜNCHEN GmbH"),
        ("straße", "Straße AG"),
        ("οδοσ", "ΟΔΟΣ Α.Ε."),
        ("会社", "株式会社 例"),
        ("PLAIN", "plain"),
        ("B*C", "a.b*c"),
    ],
)
def test_part_of_a_name_finds_it_in_any_case(query: str, name: str) -> None:
    assert name in found(query)


def test_letters_that_grow_in_the_other_case_are_found() -> None:
    assert found("STRASSE") == ["Straße AG"]


def test_greek_sigma_is_found_in_all_its_forms() -> None:
    assert "Οδός" in found("ΟΔΌΣ")


def test_signs_of_patterns_stand_for_themselves() -> None:
    assert found("a.b") == ["a.b*c"]
    assert found("a.*") == []


def test_order_is_that_of_the_addresses_and_limit_cuts_it() -> None:
    assert found("a") == [name for name in NAMES if "a" in name.casefold()]
    assert [each.name for each in HIERARCHY.search("a", limit=2)] == found("a")[:2]


@pytest.mark.parametrize("query", ["", " ", "\t\n"])
def test_empty_query_is_refused(query: str) -> None:
    with pytest.raises(IpmicraError):
        HIERARCHY.search(query)


@pytest.mark.parametrize("handle", ["", " "])
def test_empty_handle_holds_nothing(handle: str) -> None:
    with loops_broken():
        assert HIERARCHY.subnets_of(handle).tolist() == []


def test_text_that_is_no_text_finds_nothing() -> None:
    """Bytes of a command line that are not UTF-8 come as lone surrogates."""
    assert HIERARCHY.search("\udcff") == []


def test_match_across_two_records_hides_neither() -> None:
    hierarchy = built("inetnum: 1.0.0.0/8\ndescr: xa\n\ninetnum: 2.0.0.0/8\ndescr: ax\n")
    assert [each.name for each in hierarchy.search("a")] == ["xa", "ax"]


def test_words_in_an_address_alone_are_not_found() -> None:
    more = "organisation: ORG-A\norg-name: Alpha\naddress: Secret Road\n\n"
    hierarchy = built(more + "inetnum: 10.0.0.0/8\norg: ORG-A\n")
    assert hierarchy.search("secret") == []
    assert [each.name for each in hierarchy.search("alpha")] == ["Alpha"]
