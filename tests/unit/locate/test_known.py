"""Users' tables, geofeeds and registered positions: what is taken over and what is a finding."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from ipmicra.edge.geodata.places import load_gazetteer
from ipmicra.locate.known import KnownTable, read_geofeed, read_geoloc, read_table

TABLE = """target,latitude,longitude,radius_km,city,country
# a comment
192.0.2.0/24,52.37,4.90,20,Amsterdam,NL
192.0.2.128/25,48.86,2.35
2001:db8::/32,1.35,103.8,,Singapore,sg
www.example.org,40.7,-74.0
.example.edu,41.9,12.5
198.51.100.0/24,95,10
198.51.100.0/24,ten,10
198.51.100.0/24,10,10,-3
198.51.100.0/24,10,10,5,X,Narnia
nonsense,10,10
192.0.2.0/24,0,0
"""


def read(text: str = TABLE) -> tuple[KnownTable, dict[str, object]]:
    table = KnownTable()
    domains = read_table(table, text.splitlines(), "own.csv", 50.0)
    return table, dict(domains)


@pytest.mark.parametrize(
    ("address", "latitude"),
    [("192.0.2.1", 52.37), ("192.0.2.200", 48.86), ("2001:db8::7", 1.35), ("203.0.113.1", None)],
)
def test_narrowest_prefix_counts(address: str, latitude: float | None) -> None:
    row = read()[0].of_address(ip_address(address))
    assert (row and row.location.latitude) == latitude


def test_host_names_go_before_addresses_and_domains_become_institutions() -> None:
    table, domains = read()
    hint = table.hint(ip_address("192.0.2.1"), ["www.example.org"])
    assert hint is not None
    assert hint.location.longitude == -74.0
    assert hint.evidence == "`www.example.org` in own.csv, line 6"
    assert list(domains) == ["example.edu"]


def test_bad_rows_are_findings_and_the_rest_counts() -> None:
    findings = read()[0].findings
    for line, reason in [
        (4, "overlaps"), (8, "no coordinates"), (9, "no coordinates"), (10, "no radius"),
        (11, "no country"), (12, "no address"), (13, "listed twice"),
    ]:  # fmt: skip
        assert any(f"line {line}:" in text and reason in text for text in findings), (line, findings)
    assert len(findings) == 7


def test_geofeed_gives_city_region_or_country() -> None:
    table = KnownTable()
    feed = ["# comment", "192.0.2.0/25,DE,DE-BE,Berlin,", "192.0.2.128/26,US,US-CA,,", "192.0.2.192/26,FR,,,"]
    read_geofeed(table, feed, "feed", load_gazetteer())
    berlin, california, france = (table.of_address(ip_address(f"192.0.2.{last}")) for last in (1, 130, 200))
    assert berlin is not None
    assert california is not None
    assert france is not None
    assert berlin.location.city == "Berlin"
    assert (california.location.city, california.location.country) == (None, "US")
    assert california.location.radius_km < france.location.radius_km * 3
    assert france.location.country == "FR"
    assert table.findings == []


def test_geofeed_may_speak_only_for_the_subnet_that_names_it() -> None:
    table = KnownTable()
    within = (ip_address("192.0.2.0"), ip_address("192.0.2.255"))
    feed = [
        "192.0.2.0/25,DE,,Berlin,",
        "198.51.100.0/24,FR,,Paris,",
        "192.0.0.0/16,FR,,Paris,",
        "2001:db8::/32,FR,,,",
    ]
    read_geofeed(table, feed, "https://feed.example", load_gazetteer(), within)
    assert len(table) == 1
    assert [text.split(" lies ")[0].split(": ")[1] for text in table.findings] == [
        "198.51.100.0/24", "192.0.0.0/16", "2001:db8::/32",
    ]  # fmt: skip


@pytest.mark.parametrize("line", ["300.1.2.0/24,DE,,,", "192.0.2.1/24,DE,,,", "192.0.2.0/24,XX,,,", "junk"])
def test_bad_lines_of_a_geofeed_are_findings(line: str) -> None:
    table = KnownTable()
    read_geofeed(table, [line, "203.0.113.0/24,DE,,,"], "feed", load_gazetteer())
    assert len(table) == 1
    assert len(table.findings) == 1


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("37.9 23.7", (37.9, 23.7)),
        ("37.9, 23.7", (37.9, 23.7)),
        ("91 0", None),
        ("north", None),
        ("nan 1", None),
    ],
)
def test_geoloc_is_read_or_refused(text: str, place: tuple[float, float] | None) -> None:
    location = read_geoloc(text, 50.0)
    assert (location and (location.latitude, location.longitude)) == place


def test_a_stray_carriage_return_or_an_endless_line_does_not_stop_a_table() -> None:
    known = KnownTable()
    lines = ["192.0.2.0/24,1,2\r,50,,", "x" * 200_000, "198.51.100.0/24,1,2,50,,"]
    read_table(known, lines, "own.csv", 50.0)
    assert known.of_address(ip_address("198.51.100.7")) is not None
    assert [finding.partition(":")[0] for finding in known.findings] == ["own.csv, line 2"]
