"""Sites that cannot be probed, as a user delegates and explains them: each step of the fallback."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ipmicra.edge.loopback.internet import LoopbackInternet
from ipmicra.edge.loopback.loopback_world import Fault, LoopbackWorld
from ipmicra.edge.store.store import Store
from ipmicra.errors import InputError
from ipmicra.model.location import Location
from tests.cli.command_line import invoked
from tests.delegating_worlds import enrol, hierarchy_of, site_address, split_world
from tests.servers.dns_server import DnsServer, Zone

SITES = 8
ATHENS = Location(latitude=37.98, longitude=23.73, radius_km=5.0, country="GR")
FRANKFURT = Location(latitude=50.11, longitude=8.68, radius_km=5.0, country="DE")
TOKYO = Location(latitude=35.68, longitude=139.69, radius_km=5.0, country="JP")
STANDS = {"c0": ATHENS, "c1": FRANKFURT, "c2": TOKYO}
SHUT = site_address(0)
"""Closes every connection."""
BESIDE = site_address(1)
"""In the same subnet, and open; c0 is the nearest."""
LOC_OF_TOKYO = "35 40 48.000 N 139 41 24.000 E 10m 10m 10000m 10m"
QUICK = ("--first-rung", "head", "--samples", "1", "--policy", "everyone")


def shut_world() -> LoopbackWorld:
    """Give crawlers places, and let the first site hang up on everybody."""
    plain = split_world(SITES, len(STANDS))
    fleet = tuple(replace(one, location=STANDS[one.name]) for one in plain.crawlers)
    return replace(plain, crawlers=fleet, faults={SHUT: Fault.HANGS_UP})


@pytest.fixture(scope="module")
def internet() -> Iterator[LoopbackInternet]:
    with LoopbackInternet(shut_world()) as running:
        yield running


@pytest.fixture
def home(tmp_path: Path, internet: LoopbackInternet, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("IPMICRA_AGENT_TOKEN", internet.token)
    hierarchy_of(tmp_path, SITES)
    renew(tmp_path, internet)
    return tmp_path


def renew(home: Path, internet: LoopbackInternet) -> None:
    """Begin with a store that knows the crawlers and nothing else."""
    (home / "state.db").unlink(missing_ok=True)
    with Store.open(str(home / "state.db")) as store:
        enrol(store, list(internet.crawlers.values()))


def delegated(home: Path, internet: LoopbackInternet, *words: str | Path, host: str = "") -> dict[str, Any]:
    """Delegate the site that cannot be probed; return its row."""
    seed = f"http://{host or SHUT}:{internet.port}/"
    done = invoked("--home", home, "delegate", seed, *QUICK, *words, "--json")
    assert done.exit_code == 0, (done.output, done.exception)
    (row,) = json.loads(done.stdout)
    assert row["probes"] == len(STANDS), "everybody tried"
    return dict(row)


def explained(home: Path, site: str = str(SHUT)) -> tuple[str, list[dict[str, Any]]]:
    text = " ".join(invoked("--home", home, "explain", site).stdout.split())
    return text, json.loads(invoked("--home", home, "explain", site, "--json").stdout)["fallback"]


def test_coordinate_of_its_subnet_decides_about_a_site_before_its_place(
    home: Path, internet: LoopbackInternet
) -> None:
    """The place is Tokyo by a table, next to c2; the samples of a site beside it say c0."""
    table = home / "own.csv"
    table.write_text("target,latitude,longitude\n203.0.112.0/29,35.68,139.69\n")
    words = ("--first-rung", "head", "--samples", "1")
    measured = invoked("--home", home, "crawler", "measure", "--port", str(internet.port), *words)
    assert measured.exit_code == 0, measured.output
    nearby = invoked("--home", home, "probe", f"http://{BESIDE}:{internet.port}/", "--from", "all", *words)
    assert nearby.exit_code == 0, nearby.output
    row = delegated(home, internet, "--table", table)
    assert (row["crawler"], row["evidence"]) == ("c0", "coordinate")
    assert 0 <= row["rtt_ms"] < 100.0, "c1 is a step of 100 ms farther"
    text, steps = explained(home)
    assert [step["step"] for step in steps] == ["coordinate"]
    assert steps[0]["outcome"] == "by samples of its subnet, of 3 crawlers; c0 is the nearest"
    assert steps[0]["expected_ms"] == pytest.approx(row["rtt_ms"], abs=0.001)
    assert "by network coordinates, because it cannot be probed" in text


def test_registration_places_a_site_and_its_answer_carries_an_expected_round_trip(
    home: Path, internet: LoopbackInternet
) -> None:
    row = delegated(home, internet)
    assert (row["crawler"], row["evidence"]) == ("c0", "geolocated")
    assert 4.0 < row["rtt_ms"] < 20.0, "4 ms of access and some 100 km of fibre in Greece"
    text, steps = explained(home)
    assert [step["step"] for step in steps] == ["coordinate", "location"]
    assert "0 of 3 pairs: `ipmicra crawler measure` orders the probes" in steps[0]["outcome"]
    assert steps[1]["expected_ms"] == pytest.approx(row["rtt_ms"], abs=0.001)
    assert "by registry (country GR of 203.0.112.0/29)" in steps[1]["outcome"]
    assert "km away" in steps[1]["outcome"]
    assert (
        f"{SHUT} belongs to c0, {row['rtt_ms']:.1f} ms away as expected, by its geographic location" in text
    )
    assert "Without a sample, step 1, coordinate: coordinates need round trips between the crawlers" in text
    assert "step 2, location: GR, within" in text


def test_table_and_geofeed_of_the_user_place_a_site(home: Path, internet: LoopbackInternet) -> None:
    table, feed = home / "own.csv", home / "feed.csv"
    table.write_text("target,latitude,longitude,radius_km\n203.0.112.0/29,35.68,139.69,20\n")
    feed.write_text("203.0.112.0/29,DE,DE-HE,Frankfurt am Main,\nnonsense,DE,,,\n")
    row = delegated(home, internet, "--table", table)
    assert (row["crawler"], row["evidence"]) == ("c2", "geolocated")
    assert "within 20 km by known" in explained(home)[1][1]["outcome"]
    renew(home, internet)
    row = delegated(home, internet, "--geofeed", feed)
    assert (row["crawler"], row["evidence"]) == ("c1", "geolocated")
    assert "Frankfurt am Main, DE, within 30 km by known" in explained(home)[1][1]["outcome"]


def test_loc_record_and_reverse_name_are_asked_for_by_location_dns_only(
    home: Path, internet: LoopbackInternet, monkeypatch: pytest.MonkeyPatch
) -> None:
    zones = {"shut.example": Zone(addresses=(str(SHUT),), records={"LOC": (LOC_OF_TOKYO,)})}
    with DnsServer(zones) as server:
        monkeypatch.setattr("ipmicra.edge.dns.client.system_servers", lambda: (server.place,))
        plain = delegated(home, internet, host="shut.example")
        assert plain["crawler"] == "c0"
        assert not [kind for _, kind in server.asked_by_kind if kind != "A"]
        renew(home, internet)
        row = delegated(home, internet, "--location", "dns", host="shut.example")
    assert (row["crawler"], row["evidence"]) == ("c2", "geolocated")
    assert row["rtt_ms"] == pytest.approx(4.0, abs=1.0)
    outcome = explained(home, "shut.example")[1][1]["outcome"]
    assert outcome.startswith("35.68, 139.69, within 5 km by loc (LOC record of `shut.example`); c2 is ")


def test_place_in_the_reverse_name_decides(
    home: Path, internet: LoopbackInternet, monkeypatch: pytest.MonkeyPatch
) -> None:
    zones = {SHUT.reverse_pointer: Zone(records={"PTR": ("ae3.fra-core2.de.example.net.",)})}
    with DnsServer(zones) as server:
        monkeypatch.setattr("ipmicra.edge.dns.client.system_servers", lambda: (server.place,))
        row = delegated(home, internet, "--location", "dns")
    assert (row["crawler"], row["evidence"]) == ("c1", "geolocated")
    assert "by airport (`fra` in `ae3.fra-core2.de.example.net`)" in explained(home)[1][1]["outcome"]


def test_dns_is_not_asked_about_sites_that_can_be_probed_and_their_rows_stay_the_same(
    home: Path, internet: LoopbackInternet, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds = [f"http://{site_address(i)}:{internet.port}/" for i in range(2, SITES)]
    words = (str(home), "delegate", *seeds, *QUICK, "--json")
    rows = {}
    with DnsServer({}) as server:
        monkeypatch.setattr("ipmicra.edge.dns.client.system_servers", lambda: (server.place,))
        for source in ("locate", "dns"):
            renew(home, internet)
            found = json.loads(invoked("--home", *words, "--location", source).stdout)
            rows[source] = [(one["host"], one["crawler"], one["evidence"], one["probes"]) for one in found]
        assert not server.asked
    assert sorted(rows["dns"]) == sorted(rows["locate"])
    assert {evidence for *_, evidence, _ in rows["dns"]} == {"probed"}


def test_neighbours_decide_where_no_place_is_known_and_load_where_nothing_is(
    home: Path, internet: LoopbackInternet
) -> None:
    row = delegated(home, internet, "--location", "none")
    assert (row["evidence"], row["rtt_ms"]) == ("inherited", None)
    steps = explained(home)[1]
    assert [step["step"] for step in steps] == ["coordinate", "location", "neighbours"]
    assert steps[1]["outcome"] == "its place is unknown"
    renew(home, internet)
    near = [f"http://{site_address(i)}:{internet.port}/" for i in (2, 4, 6)]
    paper = ("--location", "none", "--policy", "paper")
    done = invoked("--home", home, "delegate", *near, *QUICK, *paper, "--json")
    owners = [one["crawler"] for one in json.loads(done.stdout)]
    row = delegated(home, internet, *paper)
    assert row["evidence"] == "inherited"
    assert owners.count(row["crawler"]) == max(map(owners.count, owners))
    outcome = explained(home)[1][2]["outcome"]
    assert outcome.startswith(f"{row['crawler']} holds {owners.count(row['crawler'])} of 3 delegated subnets")


def test_failing_dns_leaves_the_answer_to_the_other_heuristics(
    home: Path, internet: LoopbackInternet, monkeypatch: pytest.MonkeyPatch
) -> None:
    with DnsServer({SHUT.reverse_pointer: Zone(rcode=2)}) as server:
        monkeypatch.setattr("ipmicra.edge.dns.client.system_servers", lambda: (server.place,))
        row = delegated(home, internet, "--location", "dns")
    assert (row["crawler"], row["evidence"]) == ("c0", "geolocated"), (
        "by its registration, as without the DNS"
    )


def test_system_without_a_dns_server_goes_on_with_the_other_heuristics(
    home: Path, internet: LoopbackInternet, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_servers() -> tuple[tuple[str, int], ...]:
        raise InputError("this system names no DNS server")

    monkeypatch.setattr("ipmicra.edge.dns.client.system_servers", no_servers)
    assert delegated(home, internet, "--location", "dns")["evidence"] == "geolocated"


def test_tables_without_heuristics_are_a_mistake(home: Path, internet: LoopbackInternet) -> None:
    words = ("--home", home, "delegate", str(SHUT), "--table", home / "own.csv", "--location", "none")
    done = invoked(*words)
    assert isinstance(done.exception, InputError)
    assert "--table and --geofeed add to --location locate or dns" in str(done.exception)
