"""`ipmicra crawl` with a coordinator: two nodes, each with its own sites, hand links over."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path

import pytest

from ipmicra.app.home import Home
from ipmicra.model.assignment import Assignment
from ipmicra.model.crawler import Crawler
from tests.cli.command_line import ROOT, ran, told
from tests.crawl_worlds import QUICK, LoopbackWeb, loopback_web
from tests.delegating_worlds import enrol, hierarchy_of
from tests.loopback_worlds import address_of
from tests.patience import PATIENCE_S, wait_until
from tests.servers.coordinator import RunningCoordinator
from tests.servers.loopback_web import Page
from tests.servers.loopback_web import loopback_web as trap_web

pytestmark = pytest.mark.slow
OWNERS = {"s0.example": "ath", "s1.example": "nyc", "s2.example": "ath"}


def home_with_sites(folder: Path) -> Home:
    """Write a coordinator's home: two crawlers, and three sites assigned to them."""
    folder.mkdir()
    hierarchy_of(folder, 2)
    home = Home(folder=folder)
    with home.open_store() as store:
        enrol(store, [Crawler(name=name, address=ip_address("198.51.99.1")) for name in ("ath", "nyc")])
        store.assignments.put_many(
            Assignment(
                host=host,
                address=address_of(number * 256),
                crawler=crawler,
                reason="nearest",
                backend="balance",
                assigned_s=1.0,
            )
            for number, (host, crawler) in enumerate(OWNERS.items())
        )
    return home


def words_of(web: LoopbackWeb, box: RunningCoordinator, crawler: str, seeds: Sequence[int]) -> list[str]:
    """Return the words of a node that knows the coordinator's URL and token, and nothing of its home."""
    token = web.folder / "operator.token"
    token.write_text(box.token)
    where = ["--coordinator", box.url, "--coordinator-token", str(token)]
    return [*where, *web.words(*seeds, crawler=crawler), "--crawler", crawler]


def started(words: Sequence[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "ipmicra", *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_two_nodes_fetch_the_whole_web_from_one_seed(tmp_path: Path) -> None:
    """Only ath has a seed; what nyc fetches was handed over, and the end is detected by itself."""
    home = home_with_sites(tmp_path / "coordinator")
    with (
        loopback_web(tmp_path, replace(QUICK, leaving=0.5)) as web,
        RunningCoordinator(home.folder) as box,
    ):
        nodes = [started(words_of(web, box, "ath", [0])), started(words_of(web, box, "nyc", []))]
        outputs = [node.communicate(timeout=PATIENCE_S) for node in nodes]
        for node, (_, said) in zip(nodes, outputs, strict=True):
            assert node.returncode == 0, said
        assert {(hit.crawler, hit.host) for hit in web.hits} == {
            (name, host) for host, name in OWNERS.items()
        }
        counts = Counter(web.pages)
        assert Counter(host for host, _ in counts) == dict(QUICK.pages)
        assert max(counts.values()) == 1
        statuses = [json.loads(text) for text, _ in outputs]
        assert [one["state"] for one in statuses] == ["finished", "finished"]
        assert statuses[0]["sent"] > 0
        where = ("--coordinator", box.url, "--coordinator-token", web.folder / "operator.token")
        done = ran(*where, "crawl", "--status", "--json")
        assert done.returncode == 0, told(done)
        rows = json.loads(done.stdout)
        assert {row["state"] for row in rows} == {"ended"}
        assert min(row["crawl_pages"] for row in rows) >= len(counts)  # robots.txt counts, too
        assert {"held", "pages_per_s", "foreign_links", "duplicates_avoided"} <= rows[0].keys()
        shown = ran(*where, "crawl", "--status", "-f", "table").stdout.decode()
        assert f"{rows[0]['links']['done']:,} done" in shown


def test_killed_node_of_a_shared_crawl_loses_nothing(tmp_path: Path) -> None:
    home = home_with_sites(tmp_path / "coordinator")
    plan = replace(QUICK, pages={"s0.example": 60, "s1.example": 40, "s2.example": 30}, wait_ms=20.0)
    with loopback_web(tmp_path, plan) as web, RunningCoordinator(home.folder) as box:
        other = started(words_of(web, box, "nyc", [1]))
        first = started(words_of(web, box, "ath", [0, 2]))
        wait_until(lambda: len(web.pages) > 40 or first.poll() is not None, "pages arrive")
        first.kill()
        first.communicate()
        again = started(words_of(web, box, "ath", [0, 2]))
        for node in (again, other):
            _, said = node.communicate(timeout=PATIENCE_S)
            assert node.returncode == 0, said
        counts = Counter(web.pages)
        assert Counter(host for host, _ in counts) == plan.pages
        recorded = Counter(
            row["url"]
            for name in ("ath", "nyc")
            for row in web.rows(f"{name}-0001-pages.csv", name)
            if row["status"] == "200" and not row["url"].endswith("sitemap.xml")
        )
        assert len(recorded) == sum(plan.pages.values()), "what was reported as finished is in the tables"


def test_node_refuses_private_links_that_a_hostile_node_sends_it(tmp_path: Path) -> None:
    """They are refused, named and finished: the crawl ends, and nothing arrives at their address."""
    home, trap_host = home_with_sites(tmp_path / "coordinator"), "127.0.0.3"
    with home.open_store() as store:
        own = store.assignments.of("s2.example")
        store.assignments.put_many(replace(one, host=trap_host, address=ip_address(trap_host)) for one in own)
    with (
        trap_web(lambda _host, _path: Page(), trap_host) as trap,
        RunningCoordinator(home.folder) as box,
    ):
        joined = {"version": 1, "node": "evil", "crawler": "nyc"}
        session = box.ask("POST", "/v1/crawls/ipmicra/join", json=joined).json()["session"]
        urls = {f"http://{trap_host}:{trap.port}/{number}" for number in range(20)}
        links = [[key, url, trap_host, 1, 0, ""] for key, url in enumerate(urls, 1)]
        sent = {"version": 1, "session": session, "links": links, "room": 0, "is_leaving": True}
        assert box.ask("POST", "/v1/crawls/ipmicra/exchange", json=sent).ok
        token, folder = tmp_path / "operator.token", tmp_path / "node"
        token.write_text(box.token)
        where = ("--coordinator", box.url, "--coordinator-token", token)
        done = ran(*where, "crawl", "--crawler", "ath", "--folder", folder, "--json")
        assert done.returncode == 0, told(done)
        assert trap.connections == 0
        crawl = box.get("/v1/crawls/ipmicra").json()
        assert (crawl["state"], crawl["links"]) == ("ended", {"done": len(urls)})
    assert json.loads(done.stdout)["refused"] == len(urls)
    with (folder / "ath-0001-pages.csv").open(newline="", encoding="utf-8") as file:
        rows = {row["url"]: row["problem"] for row in csv.DictReader(file)}
    assert rows.keys() == urls
    assert all(why.startswith("refused: 127.0.0.3 is not public") for why in rows.values())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("example.org",), "needs --crawler"),
        (("example.org", "--crawler", "ath", "--max-pages", "5"), "work alone"),
        (("--crawler", "ath", "--due"), "exclude each other"),
    ],
)
def test_what_a_node_cannot_decide_alone_is_refused(
    tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    done = ran("--home", tmp_path, "--coordinator", "http://127.0.0.1:1", "crawl", *words)
    assert done.returncode == 2
    assert said in told(done)
