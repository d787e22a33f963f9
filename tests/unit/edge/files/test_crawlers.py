"""Lists of crawlers: one reader, strict where a fleet is stored, and the same meaning to every command."""

from __future__ import annotations

import json
from ipaddress import ip_address
from pathlib import Path

import numpy as np
import pytest

from ipmicra.app.describe.fleet import describe_member
from ipmicra.app.fleet.fleet import Fleet
from ipmicra.app.partition.inputs import gather
from ipmicra.app.partition.options import PartitionInputs
from ipmicra.app.report.loaders.problems import Problems
from ipmicra.app.report.loaders.results import ResultFiles
from ipmicra.delegate.replay.world import POINT_RADIUS_KM
from ipmicra.edge.files.crawlers import (
    RADIUS_KM,
    crawler_of,
    import_crawlers,
    read_agent_url,
    read_crawlers,
)
from ipmicra.edge.files.lines import ignore
from ipmicra.edge.files.locations import read_crawler_places
from ipmicra.edge.files.worlds.load import load_world
from ipmicra.edge.store.store import Store
from ipmicra.errors import InputError
from ipmicra.lab.evaluate.inputs import WorldSource
from ipmicra.model.crawler import Crawler
from ipmicra.model.foreign_text import csv_text
from ipmicra.model.location import Location

TOML = """
[[crawler]]
name = "ath"
address = "192.0.2.1"
agent_url = "https://ath.example:8443/"
latitude = 37.9
longitude = 23.7
country = "gr"
labels = { region = "south" }
provider = "example"
bandwidth_mbps = 1000
connections = 20

[[crawler]]
name = "six"
address = "2001:db8::1"
"""
CSV = """name,address,agent_url,latitude,longitude,country,labels,provider,bandwidth_mbps,connections
ath,192.0.2.1,https://ath.example:8443/,37.9,23.7,gr,region=south,example,1000,20
six,2001:db8::1,,,,,,,,
"""
JSON = """[{"name": "ath", "address": "192.0.2.1", "agent_url": "https://ath.example:8443", "latitude": 37.9,
"longitude": 23.7, "country": "GR", "labels": {"region": "south", "provider": "example"},
"bandwidth_mbps": 1000, "connections": 20}, {"name": "six", "address": "2001:db8::1"}]"""


def test_toml_csv_and_json_say_the_same(tmp_path: Path) -> None:
    found = []
    for ending, text in (("toml", TOML), ("csv", CSV), ("json", JSON)):
        path = tmp_path / f"fleet.{ending}"
        path.write_text(text)
        found.append(import_crawlers(path))
    assert found[0] == found[1] == found[2]
    first, second = found[0]
    assert first.agent_url == "https://ath.example:8443"
    assert first.location is not None
    assert (first.location.country, first.location.radius_km) == ("GR", 25.0)
    assert first.labels == {"region": "south", "provider": "example"}
    assert (first.capacity.bandwidth_mbps, first.capacity.connections) == (1000.0, 20)
    assert second == Crawler(name="six", address=ip_address("2001:db8::1"))


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("a.csv", "name,address\na,1.2.3\nb,\n", "line 2: '1.2.3' is no address.*line 3: crawler b has no"),
        ("a.csv", "name,address\na,192.0.2.1\na,192.0.2.2\n", "twice"),
        ("a.csv", "name,address\na,192.0.2.1,more\n", "more cells"),
        ("a.csv", "name,address\n", "no crawlers"),
        ("a.csv", 'name,address\n"a,192.0.2.1\n', "line"),
        ("a.json", "{", "a.json"),
        ("a.json", '{"other": 1}', "no crawlers"),
        ("a.json", "[1]", "no crawlers"),
        ("a.toml", "name = ", "a.toml"),
        ("a.yaml", "- a", "no crawlers"),
        ("a.toml", "crawler = 1", "expected a list"),
        ("a.json", '[{"name": "a", "address": "192.0.2.1", "place": "x"}]', "unknown: place"),
    ],
)
def test_broken_file_is_refused_whole(tmp_path: Path, name: str, text: str, complaint: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError, match=complaint):
        import_crawlers(path)


def test_refusal_names_the_file_once_and_each_mistake_once(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("name,address\na,1.2.3\nb,\nc,192.0.2.1\nc,192.0.2.2\n")
    with pytest.raises(InputError) as refused:
        import_crawlers(path)
    assert str(refused.value).count("a.csv") == 1
    assert str(refused.value).split(": ", 2)[2].split("; line ") == [
        "line 2: '1.2.3' is no address; use the crawler's public address, not a name",
        "5: crawler 'c' is listed twice",
        "3: crawler b has no address; add its public address",
    ]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", "a b"),
        ("name", ""),
        ("address", "ath.example"),
        ("latitude", 37.9),
        ("country", "GR"),
        ("labels", "south"),
        ("labels", 5),
        ("bandwidth_mbps", 0),
        ("bandwidth_mbps", "nan"),
        ("max_pieces", 1.5),
        ("connections", "many"),
    ],
)
def test_field_without_sense_is_refused(field: str, value: object) -> None:
    with pytest.raises(InputError):
        crawler_of({"name": "a", "address": "192.0.2.1", field: value})


@pytest.mark.parametrize(
    "url",
    [
        "ath.example:8443",
        "ftp://a",
        "https://",
        "https://u:p@a",
        "https://a:99999",
        "https://a/?t=1",
        "http://[::1",
    ],
)
def test_agent_url_without_sense_is_refused(url: str) -> None:
    with pytest.raises(InputError):
        read_agent_url(url)


# --- the same to every command

LIST = """\ufeffname;address;latitude;longitude;country;holder;capacity;radius_km
ath;192.0.2.1;37.9;23.7;gr;Example, Ltd;2;
nyc;2001:db8::1;40.7;-74;US;;;300
"""
ATHENS = Location(latitude=37.9, longitude=23.7, radius_km=RADIUS_KM, country="GR")
NEW_YORK = Location(latitude=40.7, longitude=-74.0, radius_km=300.0, country="US")


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    path = tmp_path / "crawlers.csv"
    path.write_text(LIST)
    return path


def test_list_means_the_same_to_every_command(listed: Path, tmp_path: Path) -> None:
    places = {"ath": ATHENS, "nyc": NEW_YORK}
    imported = {one.name: one.location for one in import_crawlers(listed)}
    located = read_crawler_places(listed, [])
    results = tmp_path / "results.csv"
    results.write_text("host,address,crawler\na.example,198.51.100.1,ath\n")
    report = ResultFiles(results=(results,), crawlers=listed, problems=Problems()).load()
    measured = tmp_path / "rtt.csv"
    measured.write_text("crawler,address,rtt_ms\nath,198.51.100.1,5\nnyc,198.51.100.1,90\n")
    world = WorldSource(world=measured, crawlers=listed).load([], [])
    assert imported == places
    assert located == places
    assert {one.name: one.place for one in report.crawlers} == places
    assert {one.name: one.location for one in world.crawlers} == places
    assert [one.address for one in report.crawlers] == [one.address for one in world.crawlers]


def test_partition_reads_the_same_list(listed: Path) -> None:
    with gather(PartitionInputs(seeds=("198.51.100.1", "198.51.100.9"), crawlers=listed)) as gathered:
        crawlers = gathered.problem.crawlers
    assert crawlers.names == ("ath", "nyc")
    assert np.array_equal(crawlers.latitude, [37.9, 40.7])
    assert np.array_equal(crawlers.capacity, [2.0, 1.0])


def test_world_means_points_where_a_list_means_cities(tmp_path: Path) -> None:
    """The published figures of `evaluate` rest on the radius of a world's places."""
    (tmp_path / "crawlers.csv").write_text("name,address,latitude,longitude\nath,192.0.2.1,37.9,23.7\n")
    (tmp_path / "sites.csv").write_text("host,address\na.example,198.51.100.1\n")
    (tmp_path / "rtt.csv").write_text("crawler,address,rtt_ms\nath,198.51.100.1,5\n")
    (crawler,) = load_world(tmp_path, []).crawlers
    (row,) = read_crawlers(tmp_path / "crawlers.csv", ignore)
    assert crawler.location is not None
    assert row.location is not None
    assert (crawler.location.radius_km, row.location.radius_km) == (POINT_RADIUS_KM, RADIUS_KM)


def test_bad_fields_are_findings_and_the_crawler_stays(tmp_path: Path) -> None:
    path = tmp_path / "crawlers.csv"
    path.write_text(
        "name,address,latitude,longitude,country\na,bad,95,5,GRE\n,192.0.2.1,,,\na,192.0.2.2,,,\n"
    )
    findings: list[str] = []
    (row,) = read_crawlers(path, findings.append)
    assert (row.name, row.address, row.location, row.country) == ("a", None, None, None)
    assert [finding.split(", ")[1].split(":")[0] for finding in findings] == ["line 2"] * 3 + [
        "line 3",
        "line 4",
    ]


@pytest.mark.parametrize("form", ["csv", "json", "jsonl"])
def test_printed_fleet_can_be_imported(form: str, tmp_path: Path) -> None:
    """What `crawler list` prints is a list of crawlers."""
    path = tmp_path / "fleet"
    with Store.open("sqlite://") as store:
        fleet = Fleet(store)
        joined = crawler_of({"name": "ath", "address": "192.0.2.1", "latitude": 37.9, "longitude": 23.7})
        fleet.add(joined)
        fleet.add(crawler_of({"name": "six", "address": "2001:db8::1", "labels": "region=south;tier=2"}))
        printed = [describe_member(member) for member in fleet.members()]
        expected = [(one.crawler.name, one.crawler.location, one.crawler.labels) for one in fleet.members()]
    if form == "csv":
        path.write_text(csv_text(list(printed[0]), (one.values() for one in printed)))
    else:
        path.write_text(json.dumps(printed) if form == "json" else "\n".join(map(json.dumps, printed)))
    assert [(one.name, one.location, one.labels) for one in import_crawlers(path)] == expected
