"""Worlds with worse places and a better hierarchy than real ones: what the README compares."""

from __future__ import annotations

import csv
import subprocess
import sys
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.geographic_world import LEVELS, square, squares
from benchmarks.geoip_export import FAR_KM, exported
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.model.geo import km_between
from ipmicra.model.location import Location

DEGREES = st.tuples(st.floats(-89, 89), st.floats(-179, 179))


def run(module: str, *words: str | Path) -> str:
    command = [sys.executable, "-m", module, *map(str, words)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def world(folder: Path) -> Path:
    """Write a world of two crawlers and fifty sites."""
    folder.mkdir()
    rng = np.random.default_rng(3)
    places = [
        (round(north, 3), round(east, 3)) for north, east in rng.uniform((-60, -170), (70, 170), (50, 2))
    ]
    (folder / "crawlers.csv").write_text(
        "name,address,latitude,longitude\nath,192.0.2.1,38,23.7\nnyc,192.0.2.2,40.7,-74\n"
    )
    sites = [f"s{i}.example,198.51.100.{i},{north},{east}\n" for i, (north, east) in enumerate(places)]
    (folder / "sites.csv").write_text("host,address,latitude,longitude\n" + "".join(sites))
    trips = [f"{name},198.51.100.{i},{10 + i}\n" for name in ("ath", "nyc") for i in range(50)]
    (folder / "rtt.csv").write_text("crawler,address,rtt_ms\n" + "".join(trips))
    return folder


@given(st.lists(DEGREES, min_size=30, max_size=60), st.integers(0, 9))
def test_export_is_far_off_for_the_share_of_sites_that_was_asked_for(
    points: list[tuple[float, float]], seed: int
) -> None:
    ends = [(0.0, -90.0), (0.0, 90.0)]  # so that every site has another one far away
    places = [Location(latitude=north, longitude=east, radius_km=1) for north, east in [*points, *ends]]
    found = exported(places, 0.14, np.random.default_rng(seed))
    far = sum(km_between(one, other) > FAR_KM for one, other in zip(places, found, strict=True))
    assert far == round(0.14 * len(places))


def test_export_is_the_same_for_the_same_seed(tmp_path: Path) -> None:
    folder = world(tmp_path / "world")
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        said = run("benchmarks.geoip_export", folder, tmp_path / name, "--seed", str(seed))
        assert "50 places, 7 of them off by more than 500 km" in said
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() != (tmp_path / "c").read_bytes()


@given(DEGREES, DEGREES)
def test_hosts_in_one_square_are_near_each_other(
    one: tuple[float, float], other: tuple[float, float]
) -> None:
    for level in range(1, LEVELS + 1):
        networks = {IPv4Network((square(*place), 2 + 2 * level), strict=False) for place in (one, other)}
        if len(networks) == 1:
            assert abs(one[0] - other[0]) <= 180 / 2**level
            assert abs(one[1] - other[1]) <= 360 / 2**level


@given(st.lists(DEGREES, min_size=1, max_size=20))
def test_every_host_is_in_a_square_and_squares_differ_in_what_they_hold(
    points: list[tuple[float, float]],
) -> None:
    hosts = {IPv4Address(square(*point) + 1) for point in points}
    found = list(squares(hosts))
    held = [frozenset(host for host in hosts if host in network) for network in found]
    assert set().union(*held) == hosts
    assert len(set(held)) == len(held)


def test_geographic_world_keeps_its_round_trips_and_gets_a_deep_hierarchy(tmp_path: Path) -> None:
    folder, new = world(tmp_path / "world"), tmp_path / "new"
    run("benchmarks.geographic_world", folder, new)
    run("ipmicra.cli.main", "build", new / "ripe.db.inetnum", "-o", tmp_path / "new.ipm")
    sites = list(csv.DictReader((new / "sites.csv").read_text().splitlines()))
    trips = list(csv.DictReader((new / "rtt.csv").read_text().splitlines()))
    assert [row["address"] for row in trips[:50]] == [row["address"] for row in sites]
    assert [row["rtt_ms"] for row in trips[:50]] == [str(10 + i) for i in range(50)]
    with Hierarchy.open(tmp_path / "new.ipm") as tree:
        depths = [len(tree.lineage(site["address"])) for site in sites]
    assert min(depths) >= 3
    assert max(depths) >= 4
