"""`ipmicra locate` as a user meets it."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command_line import built_file, invoked, ran, told

DUMP = """inetnum: 10.0.0.0 - 10.255.255.255
netname: WIDE
org: ORG-A1-RIPE
country: NL
source: RIPE

inetnum: 10.1.0.0 - 10.1.0.255
netname: PLACED
country: GR
geoloc: 37.98 23.73
source: RIPE

organisation: ORG-A1-RIPE
org-name: Alpha Carrier
address: Stationsplein 1
address: 1012 AB Amsterdam
address: Netherlands
country: NL
source: RIPE
"""


@pytest.fixture(scope="module")
def hierarchy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_file(tmp_path_factory.mktemp("locate"), DUMP)


def located(*words: str | Path, stdin: str | None = None, exit_code: int = 0) -> list[dict[str, Any]]:
    result = invoked("locate", "--offline", "--json", *words, stdin=stdin)
    assert result.exit_code == exit_code, result.output
    rows: list[dict[str, Any]] = json.loads(result.stdout)
    return rows


def test_json_has_the_promised_keys() -> None:
    (answer,) = located("ae3.fra-core2.example.net")
    assert answer["target"] == "ae3.fra-core2.example.net"
    assert answer["address"] is None
    assert set(answer["location"]) == {"latitude", "longitude", "city", "country", "radius_km"}
    assert (answer["location"]["city"], answer["heuristic"]) == ("Frankfurt am Main", "airport")
    assert answer["votes"][0]["evidence"] == "`fra` in `ae3.fra-core2.example.net`"
    assert answer["struck"] == []
    assert answer["anycast"] is False


def test_name_that_tells_no_place_is_located_nowhere() -> None:
    (answer,) = located("www.example.com")
    assert (answer["location"], answer["heuristic"], answer["votes"]) == (None, None, [])


def test_registered_address_and_position_locate_an_address(hierarchy: Path) -> None:
    wide, placed = located("--hierarchy", hierarchy, "10.7.0.1", "10.1.0.7")
    assert (wide["heuristic"], wide["location"]["city"]) == ("registry", "Amsterdam")
    assert "Alpha Carrier" in wide["votes"][0]["evidence"]
    assert (placed["heuristic"], placed["location"]["latitude"]) == ("known", 37.98)


def test_lacnic_registration_with_owner_and_city_keeps_both_and_is_placed_in_its_city(tmp_path: Path) -> None:
    """The registry leaves out `ownerid` and writes the city into the registration."""
    dump = """inetnum: 10.64.0.0/12
status: allocated
owner: Cooperativa de Ejemplo Ltda.
city: Rosario
country: AR
created: 20010203
changed: 20110405
source: LACNIC

inetnum: 10.64.3.0/24
status: reassigned
owner: Comercio Ejemplar
address: Calle Falsa 123
city: Mendoza
country: AR
source: LACNIC
"""
    path = built_file(tmp_path, dump)
    wide, narrow = located("--hierarchy", path, "10.70.0.1", "10.64.3.9")
    assert (wide["heuristic"], wide["location"]["city"]) == ("registry", "Rosario")
    assert wide["votes"][0]["evidence"] == "address of 10.64.0.0/12: Rosario"
    assert narrow["location"]["city"] == "Mendoza"
    assert wide["location"]["radius_km"] == narrow["location"]["radius_km"] == 100
    (found,) = json.loads(invoked("lookup", "--hierarchy", path, "10.64.3.9", "--json").stdout)
    holders = [subnet["organisation"] for subnet in found["lineage"][1:]]
    assert holders == [
        {"handle": None, "name": "Cooperativa de Ejemplo Ltda."},
        {"handle": None, "name": "Comercio Ejemplar"},
    ]
    assert found["lineage"][-1]["postal_address"] == "Calle Falsa 123, Mendoza"
    (holder,) = json.loads(invoked("org", "--hierarchy", path, "cooperativa", "--json").stdout)
    assert (holder["evidence"], holder["subnet_count"]) == ("owner", 1)


def test_urls_ranges_files_and_standard_input_are_targets(tmp_path: Path, hierarchy: Path) -> None:
    listed = tmp_path / "list.txt"
    listed.write_text("https://cr1.ams2.example.net/page  # a page\n10.1.0.0/24\n")
    rows = located("--hierarchy", hierarchy, listed, "-", stdin="lhr05.example.com\n")
    assert [row["heuristic"] for row in rows] == ["airport", "known", "airport"]
    assert rows[1]["address"] == "10.1.0.0 - 10.1.0.255"


def test_own_table_and_geofeed_count_and_their_bad_rows_are_told(tmp_path: Path) -> None:
    table, feed = tmp_path / "own.csv", tmp_path / "feed.csv"
    table.write_text("192.0.2.1,35.7,139.7,20,Tokyo,JP\n192.0.2.2,99,0\n")
    feed.write_text("198.51.100.0/24,DE,,Berlin,\nbad,DE,,,\n")
    result = invoked(
        "locate", "--offline", "--json", "--table", table, "--geofeed", feed, "192.0.2.1", "198.51.100.9"
    )
    assert result.exit_code == 0
    assert [row["location"]["city"] for row in json.loads(result.stdout)] == ["Tokyo", "Berlin"]
    assert "own.csv, line 2" in result.stderr
    assert "feed.csv, line 2" in result.stderr


def test_samples_strike_what_light_cannot_reach(tmp_path: Path) -> None:
    table, samples, crawlers = (tmp_path / name for name in ("own.csv", "rtt.csv", "crawlers.csv"))
    table.write_text("192.0.2.1,-33.87,151.21,20,Sydney,AU\n")
    samples.write_text(
        "crawler,address,rtt_ms\na,192.0.2.1,2\nb,192.0.2.1,9\nc,192.0.2.1,12\na,192.0.2.1,junk\n"
    )
    crawlers.write_text(
        "name,address,latitude,longitude,country\na,10.0.0.1,52.4,4.9,NL\nb,10.0.0.2,50.1,8.7,DE\nc,10.0.0.3,51.5,-0.1,GB\n"
    )
    (answer,) = located("--table", table, "--samples", samples, "--crawlers", crawlers, "192.0.2.1")
    assert [(one["heuristic"], one["crawler"]) for one in answer["struck"]] == [("known", "a")]
    assert answer["heuristic"] == "latency"
    assert answer["location"]["latitude"] == pytest.approx(52.4, abs=2)


def test_order_of_heuristics_is_the_users(hierarchy: Path, tmp_path: Path) -> None:
    table = tmp_path / "own.csv"
    table.write_text("cr1.fra2.example.net,35.7,139.7\n")
    (answer,) = located("--table", table, "--heuristics", "known,airport", "cr1.fra2.example.net")
    assert [vote["heuristic"] for vote in answer["votes"]] == ["known", "airport"]


def test_tables_give_hits_and_agreement() -> None:
    result = invoked("locate", "--offline", "--json", "--tables", "cr1.fra2.example.net", "www.example.com")
    report = json.loads(result.stdout)
    assert (report["targets"], report["unlocated"]) == (2, 1)
    assert {row["heuristic"]: row["share"] for row in report["hits"]}["airport"] == 0.5
    assert len(report["agreement"]) == 21
    shown = invoked("locate", "--offline", "--format", "table", "--tables", "cr1.fra2.example.net")
    assert "airport" in shown.stdout
    assert "100.0 %" in shown.stdout


def test_scope_of_a_link_local_address_is_left_out() -> None:
    (answer,) = located("fe80::1%eth0")
    assert (answer["target"], answer["address"], answer["location"]) == ("fe80::1%eth0", "fe80::1", None)


def test_csv_has_one_column_a_value() -> None:
    result = invoked("locate", "--offline", "--format", "csv", "cr1.fra2.example.net")
    (row,) = csv.DictReader(result.stdout.splitlines())
    assert (row["city"], row["country"], row["heuristic"]) == ("Frankfurt am Main", "DE", "airport")


def test_table_shows_evidence_for_people() -> None:
    result = invoked("locate", "--offline", "--format", "table", "cr1.fra2.example.net", "www.example.com")
    assert "`fra` in `cr1.fra2.example.net`" in result.stdout
    assert "no vote" in result.stdout


def test_unreadable_target_leaves_the_rest_done_in_part() -> None:
    rows = located("a..b", "cr1.fra2.example.net", exit_code=3)
    assert [row["location"] is None for row in rows] == [True, False]
    assert rows[0]["findings"] == ["the host name has an empty label"]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--heuristics", "gps", "x.example"), "there is no heuristic gps"),
        (("--samples", "nowhere.csv", "x.example"), "--crawlers"),
        (("--table", "nowhere.csv", "x.example"), "there is no file"),
    ],
)
def test_wrong_usage_says_what_is_wrong(words: tuple[str, ...], reason: str) -> None:
    done = ran("locate", "--offline", *words)
    assert done.returncode == 2
    assert reason in told(done)


def test_looking_up_does_not_load_the_tables_of_places(hierarchy: Path) -> None:
    """Start-up counts: `lookup` must not pay for `locate`."""
    code = (
        "import sys; from ipmicra.cli.main import app\n"
        "print([m for m in sys.modules if m.startswith('ipmicra.locate') or m == 'numpy'])"
    )
    import subprocess
    import sys as system

    done = subprocess.run([system.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_votes_are_compared_with_true_places(tmp_path: Path) -> None:
    truth = tmp_path / "true.csv"
    truth.write_text(
        "fra1.example.net,50.1,8.7\nams1.example.net,48.8,2.3\nwww.example.com,1,2\n.example.edu,1,2\n"
    )
    hosts = ("fra1.example.net", "ams1.example.net", "www.example.com", "lhr1.example.net")
    result = invoked("locate", "--offline", "--json", "--tables", "--truth", truth, *hosts)
    assert result.exit_code == 0, result.output
    airport = next(row for row in json.loads(result.stdout)["accuracy"] if row["heuristic"] == "airport")
    assert (airport["right"], airport["wrong"]) == (1, 1)
    assert (airport["precision"], airport["recall"]) == (0.5, 0.3333)
    assert "a whole domain is not used" in result.stderr
    shown = invoked("locate", "--offline", "--format", "table", "--tables", "--truth", truth, *hosts).stdout
    assert "compared with true places" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_true_places_need_the_tables_and_say_when_nothing_is_compared(tmp_path: Path) -> None:
    truth = tmp_path / "true.csv"
    truth.write_text("fra1.example.net,50.1,8.7\n")
    alone = invoked("locate", "--offline", "--truth", truth, "fra1.example.net")
    assert alone.exit_code == 2
    assert "--tables" in alone.stderr
    other = invoked("locate", "--offline", "--json", "--tables", "--truth", truth, "ams1.example.net")
    assert "true place of no target" in other.stderr
    assert json.loads(other.stdout)["accuracy"] == []
