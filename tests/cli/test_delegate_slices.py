"""A wide subnet whose sites are in two places, delegated with real agents."""

from __future__ import annotations

import json
from collections.abc import Iterator
from ipaddress import IPv4Address, ip_address
from pathlib import Path

import pytest

from ipmicra.edge.loopback.internet import LoopbackInternet
from ipmicra.edge.loopback.loopback_world import LoopbackWorld
from ipmicra.edge.store.store import Store
from ipmicra.model.crawler import Crawler
from ipmicra.model.site import Site
from tests.cli.command_line import built_file, invoked
from tests.delegating_worlds import enrol

QUICK = ("--first-rung", "head", "--samples", "2", "--location", "none")
WIDE = "inetnum: 203.0.112.0 - 203.0.127.255\nnetname: HOSTING\ncountry: GR\nsource: RIPE\n\n"
NEAREST = {"203.0.112.9": "c0", "203.0.113.9": "c1", "203.0.113.77": "c1"}


@pytest.fixture(scope="module")
def internet() -> Iterator[LoopbackInternet]:
    fleet = tuple(Crawler(name=f"c{i}", address=ip_address(f"198.51.99.{i + 1}")) for i in range(2))
    sites = tuple(Site(text, IPv4Address(text)) for text in NEAREST)
    rtt_ms = {
        (one.name, site.address): 4.0 if NEAREST[site.host] == one.name else 150.0
        for one in fleet
        for site in sites
    }
    with LoopbackInternet(LoopbackWorld(crawlers=fleet, sites=sites, rtt_ms=rtt_ms)) as running:
        yield running


@pytest.fixture
def home(tmp_path: Path, internet: LoopbackInternet, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("IPMICRA_AGENT_TOKEN", internet.token)
    built_file(tmp_path, WIDE, "hierarchy.ipm")
    with Store.open(str(tmp_path / "state.db")) as store:
        enrol(store, list(internet.crawlers.values()))
    return tmp_path


def test_sites_of_one_wide_subnet_in_two_places_get_a_crawler_each_and_explain_says_why(
    home: Path, internet: LoopbackInternet
) -> None:
    seeds = [f"http://{host}:{internet.port}/" for host in NEAREST]
    done = invoked("--home", home, "delegate", *seeds, *QUICK, "--json")
    assert done.exit_code == 0, done.output
    rows = {row["host"]: row for row in json.loads(done.stdout)}
    assert {host: row["crawler"] for host, row in rows.items()} == NEAREST
    assert {row["subnet"] for row in rows.values()} == {"203.0.112.0/24", "203.0.113.0/24"}
    assert sum(row["probes"] for row in rows.values()) <= 4  # the third site shares the second's slice
    told = " ".join(invoked("--home", home, "explain", "203.0.113.9").stdout.split())
    assert "good for its slice of the subnet" in told
