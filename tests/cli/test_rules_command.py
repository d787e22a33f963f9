"""Rules as an operator writes them: `assign`, `explain`, `rules` and their mistakes."""

from __future__ import annotations

import json
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from ipmicra.edge.store.store import Store
from ipmicra.model.sample import Sample
from ipmicra.model.site import Site
from tests.cli.command_line import invoked

PLACES = {
    "fra": (50.1, 8.7, "DE"),
    "ams": (52.4, 4.9, "NL"),
    "tok": (35.7, 139.7, "JP"),
    "sao": (-23.5, -46.6, "BR"),
}
DUMP = """inetnum: 198.51.100.0 - 198.51.100.127
netname: GERMAN-NET
org: ORG-G1-RIPE
country: DE
source: RIPE

inetnum: 198.51.100.128 - 198.51.100.255
netname: FRENCH-NET
country: FR
source: RIPE

organisation: ORG-G1-RIPE
org-name: Beispiel GmbH
source: RIPE
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a home with four crawlers, a hierarchy and samples; tok is nearest to everything."""
    home = tmp_path_factory.mktemp("home")
    for number, (name, (latitude, longitude, country)) in enumerate(PLACES.items(), 1):
        words = ("crawler", "add", name, f"192.0.2.{number}", "--latitude", str(latitude))
        more = ("--longitude", str(longitude), "--country", country)
        assert invoked("--home", home, *words, *more).exit_code == 0
    dump = home / "dump.txt"
    dump.write_text(DUMP)
    assert invoked("--home", home, "build", dump).exit_code == 0
    with Store.open(str(home / "state.db")) as store:
        sites = [Site(f"s{at}.example", ip_address(f"198.51.100.{at}")) for at in (1, 2, 129, 130)]
        store.sites.put_many(sites, 1.0)
        far = {"tok": 1.0, "fra": 20.0, "ams": 30.0, "sao": 90.0}
        store.samples.add_many(
            Sample(crawler=name, address=site.address, rtt_ms=rtt_ms)
            for site in sites
            for name, rtt_ms in far.items()
        )
    return home


def assigned(home: Path, rules: str, *words: str, code: int = 0) -> list[dict[str, Any]]:
    file = home / "some.rules"
    file.write_text(rules)
    result = invoked(
        "--home", home, "assign", *words, "--rules", file, "--dry-run", "--evenness", "0", "--json"
    )
    assert result.exit_code == code, (result.output, result.exception)
    found: list[dict[str, Any]] = json.loads(result.stdout)
    return found


def test_sites_of_german_holders_are_crawled_from_the_union_only(made: Path) -> None:
    rows = assigned(made, "country=DE -> only=region:EU", "s1.example", "s129.example")
    assert [(row["host"], row["crawler"], row["rule"]) for row in rows] == [
        ("s1.example", "fra", "rule 1"),
        ("s129.example", "tok", None),
    ]


def test_organisations_prefixes_and_preferences_count(made: Path) -> None:
    rules = """organisation="Beispiel GmbH" -> forbid=tok,fra
    prefix=198.51.100.130/32 -> prefer=sao
    """
    rows = assigned(made, rules, "s1.example", "s130.example")
    assert [row["crawler"] for row in rows] == ["ams", "sao"]


def test_a_site_has_an_owner_for_each_vantage_and_keeps_them(made: Path, tmp_path: Path) -> None:
    rules = "host=s1.example -> vantage=japan:country:JP vantage=brazil:country:BR"
    (tmp_path / "rules.txt").write_text(rules)
    for name in ("state.db", "hierarchy.ipm"):
        (tmp_path / name).write_bytes((made / name).read_bytes())
    for _ in range(2):
        rows = json.loads(invoked("--home", tmp_path, "assign", "s1.example", "--json").stdout)
        assert [(row["vantage"], row["crawler"]) for row in rows] == [("japan", "tok"), ("brazil", "sao")]
    with Store.open(str(tmp_path / "state.db")) as store:
        assert [(one.vantage, one.crawler) for one in store.assignments.of("s1.example")] == [
            ("brazil", "sao"),
            ("japan", "tok"),
        ]
    crawled = tmp_path / "crawled.csv"
    crawled.write_text(
        "host,pages,crawled,vantage\ns1.example,7,1700000000,japan\ns1.example,8,1700000000,\n"
    )
    result = invoked("--home", tmp_path, "assign", "--crawled", crawled, "--json")
    assert [(row["vantage"], row["pages"]) for row in json.loads(result.stdout)] == [("japan", 7)]
    assert "it is crawled from brazil, japan: say which vantage" in result.stderr


def test_a_site_that_no_crawler_may_own_is_reported_and_not_dropped(made: Path) -> None:
    rows = assigned(
        made, "suffix=.example country=DE -> only=region:oceania", "s1.example", "s129.example", code=3
    )
    assert [(row["crawler"], row["reason"]) for row in rows] == [
        (None, "rule 1: no crawler of the fleet is left"),
        ("tok", "nearest"),
    ]


def test_without_a_sample_a_crawler_that_is_left_still_gets_the_site(made: Path) -> None:
    (row,) = assigned(made, "any -> only=sao", "198.51.100.77")
    assert row["crawler"] == "sao"


def test_explain_names_the_rule_and_rules_lists_who_is_left(made: Path, tmp_path: Path) -> None:
    file = tmp_path / "site.rules"
    file.write_text("# ours\ncountry=DE -> only=region:EU\nany -> forbid=nobody vantage=far:tok,sao,fra\n")
    told = invoked("--home", made, "explain", "s1.example", "--rules", file).stdout
    assert "line 2: country=DE -> only=region:EU" in told
    assert "Seen from far may belong to fra." in told
    (row,) = json.loads(invoked("--home", made, "rules", "s129.example", "--rules", file, "--json").stdout)
    assert (row["vantage"], row["crawlers"]) == ("far", ["fra", "sao", "tok"])
    listed = json.loads(invoked("--home", made, "rules", "--rules", file, "--json").stdout)
    assert [(one["line"], one["leaves"]) for one in listed] == [
        (2, ["ams, fra"]),
        (3, ["far: fra, sao, tok"]),
    ]


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ("country=DE -> only=fra\ncountry=DE -> only=tok", ("line 1", "line 2", "no crawler can be in both")),
        ("country=DE > only=fra", ("line 1", "expected conditions, one ->")),
    ],
)
def test_rules_that_cannot_be_used_stop_every_command_before_it_begins(
    made: Path, tmp_path: Path, rules: str, words: tuple[str, ...]
) -> None:
    file = tmp_path / "bad.rules"
    file.write_text(rules)
    words_of = ("assign s1.example", "explain s1.example", "rules", "delegate s1.example --dry-run")
    for command in map(str.split, words_of):
        result = invoked("--home", made, *command, "--rules", file)
        assert result.exit_code != 0
        assert all(word in str(result.exception) for word in words)


def test_missing_rules_and_a_missing_hierarchy_are_named(made: Path, tmp_path: Path) -> None:
    assert "there are no rules" in str(invoked("--home", tmp_path, "rules").exception)
    (tmp_path / "rules.txt").write_text("country=DE -> only=fra")
    (tmp_path / "state.db").write_bytes((made / "state.db").read_bytes())
    result = invoked("--home", tmp_path, "assign", "s1.example")
    assert "line 1: country=DE -> only=fra: needs a hierarchy" in str(result.exception)
