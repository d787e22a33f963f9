"""Worlds made of a user's measurements."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

import numpy as np
import pytest

from ipmicra.delegate.replay.world import World
from ipmicra.edge.files.worlds.load import load_world
from ipmicra.edge.files.worlds.records import WorldFiles
from ipmicra.errors import InputError, WorldError
from ipmicra.model.crawler import Crawler
from ipmicra.model.location import Location

PINGS = """crawler,ip,host,rtt,assigned
fra,9.0.0.1,a.example,5,nyc
nyc,9.0.0.1,a.example,90,nyc
fra,9.0.0.2,,*,
nyc,9.0.0.2,,40,
fra,9.0.0.3,,7,moon
192.0.2.7,9.0.0.1,,60,
fra,,b.example,11,
nyc,,b.example,33,
"""
FLEET = {
    "fra": Crawler(
        name="fra",
        address=IPv4Address("192.0.2.1"),
        location=Location(latitude=50.0, longitude=8.0, radius_km=25.0),
    )
}


def loaded(folder: Path, text: str = PINGS, **files: object) -> tuple[World, list[str]]:
    (folder / "pings.csv").write_text(text)
    notes: list[str] = []
    world = load_world(WorldFiles(world=folder / "pings.csv", **files), [], notes=notes)  # type: ignore[arg-type]
    return world, notes


def test_pairs_that_were_not_measured_are_no_losses(tmp_path: Path) -> None:
    world, notes = loaded(tmp_path)
    assert [one.name for one in world.crawlers] == ["fra", "nyc", "192.0.2.7"]
    assert [site.host for site in world.sites] == ["a.example", "9.0.0.2"]
    np.testing.assert_array_equal(world.rtt_ms, [[5, np.nan], [90, 40], [60, np.nan]])
    assert world.measured is not None
    np.testing.assert_array_equal(world.measured, [[True, True], [True, True], [True, False]])
    np.testing.assert_array_equal(world.pairs_per_site(), [3, 2])
    assert world.today is not None
    np.testing.assert_array_equal(world.today, [1, -1])
    told = "\n".join(notes)
    assert "1 site left out, measured by one crawler only" in told
    assert "use --resolve to ask the DNS, or --sites FILE): b.example" in told
    assert "83 % of the pairs" in told
    assert "moon today, who measured nothing" in told


def test_whole_matrix_is_a_world_like_any_other(tmp_path: Path) -> None:
    world, _ = loaded(tmp_path, "crawler,ip,rtt\nfra,9.0.0.1,5\nnyc,9.0.0.1,9\n")
    assert (world.measured, world.today) == (None, None)


def test_crawlers_have_what_is_known_of_them_and_stand_ins_are_nobodys_neighbours(tmp_path: Path) -> None:
    world, notes = loaded(tmp_path, crawlers=FLEET)
    fra, nyc, addressed = world.crawlers
    assert (fra.address, fra.location) == (FLEET["fra"].address, FLEET["fra"].location)
    assert (nyc.address.is_reserved, nyc.location) == (True, None)
    assert str(addressed.address) == "192.0.2.7"
    assert "2 crawlers are not in the file of crawlers: nyc, 192.0.2.7" in notes


def test_file_of_sites_tells_addresses_and_places(tmp_path: Path) -> None:
    sites = tmp_path / "sites.csv"
    sites.write_text(
        "host,address,latitude,longitude,country\nc.example,9.0.0.4,,,\n"
        "B.example,9.0.0.4,,,\nx,9.0.0.2,1,2,de\nx,no,,,\n"
    )
    world, notes = loaded(tmp_path, sites=sites)
    assert [site.host for site in world.sites] == ["a.example", "x", "b.example"]
    assert world.countries == (None, "DE", None)
    assert world.places[1] is not None
    assert any("no address" in note and "line 5 ('no')" in note for note in notes)


def test_dns_is_asked_only_for_what_no_file_tells(tmp_path: Path) -> None:
    asked: list[str] = []

    def resolve(names: Sequence[str]) -> dict[str, IPv4Address | IPv6Address]:
        asked.extend(names)
        return {"b.example": IPv4Address("9.0.0.5")}

    world, _ = loaded(tmp_path, PINGS + "fra,,c.example,3,\n", resolve=resolve)
    assert asked == ["b.example", "c.example"]
    assert [str(site.address) for site in world.sites] == ["9.0.0.1", "9.0.0.2", "9.0.0.5"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("crawler,host,rtt\nfra,a.example,5\nnyc,a.example,5\n", "--resolve, or name a file of host,address"),
        ("crawler,ip,rtt\nfra,9.0.0.1,5\nfra,9.0.0.2,5\n", "measured by one crawler only"),
        ("crawler,ip,rtt\n", "there are no rows"),
    ],
)
def test_world_that_cannot_be_judged_says_what_to_do(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(WorldError, match=reason):
        loaded(tmp_path, text)


def test_folder_takes_no_second_fleet(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="of its own"):
        load_world(WorldFiles(world=tmp_path, crawlers=FLEET), [])
