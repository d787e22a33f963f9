"""Assigning by zones as a user does: agents measure on loopback, and each answer says what it rests on."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, ip_address
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import pytest

from ipmicra.assign.coordinate.space import Space
from ipmicra.assign.overlay.kept import KeptOverlay
from ipmicra.assign.overlay.overlay import Overlay
from ipmicra.edge.loopback.internet import LoopbackInternet
from ipmicra.edge.loopback.loopback_world import LoopbackWorld
from ipmicra.edge.store.store import Store
from ipmicra.model.address import Address
from ipmicra.model.crawler import Capacity, Crawler
from ipmicra.model.location import Location
from ipmicra.model.site import Site
from tests.cli.command_line import built_file, invoked
from tests.delegating_worlds import enrol

STATIONS = {"ams": (0, 0), "fra": (150, 40), "mad": (20, 170), "nyc": (330, 150), "sea": (190, 330)}
"""Where crawlers stand, in milliseconds: more apart than a busy machine adds to a round trip."""
CITIES = {
    "ams": (52.4, 4.9),
    "fra": (50.1, 8.7),
    "mad": (40.4, -3.7),
    "nyc": (40.7, -74.0),
    "sea": (47.6, -122.3),
}
SUBNETS, HELD = 10, 3
"""Subnets with sites, and those of them that were delegated as a whole."""
OVERLAY = "assign overlay"


def address_of(subnet: int, host: int) -> IPv4Address:
    """Return an address of a subnet; none is ever contacted."""
    return IPv4Address(int(IPv4Address("203.0.112.0")) + 8 * subnet + host)


def point_of(subnet: int) -> np.ndarray:
    """Subnet s stands 12 ms from crawler s modulo their number."""
    station = list(STATIONS.values())[subnet % len(STATIONS)]
    turn = 2.4 * subnet
    point: np.ndarray = np.array(station) + 12 * np.array([np.cos(turn), np.sin(turn)])
    return point


def ms_between(one: Any, other: Any) -> float:
    return 5.0 + float(np.linalg.norm(np.asarray(one) - np.asarray(other)))


def plane_world() -> LoopbackWorld:
    """Crawlers and two sites in each subnet on a plane; a third host of each subnet is never listed."""
    crawlers = tuple(
        Crawler(
            name=name,
            address=ip_address(f"198.51.99.{i + 1}"),
            location=Location(latitude=at[1] / 10, longitude=at[0] / 10, radius_km=5.0),
        )
        for i, (name, at) in enumerate(STATIONS.items())
    )
    sites = tuple(Site(str(address_of(s, h)), address_of(s, h)) for s in range(SUBNETS) for h in (1, 2))
    rtt_ms: dict[tuple[str, Address], float] = {}
    for name, at in STATIONS.items():
        for site in sites:
            rtt_ms[name, site.address] = ms_between(at, point_of(subnet_of(site.address)))
        for other in crawlers:
            if other.name != name:
                rtt_ms[name, other.address] = ms_between(at, STATIONS[other.name])
    return LoopbackWorld(crawlers=crawlers, sites=sites, rtt_ms=rtt_ms)


def subnet_of(address: Address) -> int:
    return (int(address) - int(IPv4Address("203.0.112.0"))) // 8


@dataclass
class Prepared:
    """A home folder beside a running world."""

    home: Path
    internet: LoopbackInternet

    def command(self, *words: object, code: int = 0) -> tuple[list[dict[str, Any]], str]:
        result = invoked("--home", self.home, *map(str, words), "--json")
        assert result.exit_code == code, (words, result.output, result.exception)
        return json.loads(result.stdout), result.stderr

    def probing(self) -> list[str]:
        """The words by which the agents are reached; on loopback handshakes take no time."""
        token = self.home / "token"
        token.write_text(self.internet.token)
        return ["--token-file", str(token), "--first-rung", "head", "--samples", "2"]

    def seeds(self, hosts: tuple[int, ...] = (1, 2)) -> list[str]:
        return [f"http://{address_of(s, h)}:{self.internet.port}/" for s in range(SUBNETS) for h in hosts]

    def measure(self) -> str:
        return self.command("crawler", "measure", "--port", self.internet.port, *self.probing())[1]

    def store(self) -> Store:
        return Store.open(str(self.home / "state.db"))


@pytest.fixture(scope="module")
def internet() -> Iterator[LoopbackInternet]:
    with LoopbackInternet(plane_world()) as running:
        yield running


def new_home(folder: Path, internet: LoopbackInternet) -> Prepared:
    """An empty home but for a hierarchy and the fleet."""
    dump = "inetnum: 203.0.0.0 - 203.0.255.255\nnetname: WIDE\nsource: RIPE\n\n" + "".join(
        f"inetnum: {address_of(s, 0)} - {address_of(s, 7)}\nnetname: N{s}\nsource: RIPE\n\n"
        for s in range(SUBNETS)
    )
    built_file(folder, dump, "hierarchy.ipm")
    with Store.open(str(folder / "state.db")) as store:
        enrol(store, list(internet.crawlers.values()))
    return Prepared(folder, internet)


@pytest.fixture(scope="module")
def delegated(tmp_path_factory: pytest.TempPathFactory, internet: LoopbackInternet) -> Prepared:
    """A home whose sites were delegated and whose crawlers measured each other, all by real probes."""
    prepared = new_home(tmp_path_factory.mktemp("delegated"), internet)
    assert prepared.measure().startswith("20 probes: 5 crawlers measure 5")
    prepared.command("delegate", *prepared.seeds(), "--policy", "everyone", *prepared.probing())
    prepared.command("delegate", *prepared.seeds((1,))[:HELD], "--policy", "paper", *prepared.probing())
    return prepared


@pytest.fixture
def copied(delegated: Prepared, tmp_path: Path) -> Prepared:
    """The same in a folder of its own."""
    shutil.copytree(delegated.home, tmp_path / "home")
    return Prepared(tmp_path / "home", delegated.internet)


def mean_ms(rows: list[dict[str, Any]]) -> float:
    world = plane_world()
    return mean(world.rtt_ms[row["crawler"], ip_address(row["address"])] for row in rows)


def nearest(host: str) -> str:
    return list(STATIONS)[subnet_of(ip_address(host)) % len(STATIONS)]


def test_download_times_of_main_pages_can_be_part_of_the_distance(tmp_path: Path) -> None:
    """The crawler with the shortest round trip gets pages slowly: L = RTT + DLT prefers the next one."""
    world = plane_world()
    page_ms: dict[tuple[str, Address], float] = {("ams", address_of(0, 1)): 900.0}
    with LoopbackInternet(replace(world, page_ms=page_ms)) as internet:
        prepared = new_home(tmp_path, internet)
        prepared.measure()
        seed = prepared.seeds((1,))[0]
        samples, _ = prepared.command("probe", seed, "--from", "landmarks", "--download", *prepared.probing())
        timed = {one["crawler"]: one["download_ms"] for one in samples}
        assert timed["ams"] >= 890
        assert max(timed[name] for name in timed if name != "ams") < 500
        (near,), _ = prepared.command("assign", seed, "--backend", "can", "--dry-run")
        (fast,), _ = prepared.command("assign", seed, "--backend", "can", "--download-time", "--dry-run")
    assert near["crawler"] == "ams"
    assert fast["crawler"] != "ams"


# --- one test per row of what went wrong


@pytest.mark.parametrize("backend", ["can", "lbi"])
def test_zones_are_as_near_as_the_delegations_on_the_same_samples(copied: Prepared, backend: str) -> None:
    """Before load counts, which with five crawlers and twenty sites it does not."""
    rows, _ = copied.command("assign", *copied.seeds(), "--backend", backend)
    with copied.store() as store:
        decided = [store.results.latest(row["host"]) for row in rows]
    given = [{"crawler": one.crawler, "address": str(one.address)} for one in decided if one is not None]
    assert len(given) == len(rows) == 20
    assert mean_ms(rows) <= 1.1 * mean_ms(given)
    assert {row["reason"] for row in rows} == {"owner of its zone; by samples of 5 crawlers"}
    by_loop, _ = copied.command("assign", *copied.seeds(), "--backend", backend, "--scheme", "DL")
    assert mean_ms(rows) <= mean_ms(by_loop)
    with copied.store() as store:
        zones = KeptOverlay.from_bytes(store.states.get(OVERLAY) or b"")
    assert zones.overlay.scheme == "DL"


def test_one_site_first_does_not_spoil_the_zones_of_all(copied: Prepared) -> None:
    (only,), _ = copied.command("assign", copied.seeds()[0], "--backend", "can")
    assert only["crawler"] == nearest(only["host"])
    with copied.store() as store:
        space = KeptOverlay.from_bytes(store.states.get(OVERLAY) or b"").overlay.space
    assert np.linalg.norm(space.high - space.low) > 300
    rows, said = copied.command("assign", *copied.seeds(), "--backend", "can")
    assert "anew" not in said
    assert [row["crawler"] for row in rows] == [nearest(row["host"]) for row in rows]


def test_a_space_that_an_earlier_version_spoilt_is_learnt_again(copied: Prepared) -> None:
    """It was learnt from one site and is a ten-thousandth of a millisecond wide."""
    low = np.array([100.0, 100.0, 100.0])
    spoilt = KeptOverlay(Overlay(Space(low=low, high=low + 1e-4), scheme="DL"))
    numbers = spoilt.overlay.join_many(np.array([[*at, 0.0] for at in STATIONS.values()]))
    spoilt.crawlers = dict(zip(STATIONS, numbers.tolist(), strict=True))
    spoilt.sites = {"203.0.112.1": low}
    with copied.store() as store:
        store.states.put(OVERLAY, spoilt.to_bytes(), 1.0)
    rows, said = copied.command("assign", *copied.seeds(), "--backend", "can")
    assert "drawn anew" in said
    assert "earlier version" in said
    assert [row["crawler"] for row in rows] == [nearest(row["host"]) for row in rows]


def test_sites_about_which_nothing_is_known_go_by_load_with_a_warning(copied: Prepared) -> None:
    unknown = [f"9.9.{number}.1" for number in range(60)]
    rows, said = copied.command("assign", *unknown, "--backend", "can")
    assert {row["reason"] for row in rows} == {"unknown where it is: where load is least"}
    assert set(Counter(row["crawler"] for row in rows).values()) == {12}
    assert "60 of 60 are nowhere" in said
    assert "--from landmarks" in said
    again, _ = copied.command("assign", *unknown, "--backend", "can")
    assert [row["crawler"] for row in again] == [row["crawler"] for row in rows]


def test_a_new_host_of_a_delegated_subnet_goes_to_its_holder(copied: Prepared) -> None:
    """By samples of its subnet where enough crawlers took some; else it stands where the holder stands."""
    new = [str(address_of(s, 3)) for s in range(HELD)]
    rows, _ = copied.command("assign", *new, "--backend", "can")
    assert [row["crawler"] for row in rows] == [nearest(row["host"]) for row in rows]
    assert {row["reason"] for row in rows} == {"owner of its zone; by samples of its subnet, of 5 crawlers"}
    with copied.store() as store:
        store.connection.execute("DELETE FROM samples WHERE address >= ?", (packed_prefix(),))
        store.connection.execute("DELETE FROM subnet_trips")
    rows, said = copied.command("assign", *new, "--backend", "can")
    assert [row["crawler"] for row in rows] == [nearest(row["host"]) for row in rows]
    assert rows[1]["reason"] == "owner of its zone; at fra, which holds 203.0.112.8/29"
    assert "3 at the crawler that holds their subnet" in said


def packed_prefix() -> bytes:
    return bytes(10) + b"\xff\xff" + IPv4Address("203.0.112.0").packed


def test_a_crawlers_own_limit_of_pieces_is_obeyed(copied: Prepared) -> None:
    seeds = [str(address_of(0, host)) for host in range(1, 8)]
    free, _ = copied.command("assign", *seeds, "--backend", "lbi", "--dry-run")
    assert {row["crawler"] for row in free} == {"ams"}
    with copied.store() as store:
        for member in store.crawlers.all():
            limited = replace(member.crawler, capacity=Capacity(max_pieces=2))
            store.crawlers.put(replace(member, crawler=limited))
    rows, _ = copied.command("assign", *seeds, "--backend", "lbi")
    held = Counter(row["crawler"] for row in rows)
    assert held["ams"] == 3, "the third one comes while two are held, which is not yet above the limit"
    assert len([row for row in rows if row["reason"].startswith("forwarded from ams")]) == 4
    other, _ = copied.command("assign", *seeds, "--backend", "lbi", "--hops", "0", "--dry-run")
    assert {row["crawler"] for row in other} >= set(held)


def test_a_site_that_was_only_located_stands_by_its_place(copied: Prepared) -> None:
    """Its registration names a country; crawlers have places, and a kilometre takes what they measured."""
    dump = "inetnum: 9.9.0.0 - 9.9.255.255\nnetname: FAR\ncountry: ES\nsource: RIPE\n"
    other = copied.home / "located"
    other.mkdir()
    located = built_file(other, dump)
    with copied.store() as store:
        for member in store.crawlers.all():
            north, east = CITIES[member.crawler.name]
            place = Location(latitude=north, longitude=east, radius_km=5.0)
            store.crawlers.put(replace(member, crawler=replace(member.crawler, location=place)))
    rows, said = copied.command("assign", "9.9.1.1", "--backend", "can", "--hierarchy", located)
    assert rows[0]["reason"] == "owner of its zone; by its place on the map"
    assert rows[0]["expected_ms"] > 0
    assert "1 by their place" in said


def test_explaining_a_site_tells_its_coordinate_its_zone_and_the_forwarding(copied: Prepared) -> None:
    host = str(address_of(1, 1))
    copied.command("assign", host, "--backend", "lbi")
    told = invoked("--home", copied.home, "explain", host).stdout
    assert "Where it stands by network coordinates" in told
    assert "by samples of 5 crawlers." in told
    assert "That is in the zone of fra, by scheme MP: " in told
    assert "An overloaded fra hands sites on to its neighbours: " in told
    result = invoked("--home", copied.home, "explain", host, "--json")
    found = json.loads(result.stdout)["coordinate"]
    assert (found["zone_of"], found["scheme"], len(found["point_ms"])) == ("fra", "MP", 3)


def test_a_few_commands_lead_from_an_empty_home_to_zones(tmp_path: Path, internet: LoopbackInternet) -> None:
    prepared = new_home(tmp_path, internet)
    seeds = prepared.seeds((1,))
    refused = invoked("--home", prepared.home, "assign", *seeds, "--backend", "can")
    assert "`ipmicra crawler measure` orders the probes" in str(refused.exception)
    shown = invoked("--home", prepared.home, "crawler", "measure", "--dry-run")
    assert (shown.exit_code, shown.stdout) == (0, "")
    assert "20 probes: 5 crawlers measure 5" in shown.stderr
    prepared.measure()
    assert prepared.command("crawler", "measure", "--missing", *prepared.probing())[0] == []
    samples, said = prepared.command("probe", *seeds, "--from", "landmarks", *prepared.probing())
    assert "50 probes: 10 addresses from 5 landmarks (ams, fra, mad, nyc, sea)" in said
    assert len(samples) == 50
    for backend in ("can", "lbi", "lbi-rtt", "lbi-split"):
        rows, _ = prepared.command("assign", *seeds, "--backend", backend)
        assert [row["crawler"] for row in rows] == [nearest(row["host"]) for row in rows]
