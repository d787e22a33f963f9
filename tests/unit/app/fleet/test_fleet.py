"""The fleet as a library."""

from __future__ import annotations

from ipaddress import IPv4Address, ip_address
from pathlib import Path

import pytest

from ipmicra import Crawler, CrawlerState, Fleet, Hierarchy, InputError
from ipmicra.app.describe.fleet import describe_member
from ipmicra.app.fleet.reading import crawler_of, read_agent_url, read_crawlers
from ipmicra.edge.store.ports import StateChange
from ipmicra.edge.store.store import Store
from tests.cli.command_line import built_file


class FakeClock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        self.now_s += 1
        return self.now_s


def crawler(name: str = "ath", address: str = "10.1.2.3") -> Crawler:
    return Crawler(name=name, address=ip_address(address))


@pytest.fixture
def fleet(memory_store: Store) -> Fleet:
    return Fleet(memory_store, clock=FakeClock())


def test_joining_crawler_is_given_the_smallest_subnet_that_holds_it(
    tmp_path: Path, memory_store: Store
) -> None:
    with Hierarchy.open(built_file(tmp_path)) as hierarchy:
        fleet = Fleet(memory_store, hierarchy, FakeClock())
        inner = fleet.add(crawler("a", "10.1.2.3"))
        outer = fleet.add(crawler("b", "10.200.0.1"))
        outside = fleet.add(crawler("c", "203.0.113.1"))
    assert (inner.first, inner.last) == (IPv4Address("10.1.0.0"), IPv4Address("10.1.2.255"))
    assert describe_member(inner)["subnet"] == "10.1.0.0 - 10.1.2.255"
    assert describe_member(outer)["subnet"] == "10.0.0.0/8"
    assert describe_member(outside)["subnet"] is None


def test_crawler_without_a_hierarchy_joins_without_a_subnet(fleet: Fleet) -> None:
    assert fleet.add(crawler()).first is None


def test_name_is_taken_once(fleet: Fleet) -> None:
    fleet.add(crawler())
    with pytest.raises(InputError, match="--replace"):
        fleet.add(crawler())
    replaced = fleet.add(crawler(address="10.9.9.9"), replaces=True)
    assert fleet.get("ath") == replaced
    assert replaced.crawler.joined_s == 101.0


def test_crawler_leaves_and_comes_back(fleet: Fleet) -> None:
    fleet.add(crawler())
    assert fleet.remove("ath").crawler.state is CrawlerState.LEFT
    assert fleet.members() == []
    assert not fleet.mark("ath", CrawlerState.JOINED)
    assert fleet.add(crawler()).crawler.joined_s == 103.0
    assert [change.state.value for change in fleet.history("ath")] == ["joined", "left", "joined"]


def test_agent_that_falls_silent_and_returns_is_in_the_history(fleet: Fleet) -> None:
    fleet.add(crawler())
    assert fleet.mark("ath", CrawlerState.UNREACHABLE)
    assert not fleet.mark("ath", CrawlerState.UNREACHABLE)
    assert [one.crawler.name for one in fleet.members()] == ["ath"]
    assert fleet.mark("ath", CrawlerState.JOINED)
    assert fleet.history("ath") == [
        StateChange(state=CrawlerState.JOINED, at_s=101.0),
        StateChange(state=CrawlerState.UNREACHABLE, at_s=102.0),
        StateChange(state=CrawlerState.JOINED, at_s=104.0),
    ]


def test_unknown_crawler_is_told_with_those_that_are_known(fleet: Fleet) -> None:
    with pytest.raises(InputError, match="ipmicra crawler add"):
        fleet.get("nyc")
    fleet.add(crawler())
    with pytest.raises(InputError, match="there are: ath"):
        fleet.remove("nyc")


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
        found.append(read_crawlers(path))
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
        ("a.csv", "name,address\na,1.2.3\nb,\n", "crawler 1.*crawler 2"),
        ("a.csv", "name,address\na,192.0.2.1\na,192.0.2.2\n", "twice"),
        ("a.csv", "name,address\na,192.0.2.1,more\n", "more cells"),
        ("a.csv", "name,address\n", "no crawlers"),
        ("a.csv", 'name,address\n"a,192.0.2.1\n', "line"),
        ("a.json", "{", "a.json"),
        ("a.json", '{"other": 1}', "expected a list"),
        ("a.json", "[1]", "expected a list"),
        ("a.toml", "name = ", "a.toml"),
        ("a.yaml", "- a", r"\.toml, \.csv and \.json"),
        ("a.json", '[{"name": "a", "address": "192.0.2.1", "place": "x"}]', "unknown: place"),
    ],
)
def test_broken_file_is_refused_whole(tmp_path: Path, name: str, text: str, complaint: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError, match=complaint):
        read_crawlers(path)


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
