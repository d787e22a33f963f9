"""Rules: the text, what matches, who is left, what contradicts."""

from __future__ import annotations

from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra import InputError
from ipmicra.assign.rules.regions import REGIONS
from ipmicra.assign.rules.rules import Rules, SiteFacts, choices_of, contradiction
from ipmicra.model.crawler import Crawler
from ipmicra.model.location import Location


def crawler(name: str, country: str | None = None, **labels: str) -> Crawler:
    place = Location(latitude=0.0, longitude=0.0, radius_km=1.0, country=country) if country else None
    return Crawler(name=name, address=ip_address("192.0.2.1"), location=place, labels=labels)


FLEET = (
    crawler("fra", "DE", provider="big", region="west"),
    crawler("ams", "NL", provider="small"),
    crawler("tok", "JP", provider="big"),
    crawler("sao", "BR", tier="cheap"),
    crawler("lab", None, region="EU"),
)


def facts(host: str = "www.example.de", address: str = "198.51.100.7", **more: object) -> SiteFacts:
    return SiteFacts(host=host, address=ip_address(address), **more)  # type: ignore[arg-type]


def left(text: str, **site: object) -> dict[str, set[str]]:
    """Return the names of the crawlers left, by vantage."""
    found = Rules.read(text, "rules").choices(facts(**site), FLEET)  # type: ignore[arg-type]
    return {choice.vantage: {FLEET[one].name for one in choice.crawlers} for choice in found}


ALL = {one.name for one in FLEET}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", ALL),
        ("suffix=.de -> only=fra,tok", {"fra", "tok"}),
        ("suffix=example.de -> only=fra", {"fra"}),
        ("suffix=ample.de -> only=fra", ALL),
        ("host=www.* -> only=fra", {"fra"}),
        ("host=WWW.example.DE -> only=fra", {"fra"}),
        ("host=ftp.* -> only=fra", ALL),
        ("country=DE,AT -> only=region:EU", {"fra", "ams", "lab"}),
        ("country=FR -> only=region:EU", ALL),
        ('organisation="Acme, Ltd" -> forbid=country:JP', ALL - {"tok"}),
        ("organisation=ACME-1 -> only=country:BR", {"sao"}),
        ("prefix=198.51.100.0/24 -> only=tag:big", {"fra", "tok"}),
        ("prefix=198.51.100.0/24 -> only=tag:provider=small", {"ams"}),
        ("prefix=2001:db8::/32 -> only=fra", ALL),
        ("any -> forbid=tag:cheap", ALL - {"sao"}),
        ("any -> only=region:west", {"fra"}),
        ("suffix=de country=FR -> only=fra", ALL),
        ("any -> only=fra,ams\nany -> only=ams,tok", {"ams"}),
        ("any -> prefer=tok", {"tok"}),
        ("any -> prefer=tok\nany -> forbid=tok", ALL - {"tok"}),
        ("any -> prefer=nobody", ALL),
        ("any -> only=nobody", set[str]()),
    ],
)
def test_matching_rules_decide_together_who_is_left(text: str, names: set[str]) -> None:
    site = {"country": "DE", "organisation": frozenset({"acme, ltd", "acme-1"})}
    assert left(text, **site) == {"": names}


def test_a_site_has_an_owner_for_each_vantage_of_its_rules() -> None:
    text = """
    host=www.example.de -> vantage=japan:country:JP vantage=brazil:country:BR  # as customers see it
    suffix=.de          -> vantage=home:region:EU forbid=ams
    """
    assert left(text) == {"japan": {"tok"}, "brazil": {"sao"}, "home": {"fra", "lab"}}


def test_a_region_is_where_a_crawler_stands_and_its_label_only_where_that_is_unknown() -> None:
    liar = crawler("far", "JP", region="EU")
    rules = Rules.read("any -> only=region:EU", "rules").rules
    (choice,) = choices_of(rules, [liar, FLEET[4]])
    assert choice.crawlers == (1,)
    assert REGIONS["eu"] < REGIONS["eea"]


def test_rules_on_hosts_never_cover_a_subnet_and_prefixes_only_what_they_contain() -> None:
    text = """suffix=.de -> only=fra
        country=DE -> forbid=tok
        prefix=198.51.100.0/25 -> only=ams
        prefix=198.51.0.0/16 -> only=ams"""
    rules = Rules.read(text, "rules")
    bounds = ip_address("198.51.100.0"), ip_address("198.51.100.255")
    assert [rule.line for rule in rules.covering(facts(country="DE"), *bounds)] == [2, 4]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("country=DE only=fra", "expected conditions, one ->"),
        ("-> only=fra", "it has no condition"),
        ("country=DE ->", "nothing follows from it"),
        ("country=Germany -> only=fra", "'Germany' is no country"),
        ("land=DE -> only=fra", "'land' is none of any, host"),
        ("country=DE -> allow=fra", "'allow' is none of only"),
        ("country=DE -> only=", "lacks a value"),
        ("country=DE -> only=fra,,ams", "an empty value"),
        ("prefix=192.0.2.1/24 -> only=fra", "is no prefix"),
        ("host=a -> vantage=japan", "is no vantage"),
        ("host=a -> vantage=x:fra vantage=x:ams", "names a vantage twice"),
        ("host=a -> only=city:Paris", "names no crawlers"),
        ('organisation="Acme -> only=fra', "No closing quotation"),
        ("suffix=.*.de -> only=fra", "is no suffix"),
        ("host=a host=b -> only=fra", "host stands twice"),
    ],
)
def test_a_line_that_cannot_be_read_is_quoted_with_what_was_expected(line: str, words: str) -> None:
    with pytest.raises(InputError, match="none is used") as caught:
        Rules.read(f"# fine\n{line}\nany -> only=fra", "site.rules")
    assert words in str(caught.value)
    assert "site.rules" in str(caught.value)
    assert "line 2" in str(caught.value)


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        ("country=DE -> only=fra", "country=DE,AT -> forbid=fra", "one forbids all that the other allows"),
        ("suffix=.de -> only=fra", "host=www.*.de -> only=tok", "no crawler can be in both"),
        ("suffix=.a.de -> only=country:DE", "suffix=de -> only=country:FR", "no crawler can be in both"),
        ("any -> only=region:EU", "prefix=10.0.0.0/8 -> only=country:JP", "no crawler can be in both"),
        ("any -> only=region:asia", "host=a.de -> only=region:africa", "no crawler can be in both"),
        ("host=a -> vantage=x:fra", "host=a -> vantage=x:tok", "vantage x is not the same in both"),
        ("host=a -> vantage=x:country:JP", "any -> only=region:EU", "can see it from x"),
        ("host=a -> vantage=x:tok", "any -> forbid=tok", "forbids all that can see it from x"),
    ],
)
def test_rules_that_contradict_each_other_are_refused_with_both_lines(one: str, other: str, why: str) -> None:
    for text in (f"{one}\n{other}", f"{other}\n{one}"):
        with pytest.raises(InputError, match="contradict each other") as caught:
            Rules.read(text, "rules")
        assert one in str(caught.value)
        assert other in str(caught.value)
        assert why in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "country=DE -> only=fra\ncountry=FR -> forbid=fra",
        "country=DE -> only=fra\nsuffix=.com -> only=tok",
        "any -> only=tag:big\nhost=a -> only=tok",
        "any -> prefer=fra\nany -> forbid=fra",
        "prefix=10.0.0.0/8 -> only=fra\nprefix=11.0.0.0/8 -> only=tok",
        "any -> only=region:EU\nhost=a -> only=country:DE",
    ],
)
def test_rules_that_some_fleet_can_obey_are_accepted(text: str) -> None:
    assert len(Rules.read(text, "rules")) == 2


def test_a_rule_that_forbids_all_it_allows_is_refused() -> None:
    with pytest.raises(InputError, match="it forbids all that it allows"):
        Rules.read("any -> only=fra forbid=fra", "rules")


_crawlers = st.sampled_from(["fra", "ams", "country:JP", "country:DE", "region:eu", "tag:big", "region:asia"])
_conditions = st.sampled_from(
    ["any", "country=DE", "country=DE,FR", "suffix=.de", "suffix=.example.de", "host=www.*"]
)
_then = st.tuples(
    st.sampled_from(["only", "forbid"]), st.lists(_crawlers, min_size=1, max_size=2, unique=True)
)


@given(st.tuples(_conditions, _then), st.tuples(_conditions, _then))
def test_rules_called_contradictory_leave_no_crawler_of_any_fleet(
    one: tuple[str, tuple[str, list[str]]], other: tuple[str, tuple[str, list[str]]]
) -> None:
    lines = [f"{when} -> {verb}={','.join(names)}" for when, (verb, names) in (one, other)]
    rules = [Rules.read(line, "rules").rules[0] for line in lines]
    if contradiction(*rules) is not None:
        (choice,) = choices_of(rules, FLEET)
        assert choice.crawlers == ()
