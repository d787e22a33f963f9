"""Where something is: geofeeds, tables of known places, host names and LOC records."""

from __future__ import annotations

from ipaddress import IPv4Address

from ipmicra.edge.files.seeds import host_name
from ipmicra.edge.geodata.places import load_gazetteer, load_registered_domain
from ipmicra.locate.known import KnownTable, read_geofeed, read_geoloc, read_table
from tests.fuzz.target import target

GAZETTEER = load_gazetteer()
WITHIN = IPv4Address("192.0.2.0"), IPv4Address("192.0.2.255")


@target("geofeeds", longest=112)
def read_feed(data: bytes) -> None:
    """What a feed says holds inside the range that names it, and nowhere else."""
    table = KnownTable()
    read_geofeed(table, data.decode("utf-8", "replace").splitlines(), "feed", GAZETTEER, WITHIN)
    assert table.of_address(IPv4Address("192.0.3.0")) is None


@target("known-places", longest=112)
def read_known(data: bytes) -> None:
    """Every place of a table is one on Earth."""
    table, text = KnownTable(), data.decode("utf-8", "replace")
    read_table(table, text.splitlines(), "table", 5.0)
    read_geoloc(text, 5.0)
    row = table.of_address(IPv4Address("192.0.2.1"))
    assert row is None or abs(row.location.latitude) <= 90


@target("domains", longest=256)
def find_domain(data: bytes) -> None:
    """A registered domain ends the name that it is found in, and is its own."""
    name, find = host_name(data.decode("utf-8", "replace")), load_registered_domain()
    found = find(name) if name else None
    if name and found:
        assert name == found or name.endswith(f".{found}")
        assert find(found) == found
