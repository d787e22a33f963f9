"""A small demonstration end to end: its figures against its own world, and what it leaves behind."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import re
import shlex
import signal
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from ipmicra.app.home import Home
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.store.store import Store
from ipmicra.model.assignment import Assignment
from ipmicra.model.delegation import Decision
from tests.cli.command_line import ROOT, ran, told
from tests.cli.json_schemas import check_output
from tests.patience import PATIENCE_S

CRAWLERS, SITES = 4, 30
SMALL = ("--crawlers", str(CRAWLERS), "--sites", str(SITES))


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@dataclass
class Played:
    """A demonstration that is over, read from its files."""

    folder: Path
    record: dict[str, Any]
    page: str

    def __post_init__(self) -> None:
        self.crawlers = [row["name"] for row in rows_of(self.folder / "world" / "crawlers.csv")]
        self.sites = rows_of(self.folder / "world" / "sites.csv")
        self.rtt_ms = {
            (row["crawler"], row["address"]): float(row["rtt_ms"])
            for row in rows_of(self.folder / "world" / "rtt.csv")
        }
        with Store.open(Home(folder=self.folder).store) as store:
            self.results: dict[str, Decision] = {one.host: one for one in store.results.all(1)}
            self.placed: dict[str, Assignment] = {one.host: one for one in store.assignments.all()}

    def standing(self, policy: str) -> dict[str, Any]:
        (row,) = [row for row in self.record["policies"] if row["policy"] == policy]
        return dict(row)

    def nearest_ms(self, site: dict[str, str]) -> float:
        return min(self.rtt_ms[crawler, site["address"]] for crawler in self.crawlers)

    def agrees(self, policy: str, crawlers: list[str]) -> None:
        """See that a row of the table is what these crawlers give, site by site.

        Ten pages over a connection: two round trips, ten pages of 10 kB at 1 Mb/s, 0.1 s of politeness.
        """
        row = self.standing(policy)
        pages = [int(site["pages"]) for site in self.sites]
        rtts_ms = [
            self.rtt_ms[name, site["address"]] for name, site in zip(crawlers, self.sites, strict=True)
        ]
        taken_s = [n / 10 * (2 * rtt / 1000 + 0.8 + 0.1) for n, rtt in zip(pages, rtts_ms, strict=True)]
        ends_s = dict.fromkeys(self.crawlers, 0.0)
        held = dict.fromkeys(self.crawlers, 0)
        for name, count, seconds in zip(crawlers, pages, taken_s, strict=True):
            ends_s[name] += seconds / 5
            held[name] += count
        nearest = [self.nearest_ms(site) for site in self.sites]
        optimal = sum(rtt <= best for rtt, best in zip(rtts_ms, nearest, strict=True)) / len(nearest)
        assert row["optimal"] == pytest.approx(optimal, abs=1e-4)
        assert row["mean_rtt_ms"] == pytest.approx(statistics.mean(rtts_ms), abs=1e-3)
        busy = sum(pages) / sum(taken_s) * 5 * len(self.crawlers) * 3600
        to_the_end = sum(pages) / max(ends_s.values()) * 3600
        assert row["pages_per_hour"] == pytest.approx(busy, rel=1e-6)
        assert row["pages_per_hour_to_the_end"] == pytest.approx(to_the_end, rel=1e-6)
        assert row["busiest"] == pytest.approx(max(held.values()) / (sum(pages) / CRAWLERS), abs=1e-4)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    folder = tmp_path_factory.mktemp("demo")
    done = ran("demo", *SMALL, "--home", folder / "home", "-o", folder / "demo.html", "--json")
    assert done.returncode == 0, told(done)
    record = json.loads(done.stdout)
    check_output("demo", record)
    return Played(folder / "home", record, (folder / "demo.html").read_text())


def test_every_site_of_the_list_has_a_crawler(played: Played) -> None:
    seeds = (played.folder / "seeds.txt").read_text().split()
    assert len(seeds) == len(played.results) == played.record["sites"] == SITES
    assert {site["host"] for site in played.sites} == set(played.results)
    assert len(played.crawlers) == CRAWLERS


def test_figures_of_the_delegation_are_those_of_the_world(played: Played) -> None:
    played.agrees("predict", [played.results[site["host"]].crawler for site in played.sites])
    spent = sum(one.probes for one in played.results.values())
    assert played.standing("predict")["probes_per_site"] == pytest.approx(spent / SITES, abs=1e-4)
    assert spent == played.record["probes"]


def test_the_list_is_partitioned_by_what_the_home_knows(played: Played, tmp_path: Path) -> None:
    """Fleet, hierarchy, delegations, places and round trips of real probes, without any option."""
    output = tmp_path / "parts.csv"
    done = ran("--home", played.folder, "partition", "--generate-links", "1", "-o", output, "--json")
    assert done.returncode == 0, told(done)
    methods = {row["method"] for row in json.loads(done.stdout)}
    assert {
        "isp-city",
        "delegated",
        "rtt-best",
        "metis-geo",
        "metis-multi",
        "metis-paper",
        "balance",
    } <= methods
    assert "left out" not in told(done)
    delegated = {row["host"]: row["crawler"] for row in rows_of(output) if row["method"] == "delegated"}
    assert delegated == {host: one.crawler for host, one in played.results.items()}


def test_sites_are_placed_under_capacity_with_known_pages(played: Played) -> None:
    assert {site["host"]: int(site["pages"]) for site in played.sites} == {
        host: one.pages for host, one in played.placed.items()
    }
    placed = [str(played.placed[site["host"]].crawler) for site in played.sites]
    played.agrees("predict + fair load", placed)
    ours, alone = (played.standing(name) for name in ("predict + fair load", "predict"))
    assert ours["busiest"] <= alone["busiest"]
    assert ours["probes_per_site"] == alone["probes_per_site"]
    assert "predict + fair load" in played.page


def test_figures_of_the_others_are_those_of_the_world(played: Played) -> None:
    nearest = [
        min(played.crawlers, key=lambda name: played.rtt_ms[name, site["address"]]) for site in played.sites
    ]
    played.agrees("everyone", nearest)
    assert played.standing("everyone")["probes_per_site"] == CRAWLERS
    picked = []
    for site in played.sites:
        number = int.from_bytes(hashlib.sha256(site["host"].encode()).digest()[:8], "big")
        picked.append(played.crawlers[number % CRAWLERS])
    played.agrees("site hash", picked)
    ours, by_hash = (played.standing(name)["pages_per_hour_to_the_end"] for name in ("predict", "site hash"))
    assert played.standing("predict")["against_hash"] == pytest.approx(ours / by_hash, abs=1e-4)


def test_sites_were_downloaded_whole_once_and_by_their_owners(played: Played) -> None:
    ours, alone, hashed = played.record["crawls"]
    assert [one["policy"] for one in (ours, alone, hashed)] == ["predict + fair load", "predict", "site hash"]
    web = json.loads((played.folder / "world" / "web.json").read_text())
    for one in (ours, alone, hashed):
        assert one["pages"] == sum(web["pages"].values())
        assert one["duplicates"] == one["robots_violations"] == one["foreign_requests"] == 0
        assert one["most_connections"] <= 5
        assert one["foreign_links"] > 0
        assert 0 < one["pages_per_s"] < 1.1 * one["model_pages_per_s"], "no crawl beats its round trips"


def test_model_of_the_crawl_is_the_download_equation(played: Played) -> None:
    """A page: two round trips, 80 ms on the line, 100 ms of wait; a robots.txt: the same without the page."""
    pages = json.loads((played.folder / "world" / "web.json").read_text())["pages"]
    ends_s = dict.fromkeys(played.crawlers, 0.0)
    for site in played.sites:
        name = str(played.placed[site["host"]].crawler)
        trips_s = 2 * played.rtt_ms[name, site["address"]] / 1000
        ends_s[name] += (pages[site["host"]] * (trips_s + 0.18) + trips_s + 0.1 + 100 * 8 / 1e6) / 5
    expected = sum(pages.values()) / max(ends_s.values())
    assert played.record["crawls"][0]["model_pages_per_s"] == pytest.approx(expected, rel=1e-3)


def test_probes_measured_what_the_world_is_like(played: Played) -> None:
    with Store.open(Home(folder=played.folder).store) as store:
        samples = [
            one for site in played.sites for one in store.samples.latest(ip_address(site["address"])).values()
        ]
    pairs = [
        (one.rtt_ms, played.rtt_ms[one.crawler, str(one.address)])
        for one in samples
        if one.rtt_ms is not None
    ]
    assert len(pairs) > 5
    assert min(taken - true for taken, true in pairs) > -1.0, "nobody answers sooner than the round trip"
    assert statistics.correlation(*zip(*pairs, strict=True)) > 0.8, "who is farther answers later"


def test_sites_lie_in_registered_subnets_of_several_continents(played: Played) -> None:
    with Hierarchy.open(played.folder / "hierarchy.ipm") as hierarchy:
        found = [hierarchy.lookup(site["address"]) for site in played.sites]
    assert all(subnet.depth >= 2 for subnet in found)
    assert len({subnet.registry for subnet in found}) >= 4
    assert len({site["country"] for site in played.sites}) >= 8


def test_report_shows_the_sites_and_crawlers(played: Played) -> None:
    assert all(name in played.page for name in played.crawlers)
    assert played.sites[0]["host"] in played.page


# --- processes


def processes_of(folder: Path) -> list[str]:
    """Return the command lines of processes that name a folder."""
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(path.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    return [line for line in lines if f"{folder}/world" in line]


def waited_for(folder: Path) -> list[str]:
    """Wait until no process names a folder; return those that are left."""
    deadline = time.monotonic() + PATIENCE_S
    while (left := processes_of(folder)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return left


class KeptDemo:
    """A demonstration that was started with `--keep`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "home"
        words = [
            "demo",
            *SMALL,
            "--no-crawl",
            "--keep",
            "--home",
            self.folder,
            "-o",
            folder / "demo.html",
            "--json",
        ]
        self.child = subprocess.Popen(
            [sys.executable, "-m", "ipmicra", *map(str, words)],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.commands: list[list[str]] = []
        assert self.child.stderr is not None
        for line in self.child.stderr:
            if re.match(r"  \S", line):
                self.commands.append(shlex.split(line))
            if "until Ctrl-C" in line:
                return
        raise AssertionError(f"it did not stay: {self.child.wait()}")

    def compares_zones(self, rows: list[dict[str, Any]]) -> None:
        """See that zones are about as near as the delegations by the same samples."""
        world = self.folder / "world"
        rtt_ms = {
            (row["crawler"], row["address"]): float(row["rtt_ms"]) for row in rows_of(world / "rtt.csv")
        }
        with Store.open(Home(folder=self.folder).store) as store:
            given = {one.host: one.crawler for one in store.results.all(1)}
        zoned = statistics.mean(rtt_ms[row["crawler"], row["address"]] for row in rows)
        delegated = statistics.mean(rtt_ms[given[row["host"]], row["address"]] for row in rows)
        assert zoned <= 1.1 * delegated

    def stop(self, number: signal.Signals) -> tuple[int, str]:
        os.kill(self.child.pid, number)
        _, said = self.child.communicate(timeout=PATIENCE_S)
        return self.child.returncode, said


def test_kept_demonstration_can_be_played_with_and_stops_cleanly(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    kept = KeptDemo(tmp_path)
    request.addfinalizer(kept.child.kill)
    assert len(processes_of(kept.folder)) == 1
    assert {"explain", "lookup", "probe", "delegate", "assign", "evaluate"} <= {
        w for one in kept.commands for w in one
    }
    for words in kept.commands:
        done = subprocess.run(words, capture_output=True, check=False, timeout=PATIENCE_S)
        assert done.returncode == 0, (words, told(done))
        assert done.stdout
        if "probe" in words:
            assert len(json.loads(done.stdout)) == CRAWLERS
        if "can" in words:
            kept.compares_zones(json.loads(done.stdout))
    code, said = kept.stop(signal.SIGINT)
    assert code == 0
    assert "Traceback" not in said
    assert not waited_for(kept.folder)


def test_killed_demonstration_leaves_no_process(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    kept = KeptDemo(tmp_path)
    request.addfinalizer(kept.child.kill)
    assert processes_of(kept.folder)
    kept.stop(signal.SIGKILL)
    assert not waited_for(kept.folder)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_demonstration_cleans_up(tmp_path: Path, number: signal.Signals) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    child = subprocess.Popen(
        [sys.executable, "-m", "ipmicra", "demo", "-o", str(tmp_path / "demo.html")],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stderr is not None
    for line in child.stderr:
        if line.startswith("3. "):
            break
    time.sleep(0.7)  # into the midst of the probing
    (folder,) = temporary.iterdir()
    child.send_signal(number)
    said = child.stderr.read()
    assert child.wait(PATIENCE_S) == 130
    child.stderr.close()
    assert "nothing is left running" in said
    assert "Traceback" not in said
    assert not waited_for(folder)
    assert not list(temporary.iterdir())
    assert not (tmp_path / "demo.html").exists()
