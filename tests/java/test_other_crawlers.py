"""Exports, read by the programs that they are for."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ipmicra.app.divert import carry
from ipmicra.app.export.export import ExportRequest, export_files
from ipmicra.app.export.sources import StoreSource
from ipmicra.edge.files.diversions import find_diversions
from ipmicra.edge.store.ports import StorePort
from ipmicra.edge.store.store import Store
from tests.export_worlds import fill
from tests.servers.frontier import FakeAsker, running_proxy
from tests.servers.java import checked, java_words, needs_java

pytestmark = needs_java


@pytest.fixture(scope="module")
def store() -> Iterator[StorePort]:
    with Store.open("sqlite://") as opened:
        fill(opened)
        yield opened


def exported(store: StorePort, program: str, folder: Path) -> Path:
    export_files(StoreSource(store), ExportRequest(program=program), folder)
    return folder


def test_heritrix_maps_urls_to_their_owners(store: StorePort, tmp_path: Path) -> None:
    path = exported(store, "heritrix", tmp_path) / "crawlers.map"
    wanted = {
        "https://a.example/x": "fra",
        "http://a.example:8443/": "fra",
        "http://port.example:8080/y": "fra",
        "http://big.example/news/": "ath",
        "http://example.org/": "ath",
        "http://www.example.org/": "DEFAULT",
        "http://bücher.example/": "nyc",
        "http://192.0.2.50/": "ath",
        "http://192.0.2.50:81/": "ath",
        "http://192.0.2.5/": "DEFAULT",
        "http://many.example/": "DEFAULT",
        "http://zzz.zone/": "DEFAULT",
    }
    found = checked("heritrix", path, stdin="".join(f"{url}\n" for url in wanted))
    assert dict(zip(wanted, (line.split()[0] for line in found), strict=True)) == wanted


def test_heritrix_takes_every_seed_as_its_own(store: StorePort, tmp_path: Path) -> None:
    folder = exported(store, "heritrix", tmp_path)
    for crawler in ("ath", "fra", "nyc"):
        urls = (folder / f"seeds-{crawler}.txt").read_text().splitlines()
        found = checked("heritrix", folder / "crawlers.map", stdin="".join(f"{url}\n" for url in urls))
        assert urls
        assert {line.split()[0] for line in found} == {crawler}


def test_urls_that_heritrix_diverts_are_scheduled_by_another(store: StorePort, tmp_path: Path) -> None:
    path = exported(store, "heritrix", tmp_path / "h") / "crawlers.map"
    lines = [
        "http://example.org/1 LL http://a.example/",
        "http://xn--bcher-kva.example/2 LE http://a.example/",
        "http://a.example/3 L http://a.example/",
        "http://unknown.example/4 L http://a.example/",
        "http://example.org/",
    ]
    folder, action = tmp_path / "diversions", tmp_path / "action"
    action.mkdir()
    stdin = "".join(f"{line}\n" for line in lines)
    checked("heritrix", path, folder, stdin=stdin, source="Divert.java")
    report = carry([folder], {"ath": action, "nyc": action}, None)
    assert report.urls == {"ath": 2, "nyc": 1}
    assert [one.target for one in find_diversions(folder)] == ["DEFAULT"]
    found = [
        line
        for one in sorted(action.glob("*.s.schedule"))
        for line in checked("heritrix", one, source="Divert.java")
    ]
    assert [line.strip() for line in found] == [lines[0], lines[4], lines[1]]


def test_storm_crawler_queues_urls_by_block(store: StorePort, tmp_path: Path) -> None:
    folder = exported(store, "stormcrawler", tmp_path)
    said = checked("stormcrawler", folder / "seeds-fra.txt", folder / "settings-fra.yaml")
    found = [line for line in said if " INFO " not in line]
    assert "https://a.example/ 192.0.2.0/25 fra 192.0.2.0/25" in found
    assert "http://many.example/ 203.0.113.0/24 fra 203.0.113.0/24" in found
    assert found[-1] == "fra"
    assert len(found) == 1 + len((folder / "seeds-fra.txt").read_text().splitlines())


def test_client_of_url_frontier_reads_every_line(store: StorePort, tmp_path: Path) -> None:
    path = exported(store, "urlfrontier", tmp_path) / "urls.jsonl"
    wanted = []
    for line in path.read_text().splitlines():
        info = json.loads(line)["discovered"]["info"]
        subnet = info["metadata"]["subnet"]["values"][0]
        wanted.append(f"{info['url']} {info['key']} {info['crawlID']} {subnet}")
    assert checked("urlfrontier", path) == wanted


def test_client_and_service_of_url_frontiers_api_meet_through_the_proxy(tmp_path: Path) -> None:
    """Both ends are Java with the stubs of the published API; links are stamped with another crawl."""
    asker = FakeAsker()
    asker.owns("a.example", "fra", "192.0.2.0/24")
    asker.owns("b.example", "nyc", "2001:db8::/48")
    urls = ("https://a.example/1", "https://b.example/2", "https://a.example/3")

    async def scenario(port: int) -> list[str]:
        async with running_proxy(port, asker, tmp_path / "held") as one:
            place = f"127.0.0.1:{one.port}"
            return await asyncio.to_thread(lambda: checked("urlfrontier", place, *urls, source="Client.java"))

    with subprocess.Popen(java_words("urlfrontier", "Server.java"), stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        try:
            found = asyncio.run(scenario(int(server.stdout.readline())))
        finally:
            server.kill()
    assert found == [
        *("ack u1 OK", "ack u2 OK", "ack u3 OK"),
        "fra https://a.example/1 192.0.2.0/24 192.0.2.0/24",
        "fra https://a.example/3 192.0.2.0/24 192.0.2.0/24",
        "nyc https://b.example/2 2001:db8::/48 2001:db8::/48",
        "stats fra",
        "INVALID_ARGUMENT name a queue",
    ]
