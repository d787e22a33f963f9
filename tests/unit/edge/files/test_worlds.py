"""Worlds on disk: what is read, what becomes a finding, what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ipmicra.edge.files.worlds.load import load_world, save_world
from ipmicra.edge.geodata.countries import country_middles
from ipmicra.errors import WorldError
from ipmicra.lab.worlds.synthetic import WorldPlan, invent

FILES = {
    "crawlers.csv": "name,address,latitude,longitude,country\na,192.0.2.1,52,4,nl\nb,192.0.2.2,,,\n",
    "sites.csv": "host,address,latitude,longitude,country,pages\ns0,10.0.0.1,48,2,FR,7\ns1,2001:db8::1,,,,\n",
    "rtt.csv": "crawler,address,rtt_ms\na,10.0.0.1,9.5\nb,10.0.0.1,7\na,2001:db8::1,3\n",
}


def world_folder(folder: Path, **changed: str) -> Path:
    for name, text in FILES.items():
        (folder / name).write_text(changed.get(name.removesuffix(".csv"), text), encoding="utf-8")
    return folder


def test_world_is_read_with_places_and_lost_pairs(tmp_path: Path) -> None:
    findings: list[str] = []
    world = load_world(world_folder(tmp_path), findings)
    assert findings == []
    assert [one.name for one in world.crawlers] == ["a", "b"]
    assert world.crawlers[1].location is None
    assert world.countries == ("FR", None)
    np.testing.assert_array_equal(world.rtt_ms, [[9.5, 3.0], [7.0, np.nan]])
    np.testing.assert_array_equal(world.nearest_ms(), [7.0, 3.0])
    assert repr(world) == f"<World {tmp_path.name}: 2 crawlers, 2 sites>"


@pytest.mark.parametrize(
    ("file", "row", "finding"),
    [
        pytest.param("crawlers", "a,192.0.2.9,,,", "is listed twice", id="crawler twice"),
        pytest.param("crawlers", ",192.0.2.9,,,", "without a name", id="crawler without a name"),
        pytest.param("crawlers", "c,192.0.2.999,,,", "is no address", id="no address"),
        pytest.param("crawlers", "c,192.0.2.9,95,4,", "latitude '95'", id="no place"),
        pytest.param("sites", "again,10.0.0.1,,,,", "10.0.0.1 is there already", id="site twice"),
        pytest.param("rtt", "z,10.0.0.1,3", "no crawler z", id="strange crawler"),
        pytest.param("rtt", "a,10.9.9.9,3", "no site at 10.9.9.9", id="strange site"),
        pytest.param("rtt", "a,10.0.0.1,soon", "'soon' is no round trip", id="no number"),
        pytest.param("rtt", "a,10.0.0.1,-1", "'-1' is no round trip", id="below nil"),
        pytest.param("rtt", "a,10.0.0.1,nan", "'nan' is no round trip", id="not a number"),
        pytest.param("rtt", "a", "is no address", id="cut short"),
    ],
)
def test_row_without_sense_becomes_a_finding_with_its_line(
    tmp_path: Path, file: str, row: str, finding: str
) -> None:
    findings: list[str] = []
    text = FILES[f"{file}.csv"] + row + "\n"
    world = load_world(world_folder(tmp_path, **{file: text}), findings)
    assert len(findings) == 1
    assert findings[0].startswith(f"{file}.csv, line {len(text.splitlines())}: ")
    assert finding in findings[0]
    np.testing.assert_array_equal(world.rtt_ms[:2, 0], [9.5, 7.0])


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"crawlers": "name,address\n"}, "no usable crawler"),
        ({"sites": "host,address\n"}, "no usable site"),
        ({"rtt": "crawler,address,rtt_ms\n"}, "no usable round trip"),
        ({"rtt": "crawler,rtt_ms\n"}, "lacks the columns address"),
        ({"sites": ""}, "lacks the columns address, host"),
    ],
)
def test_world_without_substance_is_refused(tmp_path: Path, changed: dict[str, str], reason: str) -> None:
    with pytest.raises(WorldError, match=reason):
        load_world(world_folder(tmp_path, **changed), [])


def test_missing_folder_and_missing_file_are_named(tmp_path: Path) -> None:
    with pytest.raises(WorldError, match=r"a folder with crawlers\.csv"):
        load_world(tmp_path / "nowhere", [])
    (world_folder(tmp_path) / "rtt.csv").unlink()
    with pytest.raises(WorldError, match=r"rtt\.csv is missing"):
        load_world(tmp_path, [])


def test_middle_of_a_country_is_where_its_people_are() -> None:
    middles = country_middles()
    assert len(middles) > 200
    assert abs(middles["DE"].latitude - 51) < 1
    assert abs(middles["DE"].longitude - 10) < 1
    assert middles["LU"].radius_km < middles["FR"].radius_km < middles["US"].radius_km


def test_world_that_is_saved_is_read_as_it_was(tmp_path: Path) -> None:
    world, _tree = invent(WorldPlan(crawlers=3, sites=20, subnets=10, loss=0.2), np.random.default_rng(5))
    save_world(world, tmp_path / "new" / "world", range(1, 21))
    findings: list[str] = []
    again = load_world(tmp_path / "new" / "world", findings)
    assert not findings
    assert again.sites == world.sites
    assert [one.name for one in again.crawlers] == [one.name for one in world.crawlers]
    assert again.places == world.places
    assert again.countries == world.countries
    np.testing.assert_allclose(again.rtt_ms, world.rtt_ms, atol=6e-4)
