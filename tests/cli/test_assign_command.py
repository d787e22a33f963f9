"""`ipmicra assign` as a user runs it."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from ipmicra.edge.store.store import Store
from ipmicra.errors import InputError
from ipmicra.model.crawler import Capacity
from ipmicra.model.sample import Loss, Sample
from ipmicra.model.site import Site
from tests.cli.command_line import built_file, invoked

CRAWLERS = {"ath": 10.0, "ber": 50.0, "cdg": 90.0}
"""Where they stand on a line, in milliseconds."""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for number, name in enumerate(CRAWLERS):
        assert invoked("--home", tmp_path, "crawler", "add", name, f"192.0.2.{number + 1}").exit_code == 0
    with Store.open(str(tmp_path / "state.db")) as store:
        sites = [Site(f"s{at}.example", ip_address(f"198.51.100.{at}")) for at in range(1, 100)]
        store.sites.put_many(sites, 1.0)
        store.samples.add_many(
            Sample(crawler=name, address=site.address, rtt_ms=abs(int(site.address) % 256 - 100 - place) + 1)
            for site in sites
            for name, place in CRAWLERS.items()
        )
    return tmp_path


def seeds(count: int) -> list[str]:
    return [f"s{number}.example" for number in range(1, count + 1)]


def rows(home: Path, *words: object, code: int = 0) -> list[dict[str, Any]]:
    result = invoked("--home", home, "assign", *map(str, words), "--json")
    assert result.exit_code == code, (result.output, result.exception)
    content: list[dict[str, Any]] = json.loads(result.stdout)
    return content


def test_sites_get_crawlers_with_reasons_and_a_second_call_changes_nothing(home: Path) -> None:
    found = rows(home, *seeds(30))
    assert {one["crawler"] for one in found} == set(CRAWLERS)
    assert {one["reason"].split(" from")[0] for one in found} == {"nearest", "forwarded"}
    assert [one["crawler"] for one in rows(home, *seeds(30))] == [one["crawler"] for one in found]
    with Store.open(str(home / "state.db")) as store:
        assert len(store.assignments.all()) == 30
        assert store.assignments.of("s1.example")[0].assigned_s > 0


def test_a_crawler_that_left_hands_its_sites_on(home: Path) -> None:
    before = {one["host"]: one["crawler"] for one in rows(home, *seeds(30))}
    assert invoked("--home", home, "crawler", "remove", "ath").exit_code == 0
    after = {one["host"]: one["crawler"] for one in rows(home, *seeds(30))}
    assert "ath" not in after.values()
    assert all(after[host] == name for host, name in before.items() if name != "ath")


def test_a_dry_run_keeps_nothing(home: Path) -> None:
    rows(home, *seeds(3), "--dry-run")
    with Store.open(str(home / "state.db")) as store:
        assert store.assignments.all() == []


def test_pages_and_urls_are_read_from_files(home: Path, tmp_path: Path) -> None:
    pages, urls = tmp_path / "pages.csv", tmp_path / "urls.txt"
    pages.write_text("host,pages\ns2.example,1000000000000\ns3.example,lots\ns4.example,50\n")
    lines = [f"https://s1.example/{name}/{i}" for name in "abcd" for i in range(600)]
    urls.write_text("\n".join(lines))
    result = invoked(
        "--home", home, "assign", *seeds(5), "--pages", pages, "--urls", urls, "--pieces", "2", "--json"
    )
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert [(one["host"], one["piece"]) for one in found[:3]] == [
        ("s1.example", "1/2"),
        ("s1.example", "2/2"),
        ("s2.example", "1/1"),
    ]
    assert found[0]["reason"].startswith("piece 1/2, ")
    assert "2 with a number of pages beyond belief" in result.stderr
    assert "1 without a known number of pages" in result.stderr


def test_crawlers_report_and_what_is_due_is_asked_for(home: Path, tmp_path: Path) -> None:
    """Assigned with an interval, crawled long ago by a file, and due by now."""
    assert {one["step"] for one in rows(home, *seeds(3), "--every", "1d")} == {"submit"}
    assert rows(home, "--due") == []
    path = tmp_path / "crawled.csv"
    path.write_text("host,pages,crawled,started\nold.example,12,1000,900\nbad.example,x,1\n")
    noted = rows(home, "--crawled", path, code=3)
    assert [(one["host"], one["pages"], one["crawls"]) for one in noted] == [("old.example", 12, 1)]
    path.write_text("s1.example,44,9999999999\n")
    found = rows(home, *seeds(2), "--crawled", path)
    assert [(one["pages"], one["state"]) for one in found] == [(44, "idle"), (None, "queued")]


def test_a_schedule_that_makes_no_sense_is_told_with_the_next_step(home: Path, tmp_path: Path) -> None:
    for words, told in (
        ((), "--due"),
        (("s1.example", "--every", "often"), "12h"),
        (("--crawled", tmp_path / "none.csv"), "there is no file"),
        (("--crawled", tmp_path / "none.csv", "--dry-run"), "exclude"),
    ):
        result = invoked("--home", home, "assign", *map(str, words))
        assert isinstance(result.exception, InputError)
        assert told in str(result.exception)


def test_zones_are_kept_in_the_store_and_damaged_ones_are_drawn_anew(home: Path) -> None:
    """A crawler leaves a fleet of five whose crawlers measured each other, and then the saved zones rot."""
    places = CRAWLERS | {"dub": 30.0, "edi": 70.0}
    for number, name in enumerate(places):
        invoked("--home", home, "crawler", "add", name, f"192.0.2.{number + 1}")
    with Store.open(str(home / "state.db")) as store:
        store.samples.add_many(
            Sample(
                crawler=one, address=ip_address(f"192.0.2.{number + 1}"), rtt_ms=abs(places[one] - place) + 1
            )
            for number, place in enumerate(places.values())
            for one in places
        )
    before = {one["host"]: one["crawler"] for one in rows(home, *seeds(60), "--backend", "can")}
    invoked("--home", home, "crawler", "remove", "ath")
    after = {one["host"]: one["crawler"] for one in rows(home, *seeds(60), "--backend", "can")}
    assert {before[host] for host in before if before[host] != after[host]} == {"ath"}
    with Store.open(str(home / "state.db")) as store:
        store.states.put("assign overlay", b"rot", 1.0)
    result = invoked("--home", home, "assign", *seeds(60), "--backend", "can", "--json")
    assert result.exit_code == 0
    assert "computed again" in result.stderr


def test_a_table_is_for_people(home: Path) -> None:
    result = invoked("--home", home, "assign", "s1.example", "--format", "table")
    assert result.exit_code == 0
    assert "nearest" in result.stdout


def test_a_seed_that_is_no_host_is_told_and_the_rest_is_done(home: Path) -> None:
    result = invoked("--home", home, "assign", "s1.example", "not a host", "--json")
    assert result.exit_code == 3
    assert len(json.loads(result.stdout)) == 1
    assert "not a host" in result.stderr


def test_mistakes_are_told_with_the_next_step(home: Path, tmp_path: Path) -> None:
    for words, told in (
        (("--backend", "magic"), "lbi-split"),
        (("--backend", "can"), "ipmicra crawler measure"),
        (("--backend", "can", "--scheme", "XX"), "MP_30_NH"),
        (("--scheme", "MP"), "--backend can"),
        (("--backend", "can", "--overload", "5"), "--backend lbi"),
        (("--pages", tmp_path / "none.csv"), "there is no file"),
        (("--urls", tmp_path / "none.txt"), "there is no file"),
    ):
        result = invoked("--home", home, "assign", "s1.example", *map(str, words))
        assert isinstance(result.exception, InputError)
        assert told in str(result.exception)
    empty = invoked("--home", tmp_path / "new", "assign", "192.0.2.9")
    assert "ipmicra crawler add" in str(empty.exception)


def test_without_capacity_nobody_gets_anything_and_it_is_told(home: Path) -> None:
    with Store.open(str(home / "state.db")) as store:
        for member in store.crawlers.all():
            store.crawlers.put(
                replace(member, crawler=replace(member.crawler, capacity=Capacity(connections=0)))
            )
    result = invoked("--home", home, "assign", "s1.example", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)[0]["reason"] == "no crawler has any capacity"
    assert "without capacity" in result.stderr


def test_with_a_hierarchy_crawlers_that_never_probed_a_site_are_considered(
    home: Path, tmp_path: Path
) -> None:
    """All samples are of one crawler; by their places the others are known to be nearer to half the sites."""
    other = tmp_path / "other"
    other.mkdir()
    built_file(other, "inetnum: 198.51.100.0 - 198.51.100.255\ncountry: GR\nsource: RIPE\n", "hierarchy.ipm")
    for number, name in enumerate(CRAWLERS, 1):
        words = (
            "crawler",
            "add",
            name,
            f"192.0.2.{number}",
            "--latitude",
            str(37 + number),
            "--longitude",
            "23",
        )
        assert invoked("--home", other, *words).exit_code == 0
    with Store.open(str(other / "state.db")) as store:
        sites = [Site(f"s{at}.example", ip_address(f"198.51.100.{at}")) for at in range(1, 31)]
        store.sites.put_many(sites, 1.0)
        now_s = time.time()
        store.samples.add_many(
            Sample(crawler="ath", address=site.address, rtt_ms=9.0, taken_s=now_s) for site in sites
        )
        lost = Sample(crawler="ber", address=sites[0].address, rtt_ms=None, loss=Loss.TIMEOUT, taken_s=now_s)
        store.samples.add_many([lost])
    found = rows(other, *seeds(30))
    assert {one["crawler"] for one in found} == set(CRAWLERS)
    assert all(one["expected_ms"] > 0 for one in found)
    assert found[0]["crawler"] != "ber", "its probe was lost"
    alone = invoked("--home", other, "assign", *seeds(30), "--json", "--hierarchy", other / "none.ipm")
    assert alone.exit_code != 0, "a hierarchy that is named must be there"
    (other / "hierarchy.ipm").unlink()
    without = invoked("--home", other, "assign", *seeds(30), "--json", "--dry-run")
    assert "with a hierarchy (`ipmicra build`)" in without.stderr


def test_a_delegation_by_hash_leaves_a_site_as_located_as_before(tmp_path: Path) -> None:
    """Nobody located it then: that it has no location there does not mean that it has none."""
    hierarchy = built_file(tmp_path)
    for name, latitude, longitude in (("ath", "37.98", "23.73"), ("syd", "-33.87", "151.21")):
        place = ("--latitude", latitude, "--longitude", longitude)
        assert invoked("--home", tmp_path, "crawler", "add", name, "192.0.2.1", *place).exit_code == 0
    words = ("10.0.0.7", "--hierarchy", str(hierarchy))
    before = rows(tmp_path, *words, "--dry-run")
    assert before[0]["expected_ms"] is not None
    assert invoked("--home", tmp_path, "delegate", *words, "--policy", "hash").exit_code == 0
    assert rows(tmp_path, *words, "--dry-run") == before


# --- nearness against load


def mean_ms(found: list[dict[str, Any]]) -> float:
    return float(sum(one["expected_ms"] for one in found)) / len(found)


def busiest(found: list[dict[str, Any]]) -> int:
    names = [one["crawler"] for one in found]
    return max(names.count(name) for name in CRAWLERS)


def test_evenness_goes_from_equal_load_to_the_nearest_crawlers_and_says_what_it_costs(home: Path) -> None:
    even = rows(home, *seeds(30), "--dry-run")
    half = rows(home, *seeds(30), "--dry-run", "--evenness", "0.5")
    near = rows(home, *seeds(30), "--dry-run", "--evenness", "0")
    assert (busiest(even), busiest(half), busiest(near)) == (10, 21, 30)
    assert mean_ms(even) > mean_ms(half) > mean_ms(near)
    assert {one["reason"] for one in near} == {"nearest"}
    said = invoked("--home", home, "assign", *seeds(30), "--dry-run", "--evenness", "0.5").stderr
    for evenness, found, share in ((0.5, half, "2.10"), (0, near, "3.00"), (1, even, "1.00")):
        figures = f"mean round trip {mean_ms(found):.0f} ms, busiest crawler {share} of its share"
        assert any(
            line.startswith(f"evenness {evenness:g} (") and figures in line for line in said.splitlines()
        )


def test_an_evenness_is_valid_until_it_is_changed_and_another_one_assigns_anew(home: Path) -> None:
    even = rows(home, *seeds(30))
    near = rows(home, *seeds(30), "--evenness", "0")
    assert (busiest(even), busiest(near)) == (10, 30)
    assert [one["crawler"] for one in rows(home, *seeds(30))] == [one["crawler"] for one in near]
    assert busiest(rows(home, *seeds(40))) == 40
    back = rows(home, *seeds(40), "--evenness", "1")
    assert busiest(back) <= 14


def test_a_dry_run_does_not_keep_its_evenness(home: Path) -> None:
    rows(home, *seeds(30), "--evenness", "0", "--dry-run")
    assert busiest(rows(home, *seeds(30))) == 10


def test_a_damaged_evenness_in_the_store_is_told_and_the_default_is_used(home: Path) -> None:
    with Store.open(str(home / "state.db")) as store:
        store.states.put("assign evenness", b"7", 1.0)
        store.states.put("assign trade", b"{rot", 1.0)
    result = invoked("--home", home, "assign", *seeds(30), "--json")
    assert "evenness kept in the store is damaged: 1 is used" in result.stderr
    assert busiest(json.loads(result.stdout)) == 10


def test_sites_without_a_sample_even_the_load_out_by_every_evenness(home: Path) -> None:
    with Store.open(str(home / "state.db")) as store:
        store.sites.put_many([Site(f"new{n}.example", ip_address(f"203.0.113.{n}")) for n in range(30)], 1.0)
    found = rows(home, *(f"new{number}.example" for number in range(30)), "--evenness", "0")
    assert busiest(found) == 10
    assert {one["reason"] for one in found} == {"no sample: where room is"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--evenness", "1.5"], "range"),
        (["--evenness", "much"], "float"),
        (["--evenness", "0.5", "--backend", "lbi"], "evenness is an option of balance"),
    ],
)
def test_an_evenness_that_makes_no_sense_is_refused(home: Path, words: list[str], message: str) -> None:
    result = invoked("--home", home, "assign", "s1.example", *words)
    assert result.exit_code != 0
    assert message in str(result.exception) + result.output


def test_the_report_of_a_home_shows_the_curve_of_the_last_assign(home: Path, tmp_path: Path) -> None:
    rows(home, *seeds(30), "--evenness", "0.5")
    page = tmp_path / "report.html"
    assert invoked("--home", home, "report", "-o", page).exit_code == 0
    text = page.read_text()
    assert "Nearness against load" in text
    assert "30 sites, by expected round trips" in text
    assert "evenness 0.9: mean round trip" in text
