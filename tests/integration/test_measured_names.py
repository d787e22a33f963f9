"""Host names of a user's measurements, asked of a real DNS server on loopback."""

from __future__ import annotations

from pathlib import Path

from ipmicra.edge.dns.client import DnsConfig
from ipmicra.lab.evaluate.inputs import WorldSource
from tests.servers.dns_server import DnsServer, Zone


def test_names_are_resolved_when_the_user_says_so(tmp_path: Path) -> None:
    path = tmp_path / "pings.csv"
    rows = [
        f"{name},{host},{ms}"
        for host in ("a.example", "gone.example")
        for name, ms in (("fra", 5), ("nyc", 9))
    ]
    path.write_text("\n".join(["crawler,host,rtt", *rows]))
    notes: list[str] = []
    with DnsServer({"a.example": Zone(addresses=("192.0.2.2",))}) as server:
        dns = DnsConfig(servers=(server.place,))
        world = WorldSource(world=path, resolves=True, dns=dns).load([], notes)
    assert [(site.host, str(site.address)) for site in world.sites] == [("a.example", "192.0.2.2")]
    assert any("no address is known" in note and "gone.example" in note for note in notes)
